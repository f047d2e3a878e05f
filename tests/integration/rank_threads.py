"""Ranks of mpirun with several threads each: the result of one rank, checkpoints, moves of chips, and errors."""

import glob
import json
import os
import shutil

import program
from program import SMALL, sets, workload

SHIPPED = os.path.join(program.SOURCE, "inputs", "workloads")


class RankThreads(program.ProgramTest):
    def arguments(self, chips, *more):
        return ["run", "sac-4chip", "-w", workload("stores"), *sets(*SMALL, f"chips={chips}"), *more]

    def provenance(self, path):
        return json.loads(self.succeeds(["info", "--json", path]).out)["provenance"]

    def test_the_digest_is_that_of_one_rank(self):
        for chips, layouts in ((4, ((2, 2), (1, 3))), (6, ((2, 2), (3, 2), (2, 3)))):
            wanted = self.succeeds(self.arguments(chips)).digest()
            for ranks, threads in layouts:
                with self.subTest(chips=chips, ranks=ranks, threads=threads):
                    out = self.path("out.h5")
                    got = self.succeeds(self.arguments(chips, "--threads", str(threads), "-o", out, "-f"), ranks)
                    self.assertEqual(got.digest(), wanted)
                    self.assertIn(f"on {ranks * threads} ranks", got.out)
                    provenance = self.provenance(out)
                    self.assertEqual(len(provenance["hosts"]), ranks * threads)
                    self.assertEqual(len(provenance["wait_shares"]), ranks * threads)

    def test_a_map_numbers_the_threads_rank_by_rank(self):
        wanted = self.succeeds(self.arguments(4)).digest()
        for places in ("3,2,1,0,0", "0,2,1,3,1"):
            self.assertEqual(self.succeeds(self.arguments(4, "--threads", "2", "--map", places), 2).digest(), wanted)

    def test_checkpoints_are_gone_on_from_by_any_layout(self):
        wanted = self.succeeds(self.arguments(4)).digest()
        out = self.path("out.h5")
        whole = self.succeeds(self.arguments(4, "--threads", "2", "-o", out, "--checkpoint-every", "1500"), 2)
        self.assertEqual(whole.digest(), wanted)
        left = glob.glob(out + ".*.ckpt")
        self.assertTrue(left)
        for ranks, threads in ((None, 1), (None, 3), (3, 1), (2, 2)):
            again = ["resume", left[0], "-o", self.path("again.h5"), "-f", "--threads", str(threads)]
            self.assertEqual(self.succeeds(again, ranks).digest(), wanted, (ranks, threads))

    def test_chips_move_between_the_threads_of_a_rank(self):
        uneven = ["run", "sac-4chip", "-w", os.path.join(SHIPPED, "sac", "AN.json"), "--scale", "8", "--max-cycles",
                  "60000", *sets("partition.placement=fixed", "chips=8")]
        wanted = self.succeeds(uneven).digest()
        out = self.path("out.h5")
        self.assertEqual(self.succeeds([*uneven, "--threads", "2", "-o", out], 2).digest(), wanted)
        self.assertGreater(self.provenance(out)["moves"], 0)

    def test_more_threads_than_chips_and_controller_are_refused(self):
        self.refused(self.arguments(4, "--threads", "3"), 2, "--threads 3", "6 in all", "5 at most", layouts=(2,))
        one_chip = ["run", "selrep-gpu", "-w", os.path.join(SHIPPED, "traces", "jacobi2d.h5"), "--threads", "2"]
        self.refused(one_chip, 2, "--threads 2", "4 in all", "2 at most", layouts=(2,))

    def test_one_chip_on_one_rank_is_shared_by_its_threads(self):
        one_chip = ["run", "selrep-gpu", "-w", os.path.join(SHIPPED, "traces", "jacobi2d.h5")]
        wanted = self.succeeds(one_chip).digest()
        shared = self.succeeds([*one_chip, "--threads", "2"], 1)
        self.assertEqual(shared.digest(), wanted)
        self.assertIn("on 1 rank;", shared.out)

    def test_a_trace_that_breaks_off_ends_all_threads_of_all_ranks_with_one_message(self):
        broken = self.path("broken.h5")
        shutil.copy(os.path.join(SHIPPED, "traces", "jacobi2d.h5"), broken)
        with open(broken, "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(size // 2)
            file.write(b"\xff" * 64)
        self.refused(["run", "sac-4chip", "-w", broken, "--threads", "2"], 2, "broken.h5", layouts=(2,))
        self.refused(["run", "sac-4chip", "-w", self.path("none.json"), "--threads", "2"], 2, "none.json", layouts=(2,))


if __name__ == "__main__":
    program.main()
