"""A profile of SAC's does what it was derived to do: AN at a quarter of its size, memory-side. The bounds are what a quarter costs
(the launch that places pages, first touches of windows) and no more: check_profiles.py has the whole ones."""

import json
import pathlib
import sys
import tempfile
import unittest
from typing import Any

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_profiles

SCALE, NAME = 4, "AN"
MB = 1 << 20


class Targets(unittest.TestCase):
    result: dict[str, Any]
    total: dict[str, float]
    published = make_profiles.PUBLISHED[NAME]

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "out.h5"
            workload = make_profiles.TARGET_DIR / f"{NAME}.json"
            ran = program.run(["run", "sac-4chip", "-w", workload, "--scale", SCALE, "--set", "observe.sharing=true", "-o", out],
                              timeout=200)
            assert ran.code == 0, ran
            cls.result = json.loads(program.run(["info", "--json", out]).out)
        cls.total = cls.result["totals"]

    def near(self, found, wanted, most):
        self.assertLessEqual(abs(found - wanted), most, f"{found:.3f} instead of {wanted:.3f}")

    def test_the_footprint_is_the_published_one_within_6_percent(self):
        touched = self.result["sharing"]["footprint"]
        whole = sum(touched[kind] for kind in ("true_shared", "false_shared", "not_shared"))
        self.near(whole / MB, self.published.footprint / SCALE, 0.06 * self.published.footprint / SCALE)

    def test_what_is_shared_truly_and_falsely_is_the_published_part_within_8_percent(self):
        touched = self.result["sharing"]["footprint"]
        self.near(touched["true_shared"] / MB, self.published.true / SCALE, 0.08 * self.published.true / SCALE)
        self.near(touched["false_shared"] / MB, self.published.false / SCALE, 0.08 * self.published.false / SCALE)

    def test_requests_to_the_own_chips_memory_are_the_published_share_within_0_04(self):
        local, remote = self.total["requests.local"], self.total["requests.remote"]
        self.near(local / (local + remote), self.published.local, 0.04)

    def test_the_memory_side_llc_hits_as_often_as_published_within_0_05(self):
        self.near((self.total["llc.hits"] + self.total["llc.merges"]) / self.total["llc.accesses"], self.published.hit, 0.05)


if __name__ == "__main__":
    unittest.main()
