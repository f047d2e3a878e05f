"""Traces and results with flipped bits, and cut short, as the program meets them: refused by name, or the same digest. All
random places come from ATOLL_SEED; tests/unit has 200 of each for the readers alone."""

import os
import random

import program
from program import SMALL, sets, workload
from sass_trace import kernel

SEED = int(os.environ.get("ATOLL_SEED", "1"))


class DamagedFiles(program.ProgramTest):
    flips, cuts = 30, 5

    def damaged(self, sound, name):
        """Damaged copies of a file, one after the other under the same name."""
        rng = random.Random(SEED)
        print(f"seed {SEED}", flush=True)
        with open(sound, "rb") as file:
            whole = file.read()
        for k in range(self.flips + self.cuts):
            at = rng.randrange(len(whole))
            if k < self.flips:
                bit = rng.randrange(8)
                content, what = whole[:at] + bytes([whole[at] ^ 1 << bit]) + whole[at + 1:], f"bit {bit} of byte {at}"
            else:
                content, what = whole[:at], f"cut at byte {at}"
            with open(self.path(name), "wb") as file:
                file.write(content)
            with self.subTest(what):
                yield self.path(name)

    def refused_by_name(self, outcome, name):
        self.assertEqual(outcome.code, 2, outcome)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll:")]
        self.assertEqual(len(said), 1, outcome)
        self.assertIn(name, said[0], outcome)

    def test_a_damaged_trace_is_refused_by_name_or_gives_the_same_digest(self):
        self.write("kernel-1.traceg", kernel(ctas=24, loads=40))
        self.write("kernel-2.traceg", kernel("k2", ctas=12, warps=2))
        accel_sim = self.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n")
        sound = self.path("sound.h5")
        self.succeeds(["import", "accel-sim", accel_sim, "-o", sound])
        arguments = ["run", "sac-4chip", *sets(*SMALL), "-w"]
        wanted = self.succeeds([*arguments, sound]).digest()
        found = 0
        for k, path in enumerate(self.damaged(sound, "trace.h5")):
            outcome = program.run([*arguments, path], ranks=3 if k % 12 == 0 else None)
            if outcome.code == 0:
                self.assertEqual(outcome.digest(), wanted, outcome)
            else:
                self.refused_by_name(outcome, "trace.h5")
                found += 1
        self.assertGreater(found, self.cuts)

    def test_a_damaged_result_is_refused_by_name_by_all_who_read_one(self):
        sound = self.path("sound.h5")
        self.succeeds(["run", "sac-4chip", "-w", workload("hot"), "-q", "-o", sound, *sets(*SMALL)])
        for path in self.damaged(sound, "result.h5"):
            self.refused_by_name(program.run(["info", path]), "result.h5")
            self.refused_by_name(program.run(["compare", sound, path]), "result.h5")

    def test_a_result_without_its_checksum_is_read_by_force_only_and_within_bounds(self):
        sound, path = self.path("sound.h5"), self.path("result.h5")
        self.succeeds(["run", "sac-4chip", "-w", workload("hot"), "-q", "-o", sound, *sets(*SMALL)])
        with open(sound, "rb") as file:
            image = file.read()[:-16]
        rng = random.Random(SEED)
        for k in range(12):
            at = rng.randrange(200, len(image))
            with open(path, "wb") as file:
                file.write(image if k == 0 else image[:at] + bytes([image[at] ^ 1 << rng.randrange(8)]) + image[at + 1:])
            for command in (["info"], ["explain"], ["compare", sound], ["export", "--csv", self.path("csv"), "--force"]):
                self.refused_by_name(program.run([*command, path]), "result.h5")
            forced = program.run(["info", "--force-damaged", path], timeout=90)
            self.assertIn(forced.code, (0,) if k == 0 else (0, 2), forced)
            warning = f"atoll: warning: {path}: its checksum is missing or does not fit: nothing that is said of it need be true\n"
            self.assertIn(warning, forced.err)
            if forced.code != 0:
                forced.err = forced.err.replace(warning, "")
                self.refused_by_name(forced, "result.h5")
        self.assertEqual(self.succeeds(["info", "--force-damaged", sound]).err, "")


if __name__ == "__main__":
    program.main()
