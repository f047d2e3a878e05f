"""One chip on two threads: the same result, checkpoints that either goes on from, and errors as with one."""

import glob
import os
import shutil

import program

TRACES = os.path.join(program.SOURCE, "inputs", "workloads", "traces")


SHORT_CTAS = """{"seed": 1, "kernels": [{
  "name": "short", "ctas": 15000, "warps_per_cta": 1, "memory_instructions": 3, "compute_instructions": 1,
  "regions": [{"name": "P", "kind": "private", "size_kib": 8192, "weight": 1, "pattern": "stream"}]}]}"""


class ChipThreads(program.ProgramTest):
    def arguments(self, threads, *more, system="selrep-gpu", trace="jacobi2d.h5"):
        return ["run", system, "-w", os.path.join(TRACES, trace), "--threads", str(threads), *more]

    def test_the_digest_is_that_of_one_thread(self):
        for system, trace in (("selrep-gpu", "jacobi2d.h5"), ("rtx3070", "bfs.h5"), ("colab-gpu", "histogram.h5")):
            with self.subTest(system=system, trace=trace):
                one, two, five = (self.succeeds(self.arguments(n, system=system, trace=trace)).digest() for n in (1, 2, 5))
                self.assertEqual((two, five), (one, one))

    def test_a_map_gives_threads_to_processes_instead(self):
        one = self.succeeds(self.arguments(1))
        two = self.succeeds(self.arguments(2, "--map", "0,1"))
        self.assertEqual(one.digest(), two.digest())
        self.assertIn("on 2 ranks", two.out)

    def test_a_checkpoint_of_either_is_gone_on_from_by_the_other(self):
        """Also while CTAs are placed in nearly every cycle."""
        self.check_checkpoints("jacobi2d.h5", "4000")
        self.check_checkpoints(self.write("short.json", SHORT_CTAS), "6000")

    def check_checkpoints(self, trace, every, *more):
        wanted = self.succeeds(self.arguments(1, *more, trace=trace)).digest()
        for threads in (1, 2):
            out, again = self.path(f"of{threads}{every}.h5"), self.path("again.h5")
            arguments = self.arguments(threads, "-o", out, "--checkpoint-every", every, *more, trace=trace)
            self.assertEqual(self.succeeds(arguments).digest(), wanted)
            left = glob.glob(out + ".*.ckpt")
            self.assertTrue(left)
            for path in left:
                for then in (1, 2):
                    resumed = self.succeeds(["resume", path, "-o", again, "-f", "--threads", str(then)])
                    self.assertEqual(resumed.digest(), wanted, (threads, path, then))

    def test_what_is_followed_event_by_event_takes_one_thread(self):
        self.refused(self.arguments(2, "--check"), 2, "--check", "--threads", layouts=(None,))

    def test_a_trace_that_breaks_off_ends_both_threads_with_its_name(self):
        broken = self.path("broken.h5")
        shutil.copy(os.path.join(TRACES, "jacobi2d.h5"), broken)
        with open(broken, "r+b") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(size // 2)
            file.write(b"\xff" * 64)
        for threads in (1, 2):
            self.refused(["run", "selrep-gpu", "-w", broken, "--threads", str(threads)], 2, "broken.h5", layouts=(None,))


if __name__ == "__main__":
    program.main()
