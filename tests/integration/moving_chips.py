"""Chips move between the threads of a process where work is uneven: the result stays, and says so."""

import glob
import json
import os

import program

# One chip is the home of everything, and has more than half of the work.
UNEVEN = ["run", "sac-4chip", "-w", os.path.join(program.SOURCE, "inputs", "workloads", "sac", "AN.json"), "--scale", "8",
          "--max-cycles", "60000", *program.sets("partition.placement=fixed")]


class MovingChips(program.ProgramTest):
    def provenance(self, *more):
        self.succeeds([*UNEVEN, "-o", self.path("out.h5"), "-f", *more])
        info = self.info(self.path("out.h5"))
        return info["digest"], info["provenance"]

    def info(self, path):
        return json.loads(self.succeeds(["info", "--json", path]).out)

    def test_the_result_is_that_of_one_thread_and_says_how_many_moved(self):
        wanted, alone = self.provenance()
        self.assertEqual(alone["moves"], 0)
        for threads in (2, 3):
            digest, provenance = self.provenance("--threads", str(threads))
            self.assertEqual(digest, wanted)
            self.assertGreater(provenance["moves"], 0)
            self.assertEqual(provenance["process_events"], alone["process_events"])
            self.assertEqual(len(provenance["wait_shares"]), threads)
        self.assertIn("move", self.succeeds([*UNEVEN, "--threads", "2"]).out)

    def test_where_the_user_says_where_chips_are_they_stay(self):
        wanted, _ = self.provenance()
        digest, provenance = self.provenance("--threads", "2", "--map", "0,0,1,1,1")
        self.assertEqual((digest, provenance["moves"]), (wanted, 0))

    def test_a_checkpoint_left_after_a_move_is_gone_on_from_by_any_number_of_threads_and_ranks(self):
        wanted, _ = self.provenance()
        out = self.path("two.h5")
        whole = self.succeeds([*UNEVEN, "--threads", "2", "-o", out, "--checkpoint-every", "20000"])
        self.assertEqual(whole.digest(), wanted)
        newest = max(glob.glob(out + ".*.ckpt"), key=lambda path: int(path.split(".")[-2]))
        for threads, ranks in ((1, None), (2, None), (3, None), (1, 2)):
            with self.subTest(threads=threads, ranks=ranks):
                again = ["resume", newest, "-o", self.path("again.h5"), "-f", "--threads", str(threads)]
                self.assertEqual(self.succeeds(again, ranks).digest(), wanted)


if __name__ == "__main__":
    program.main()
