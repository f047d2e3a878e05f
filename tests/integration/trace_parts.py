"""Parts of traces, and traces that are not whole: at import, at run, in results and in `atoll info`."""

import json
import os
import subprocess
import tempfile
import unittest

from program import ATOLL, SMALL, sets
from sass_trace import kernel


class TraceParts(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        for number, name in enumerate(("conv_a", "gemm", "conv_b"), start=1):
            self.write(f"kernel-{number}.traceg", kernel(name, ctas=4 * number))
        self.list = self.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n")

    def path(self, name):
        return os.path.join(self.scratch.name, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def atoll(self, *arguments, code=0):
        done = subprocess.run([ATOLL, *arguments], check=False, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def run_part(self, source, *part, ranks=()):
        out = self.path("out.h5")
        done = self.atoll("run", "sac-4chip", "-w", source, "-o", out, "-f", *sets(*SMALL), *part, *ranks)
        return done, json.loads(self.atoll("info", "--json", out).stdout)

    def test_a_part_is_named_in_summary_and_result_and_is_the_same_at_import_and_on_threads(self):
        part = ["--kernels", "name=conv*", "--ctas", "1,3-5"]
        text = "kernels name=conv*: 2 of 3; CTAs 1,3-5 of each kernel"
        done, result = self.run_part(self.list, *part)
        self.assertIn(f"  selection    {text}\n", done.stdout)
        self.assertEqual(result["provenance"]["selection"], text)
        self.assertEqual([k["name"] for k in result["kernels"]], ["conv_a", "conv_b"])
        self.assertEqual([k["ctas"] for k in result["kernels"]], [2, 4])
        self.assertEqual(self.run_part(self.list, *part, ranks=["--threads", "3"])[1]["digest"], result["digest"])
        trace = self.path("part.h5")
        self.assertEqual(self.atoll("import", "accel-sim", self.list, "-o", trace, *part).stdout, f"selection  {text}\n")
        _, imported = self.run_part(trace)
        self.assertEqual(imported["digest"], result["digest"])
        self.assertEqual(imported["provenance"]["selection"], text)
        self.assertIn(f"  selection    {text}\n", self.atoll("info", trace).stdout)
        _, whole = self.run_part(self.list)
        self.assertEqual(whole["provenance"]["selection"], "")
        self.assertNotEqual(whole["provenance"]["workload_digest"], result["provenance"]["workload_digest"])

    def test_a_resumed_run_goes_on_with_its_part(self):
        whole, out = self.path("whole.h5"), self.path("part.h5")
        run = ["run", "sac-4chip", "-w", self.list, *sets(*SMALL), "--kernels", "1", "-q"]
        self.atoll(*run, "-o", whole)
        self.atoll(*run, "-o", out, "--checkpoint-every", "500")
        left = sorted(name for name in os.listdir(self.scratch.name) if name.endswith(".ckpt"))
        if not left:
            self.skipTest("the run left no checkpoint")
        self.atoll("resume", self.path(left[0]), "-o", out, "-f", "-q")
        digest = [json.loads(self.atoll("info", "--json", name).stdout)["digest"] for name in (whole, out)]
        self.assertEqual(digest[0], digest[1])

    def test_nothing_chosen_and_bad_lists_are_refused(self):
        for part, said in ((["--kernels", "3"], "--kernels: `3` chooses none of the workload's 3 kernels"),
                           (["--kernels", "0,7-9"], "--kernels: `7-9` chooses none"),
                           (["--ctas", "0,99"], "--ctas: no kernel has a CTA 99"), (["--kernels", "a"], "--kernels: expected a number")):
            for command in (["run", "sac-4chip", "-w", self.list], ["import", "accel-sim", self.list, "-o", self.path("x.h5")]):
                self.assertIn(said, self.atoll(*command, *part, code=2).stderr)
        self.assertFalse(os.path.exists(self.path("x.h5")))

    def test_a_trace_without_some_warps_is_warned_of_everywhere_and_refused_if_strict(self):
        text = kernel("cut", ctas=2, warps=2, loads=1).replace("warp = 1\n", "warp = 0\n", 1)
        lines = text.split("\n")
        at = lines.index("warp = 0")
        del lines[at:at + 4]  # the first block is left with its second warp, as its first
        file = self.write("kernel-2.traceg", "\n".join(lines))
        what = "1 warp of 1 CTA is missing: the blocks' dimensions promise them"
        done, result = self.run_part(self.list)
        self.assertIn(f"atoll: warning: kernel 1 (cut): {what}\n", done.stderr)
        self.assertIn(f"  incomplete   kernel 1 (cut): {what}\n", done.stdout)
        self.assertEqual(result["provenance"]["incomplete"], f"kernel 1 (cut): {what}")
        self.assertEqual(self.run_part(self.list, "--kernels", "0,2", "--strict")[1]["provenance"]["incomplete"], "")
        self.assertIn(what, self.atoll("run", "sac-4chip", "-w", self.list, "--strict", code=2).stderr)
        trace = self.path("t.h5")
        self.assertIn(f"{file}: {what}", self.atoll("import", "accel-sim", self.list, "-o", trace, "--strict", code=2).stderr)
        self.assertFalse(os.path.exists(trace))
        self.assertEqual(self.atoll("import", "accel-sim", self.list, "-o", trace).stderr, f"atoll: warning: {file}: {what}\n")
        self.assertIn(what, self.run_part(trace)[0].stderr)
        for source in (self.list, trace):
            self.assertIn(f"incomplete: {what}", self.atoll("info", source).stdout)
        experiment = self.write("e.json", json.dumps({
            "system": "sac-4chip", "workloads": [{"name": "w", "path": trace}], "variants": [{"name": "v", "set": {
                key: int(value) for key, value in (setting.split("=") for setting in SMALL)}}]}))
        self.atoll("sweep", experiment, "--out", self.path("s"))
        self.assertEqual(self.atoll("table", self.path("s")).stderr,
                         f"atoll: warning: w is not whole: kernel 1 (cut): {what}\n")

    def test_an_import_replaces_nothing_that_it_reads(self):
        for name in ("kernelslist.g", "kernel-2.traceg"):
            with open(self.path(name), "rb") as file:
                before = file.read()
            self.assertIn(f"{name}: is what is read here, and would be lost",
                          self.atoll("import", "accel-sim", self.list, "-o", self.path(name), "-f", code=2).stderr)
            with open(self.path(name), "rb") as file:
                self.assertEqual(file.read(), before)

    def test_info_of_a_list_has_kernels_grids_instructions_and_footprint(self):
        text = self.atoll("info", self.list).stdout
        self.assertIn("  kernels      3, 24 CTAs\n", text)
        self.assertIn("  instructions 168 of warps\n", text)  # 24 CTAs of one warp: 6 loads and an exit
        self.assertIn("  footprint    9.22 kB in lines of 128 bytes\n", text)  # all kernels load the same: 12 x 6 lines
        read = json.loads(self.atoll("info", "--json", self.list).stdout)
        self.assertEqual(read["touched_bytes"], 12 * 6 * 128)
        self.assertEqual([k["instructions"] for k in read["kernels"]], [28, 56, 84])
        self.assertEqual([k["grid"] for k in read["kernels"]], [[4, 1, 1], [8, 1, 1], [12, 1, 1]])


if __name__ == "__main__":
    unittest.main()
