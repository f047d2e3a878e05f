"""What `cmake --install` leaves works without the tree that it came from: inputs by name, policies, the recorder's runtime."""

import os
import shutil
import subprocess

import program

BUILD = os.path.dirname(program.ATOLL)


class Installation(program.ProgramTest):
    def setUp(self):
        super().setUp()
        self.prefix = self.path("prefix")
        done = subprocess.run(["cmake", "--install", BUILD, "--prefix", self.prefix], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.atoll = os.path.join(self.prefix, "bin", "atoll")

    def installed(self, *words):
        outcome = program.run(list(words), program=self.atoll, cwd=self.folder)
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def test_workloads_and_experiments_are_found_by_name_in_the_prefix(self):
        text = self.installed("list").out
        for name in ("squeezenet", "mixed", "BFS", "quick", "sac_sensitivity"):
            self.assertRegex(text, rf"(?m)^  (.* )?{name}( |$)")
        self.assertIn(os.path.join(self.prefix, "share/atoll/workloads/traces/squeezenet.h5"), self.installed("info", "squeezenet").out)
        here = self.succeeds(["run", "sac-4chip", "-w", "squeezenet", *program.sets(*program.SMALL)]).digest()
        self.assertEqual(self.installed("run", "sac-4chip", "-w", "squeezenet", *program.sets(*program.SMALL)).digest(), here)
        out = self.path("quick")
        self.installed("sweep", "quick", "--only", "conv2d__*", "--out", out)
        self.assertEqual(len([name for name in os.listdir(out) if name.endswith(".h5")]), 2)

    def test_old_cuda_programs_find_their_header(self):
        header = os.path.join(self.prefix, "include", "atoll", "atoll_cuda_compat.h")
        if not shutil.which("nvcc") or not os.path.exists(os.path.join(BUILD, "cuda", "libcudart.so.13")):
            self.skipTest("there is no nvcc, or no runtime")
        source = self.write("old.cu", "texture<float, 2> image;\n"
                                      "__global__ void k(float* out) { *out = tex2D(image, 0.f, 0.f); }\n"
                                      "int main() { return cudaThreadSynchronize() != cudaSuccess; }\n")
        done = subprocess.run(["nvcc", "-include", header, "-cudart", "shared", "-o", self.path("old"), source],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_demo_a_sweep_and_policies_run_while_the_sources_are_hidden(self):
        done = subprocess.run([os.path.join(program.SOURCE, "packaging/try.sh"), self.prefix], capture_output=True, text=True,
                              env=dict(program.environment(), ATOLL_TRY_SCALE="16"), check=False)
        if done.returncode == program.SKIPPED:
            self.skipTest(done.stdout.strip())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("everything ran from", done.stdout)

    def test_man_pages_and_completions_lie_where_debian_looks(self):
        pages = {name.split(".")[0] for name in os.listdir(os.path.join(self.prefix, "share/man/man1"))}
        self.assertEqual(pages, {"atoll"} | {"atoll-" + c for c in self.installed("completion", "commands").out.split() if c != "help"})
        for script in ("bash-completion/completions/atoll", "zsh/vendor-completions/_atoll"):
            with open(os.path.join(self.prefix, "share", script), encoding="utf-8") as file:
                self.assertIn("atoll completion", file.read())

    def test_a_name_that_nothing_has_is_refused_with_the_nearest(self):
        self.refused(["run", "sac-4chip", "-w", "squezenet"], 2, "no such file", "did you mean `squeezenet`")
        self.refused(["sweep", "qick"], 2, "no experiment of this name", "did you mean `quick`", layouts=(None,))
        self.refused(["run", "sac-4chip", "-w", "zzz"], 2, "`atoll list` shows them", layouts=(None,))

    def test_a_file_of_that_name_goes_first(self):
        shutil.copy(os.path.join(program.SOURCE, "inputs/workloads/stream.json"), self.path("mixed"))
        outcome = self.installed("info", "mixed")
        self.assertRegex(outcome.out, r"(?m)^  workload     mixed$")

    def test_the_recorder_finds_its_runtime(self):
        outcome = program.run(["record", "-o", self.path("t.h5"), "--", "/bin/true"], program=self.atoll)
        self.assertNotIn("runtime is missing", outcome.err)
        os.remove(os.path.join(self.prefix, "lib/atoll/cuda/libcudart.so.13"))
        outcome = program.run(["record", "-o", self.path("t.h5"), "--", "/bin/true"], program=self.atoll)
        self.assertIn("runtime is missing", outcome.err)


    def test_the_recorder_finds_it_below_a_folder_with_a_space_and_a_colon(self):
        shutil.move(self.prefix, self.path("a prefix: here"))
        moved = os.path.join(self.path("a prefix: here"), "bin", "atoll")
        here = os.path.join(BUILD, "workloads", "vectoradd")
        if not os.path.exists(here):
            self.skipTest("needs the workload programs, which take nvcc")
        outcome = program.run(["record", "-o", self.path("t.h5"), "--", here], program=moved)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("recorded 1 of 1 launches", outcome.err)


if __name__ == "__main__":
    program.main()
