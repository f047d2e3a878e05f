"""A profile of SelRep's does what it was derived to do: half of a launch of SqueezeNet's, under Shared, within a quarter of the
published values, as check_profiles.py shows of the whole ones."""

import json
import pathlib
import sys
import tempfile
import unittest
from typing import Any

import program

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import make_profiles

NAME = "sn"


class Targets(unittest.TestCase):
    shared: dict[str, float]
    shared_mb: float

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            workload, out = pathlib.Path(folder) / "workload.json", pathlib.Path(folder) / "out.h5"
            whole: dict[str, Any] = make_profiles.profile(NAME, most_requests=make_profiles.MOST_REQUESTS / 2)
            whole["kernels"][0]["repeat"] = 1
            workload.write_text(json.dumps(whole))
            ran = program.run(["run", "selrep-gpu", "-w", workload, "--set", "observe.sm_sharing=true", "-o", out], timeout=250)
            assert ran.code == 0, ran
            cls.shared = json.loads(program.run(["info", "--json", out]).out)["sm_sharing"]
        cls.shared_mb = cls.shared["shared_lines"] / make_profiles.LINES_PER_MB

    def within(self, found, wanted, part):
        self.assertLessEqual(abs(found - wanted), part * wanted, f"{found:.3f} instead of {wanted:.3f}")

    def share(self, part, whole):
        return self.shared[part] / self.shared[whole]

    def test_the_shared_set_is_that_of_table_2_within_a_hundredth(self):
        self.within(self.shared_mb, make_profiles.SHARED_MB[NAME][0], 0.01)

    def test_the_kernel_only_reads_what_its_sms_share_claim_64(self):
        self.assertGreaterEqual(self.share("shared_read_only_lines", "shared_lines"), make_profiles.READ_ONLY)

    def test_the_llc_serves_the_published_share_of_the_loads_of_shared_lines_within_a_quarter_claim_65(self):
        by_l1 = self.share("shared_l1_hits", "shared_loads") + self.share("shared_l1_merges", "shared_loads")
        self.within(1 - by_l1, make_profiles.LLC_SHARE[NAME], 0.25)

    def test_more_than_2_sms_ask_for_the_published_share_of_the_lines_within_a_quarter_claim_66(self):
        self.within(self.share("window_lines_3", "window_lines"), make_profiles.BY_3, 0.25)

    def test_more_than_9_sms_ask_for_the_published_share_of_the_lines_within_a_quarter_claim_67(self):
        self.within(self.share("window_lines_10", "window_lines"), make_profiles.BY_10, 0.25)


if __name__ == "__main__":
    unittest.main()
