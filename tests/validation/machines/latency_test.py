"""That each preset has the latencies its parameters were derived from, to the cycle, and one result on any number of ranks."""

import json
import os
import sys
import unittest

import program
from program import sets

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import micro

NEAR, FAR = (["partition.placement=fixed", f"partition.fixed_chip={chip}"] for chip in (1, 0))


class Latencies(program.ProgramTest):
    def chase(self, system, kib, overrides=(), chips=2):
        """Cycles of a load in a chain through `kib`, exactly."""
        work = self.write("chase.json", json.dumps(micro.workload("", micro.chase(kib, chips))))
        self.succeeds(["run", system, "-w", work, *sets(*overrides), "-q", "-f", "-o", self.path("out.h5")])
        kernels = {k["name"]: k["cycles"] for k in json.loads(self.succeeds(["info", "--json", self.path("out.h5")]).out)["kernels"]}
        return (kernels[f"long chase {kib} KiB"] - kernels[f"short chase {kib} KiB"]) / (2 * kib * 8)

    def test_a_load_takes_the_cycles_that_were_measured_in_l1_and_l2(self):
        for system, l1, l2 in (("a100", 36, 211), ("h100-sxm", 34, 265), ("h200", 34, 265)):
            self.assertEqual((self.chase(system, 64), self.chase(system, 1024)), (l1, l2), system)
        self.assertEqual(self.chase("mi250x", 8, ["chips=1"]), 125)
        self.assertEqual(self.chase("mi250x", 1024, ["chips=1"]), 241)  # a line of 128 B: a cycle more in a port

    def test_mi300x_has_four_levels_and_three_distances(self):
        at = lambda chip: ["partition.placement=fixed", f"partition.fixed_chip={chip}"]
        self.assertEqual(self.chase("mi300x", 16), 125)
        self.assertEqual(self.chase("mi300x", 1024, chips=8), 241)
        near = self.chase("mi300x", 256, [*at(8), "l2.slices=0"], chips=8)  # of the Infinity Cache, without the L2 before it
        far = [self.chase("mi300x", 256, [*at(chip), "l2.slices=0"], chips=8) for chip in (9, 10, 11)]
        self.assertEqual([cycles - near for cycles in far], [220, 220, 440])

    def test_far_is_the_link_there_and_back_more_than_near_where_slices_keep_only_their_own_lines(self):
        memory_side = ["llc.organisation=memory_side"]
        for system, near, more in (("b200", 295, 2 * 37 + 84), ("mi250x", 241, 2 * 250 + 65)):
            # More than the link: the far die's two crossbars, and ports.
            self.assertEqual(self.chase(system, 1024, NEAR + memory_side), near, system)
            self.assertEqual(self.chase(system, 1024, FAR + memory_side), near + more, system)

    def test_two_dies_have_one_result_on_one_rank_two_and_three(self):
        work = self.write("read.json", json.dumps(micro.workload("", micro.repeat_read(512, 148))))
        arguments = ["run", "b200", "-w", work]
        digests = {self.succeeds([*arguments, "-o", self.path(f"{ranks}.h5")], ranks=ranks).digest() for ranks in (None, 2, 3)}
        self.assertEqual(len(digests), 1)


if __name__ == "__main__":
    unittest.main()
