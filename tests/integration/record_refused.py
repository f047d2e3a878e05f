"""Programs that cannot be recorded, and traces that cannot be written, are refused with one line that names the remedy."""

import os
import resource
import subprocess

import program
import recorded_program
from recorded_program import NVCC

KERNEL = "__global__ void k(int* p) { p[threadIdx.x] = 1; }\nint main() { int* p; cudaMalloc(&p, 1 << 20);\n" \
         "for (int i = 0; i < 20; ++i) k<<<2048, 128>>>(p + 7 * i); return cudaDeviceSynchronize(); }\n"


class Refused(recorded_program.RecordTest):
    def compiled(self, *flags, name="program"):
        return super().compiled(KERNEL, *flags, name=name)

    def record(self, binary, *options):
        return ["record", "-o", self.path("T.h5"), *options, "--", binary]

    def test_machine_code_without_ptx(self):
        binary = self.compiled("-gencode", "arch=compute_80,code=sm_80")
        self.refused(self.record(binary), 2, "without PTX", "nvcc -gencode arch=compute_80,code=compute_80", layouts=[None])

    def test_a_stripped_program_with_the_runtime_inside(self):
        binary = self.compiled()
        subprocess.run(["strip", binary], check=True)
        self.refused(self.record(binary), 2, "stripped", "-cudart shared", layouts=[None])

    def test_a_static_program_with_device_code_and_no_other(self):
        binary = self.compiled("-Xcompiler", "-static")
        self.refused(self.record(binary), 2, "is linked statically", "nvcc -cudart shared", layouts=[None])
        main = self.write("start.c", "#include <unistd.h>\nint main(int n, char** v) { return execv(v[1], v + 1); }\n")
        subprocess.run(["gcc", "-static", "-o", self.path("start"), main], check=True)
        script = self.write("script.sh", "#!/bin/sh\nexec \"$@\"\n")
        os.chmod(script, 0o755)
        for starter in (self.path("start"), script, "sh"):
            arguments = [self.compiled(name="dynamic")] if starter != "sh" else ["-c", self.path("dynamic")]
            outcome = program.run([*self.record(starter, "--force", "--max-ctas", "1"), *arguments])
            self.assertEqual(outcome.code, 0, outcome)

    def test_a_runtime_of_another_version(self):
        library = self.path("libcudart.so.12")
        source = self.write("old.c", "int cudaOld(void) { return 0; }\n")
        subprocess.run(["gcc", "-shared", "-Wl,-soname,libcudart.so.12", "-o", library, source], check=True)
        main = self.write("main.c", "int cudaOld(void);\nint main(void) { return cudaOld(); }\n")
        subprocess.run(["gcc", "-o", self.path("old"), main, library], check=True)
        self.refused(self.record(self.path("old")), 2, "libcudart.so.12", "CUDA 13", layouts=[None])

    def linked_with(self, library, name):
        source = self.write("library.c", "int used(void) { return 0; }\n")
        subprocess.run(["gcc", "-shared", f"-Wl,-soname,{library}", "-o", self.path(library), source], check=True)
        main = self.write("main.c", "int used(void);\nint main(void) { return used(); }\n")
        subprocess.run(["gcc", "-o", self.path(name), main, self.path(library), "-Wl,-rpath," + self.folder], check=True)
        return self.path(name)

    def test_a_program_without_kernels_is_told_so_and_not_to_rebuild(self):
        blas = self.linked_with("libcublas.so.13", "blas")
        self.refused(self.record(blas), 2, "no kernels of its own", "libcublas.so.13", layouts=[None])
        driver = self.linked_with("libnvrtc.so.13", "driver")
        self.refused(self.record(driver), 2, "launched no kernel", layouts=[None])  # its modules come from elsewhere
        self.write("main.cu", 'extern "C" int used(void);\nint main() { return used(); }\n')  # as nvcc links it
        for runtime in ("shared", "static"):
            subprocess.run([NVCC, "-cudart", runtime, "-o", self.path("linked"), self.path("main.cu"),
                            "-Xlinker", self.path("libcublas.so.13")], check=True, capture_output=True)
            self.refused(self.record(self.path("linked")), 2, "no kernels of its own", layouts=[None])

    def test_a_library_without_ptx_beside_own_kernels_is_warned_of(self):
        self.linked_with("libcusolver.so.12", "unused")
        self.write("both.cu", 'extern "C" int used(void);\n__global__ void k(int* p) { *p = 1; }\n'
                   "int main() { int* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); return used(); }\n")
        subprocess.run([NVCC, "-o", self.path("both"), self.path("both.cu"), "-Xlinker", self.path("libcusolver.so.12"),
                        "-Xlinker", "-rpath=" + self.folder], check=True, capture_output=True)
        outcome = program.run(self.record(self.path("both")))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("both uses libcusolver.so.12, whose kernels are there as machine code only", outcome.err)

    def test_launches_beyond_limits_get_the_error_of_a_gpu(self):
        self.write("limits.cu", "__global__ void __launch_bounds__(128) bound(int* p) { *p = 1; }\n"
                   "__global__ void k(int* p) { *p = 1; }\n"
                   "int main() { int* p; cudaMalloc(&p, 4); k<<<1, 1>>>(p); cudaGetLastError();\n"
                   "bound<<<1, 256>>>(p); if (cudaGetLastError() != cudaErrorInvalidValue) return 1;\n"
                   "bound<<<1, 128>>>(p); if (cudaGetLastError() != cudaSuccess) return 2;\n"
                   "k<<<1, 32, 60000>>>(p); if (cudaGetLastError() != cudaErrorInvalidValue) return 3;\n"
                   "k<<<1, 2048>>>(p); if (cudaGetLastError() != cudaErrorInvalidConfiguration) return 4; }\n")
        subprocess.run([NVCC, "-o", self.path("limits"), self.path("limits.cu")], check=True, capture_output=True)
        outcome = program.run(self.record(self.path("limits")))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn("3 launches were refused, as on a GPU; the first: kernel bound: 256 threads per block, at most 128 "
                      "(its launch bounds)", outcome.err)

    def test_ptx_for_a_newer_gpu_is_not_run(self):
        for target, device, rebuilt in (("90", "sm_80", "80"), ("120", "sm_90", "90"), ("90a", "sm_89", "89")):
            code = f"arch=compute_{target},code=compute_{target}"
            binary = self.compiled("-gencode", code, name="for" + target)
            outcome = program.run(self.record(binary, "--force", "--device", device))
            self.assertEqual((outcome.code, outcome.out), (3, ""), outcome)
            self.assertIn(f"PTX for compute_{target}, which a GPU of compute capability {device[3]}.{device[4]} cannot run",
                          outcome.err)
            self.assertIn(f"nvcc -gencode arch=compute_{rebuilt},code=compute_{rebuilt}", outcome.err)
            self.assertEqual("(--device)" in outcome.err, target != "120", outcome.err)  # --device knows none that new
        self.assertEqual(program.run(self.record(self.path("for90a"), "--force", "--max-ctas", "1")).code, 0)

    def test_relocatable_code_of_which_the_device_runs_no_part(self):
        cases: list[tuple[list[str], str]] = [
            (["-gencode", "arch=compute_120,code=compute_120"], "only as PTX for compute_120"), ([], "only as machine code")]
        for flags, said in cases:
            binary = self.compiled("-rdc=true", "-gencode", "arch=compute_80,code=sm_80", *flags)
            outcome = program.run(self.record(binary, "--device", "sm_90"))
            self.assertNotEqual(outcome.code, 0, outcome)
            self.assertIn(said, outcome.err)

    def test_launches_whose_blocks_cannot_be_there_together_are_told(self):
        self.write("together.cu", "#include <cooperative_groups.h>\n__global__ void everyone(int* p) "
                   "{ cooperative_groups::this_grid().sync(); p[0] = 1; }\n"
                   "__global__ void __cluster_dims__(4, 1, 1) four(int* p) { p[0] = 1; }\n"
                   "int main(int n, char**) { int* p; cudaMalloc(&p, 4); void* a[] = {&p};\n"
                   "if (n > 1) return cudaLaunchCooperativeKernel((void*)everyone, dim3(20000), dim3(32), a, 0, 0) != 720;\n"
                   "four<<<6, 32>>>(p); return cudaGetLastError() != 912; }\n")
        subprocess.run([NVCC, "-arch=sm_90", "-o", self.path("together"), self.path("together.cu")], check=True,
                       capture_output=True)
        refusals: list[tuple[list[str], str]] = [
            ([], "kernel four: a grid of 6 x 1 x 1 blocks in clusters of 4 x 1 x 1"),
            (["all"], "kernel everyone: 20000 blocks that wait for each other, of which the device holds 4096 at a time")]
        for arguments, line in refusals:
            outcome = program.run([*self.record(self.path("together")), *arguments])
            self.assertEqual(outcome.code, 2, outcome)  # no launch, no trace
            self.assertIn("1 launch was refused, as on a GPU: " + line, outcome.err)

    def test_a_program_that_does_not_exist_or_launches_nothing(self):
        self.refused(self.record(self.path("none")), 2, "there is no such program", layouts=[None])
        self.refused(self.record("/bin/true"), 2, "launched no kernel", layouts=[None])
        self.refused(self.record("/bin/false"), 1, "ended with exit code 1 and launched no kernel", layouts=[None])

    def test_launches_beyond_limits_that_the_program_does_not_look_at_are_told(self):
        self.write("wild.cu", "template <int N> __global__ void k(int* p) { p[0] = N; }\n"
                   "int main(int n, char**) { int* p; cudaMalloc(&p, 4); k<7><<<1, 2048>>>(p); k<7><<<1, 32, 1 << 17>>>(p);\n"
                   "if (n > 1) k<8><<<1, 32>>>(p); cudaGetLastError(); }\n")
        subprocess.run([NVCC, "-o", self.path("wild"), self.path("wild.cu")], check=True, capture_output=True)
        line = ("atoll: warning: 2 launches were refused, as on a GPU; the first: kernel k<7>: 2048 threads per block, "
                "at most 1024\n")
        outcome = program.run([*self.record(self.path("wild")), "more"])
        self.assertEqual(outcome.code, 0, outcome)
        self.assertIn(line, outcome.err)
        os.remove(self.path("T.h5"))
        outcome = program.run(self.record(self.path("wild")))  # there is no trace then
        self.assertEqual(outcome.code, 2, outcome)
        self.assertIn(line, outcome.err)

    def test_outputs_that_cannot_be_written(self):
        binary = self.compiled()
        self.refused(["record", "-o", self.path("no", "T.h5"), "--", binary], 4, "there is no directory", layouts=[None])
        self.refused(["record", "-o", self.folder, "--", binary], 2, "is a directory", layouts=[None])
        self.write("T.h5", "precious")
        self.refused(self.record(binary), 2, "exists already; use --force", layouts=[None])
        self.refused(self.record(binary, "--kernels", "5-3", "--force"), 2, "--kernels", layouts=[None])

    def test_a_trace_is_replaced_by_a_trace_or_kept(self):
        binary = self.compiled()
        self.write("T.h5", "precious")
        missed = program.run(self.record(binary, "--kernels", "1000", "--force"))
        self.assertEqual(missed.code, 2, missed)
        self.assertIn("launched no kernel that was to be recorded", missed.err)
        self.assertIn("T.h5 is the earlier trace, which nothing has replaced", missed.err)
        with open(self.path("T.h5")) as kept:
            self.assertEqual(kept.read(), "precious")
        self.succeeds(self.record(binary, "--force"))
        self.assertEqual([name for name in os.listdir(self.folder) if "T.h5" in name], ["T.h5"])
        self.succeeds(["info", self.path("T.h5")])

    def test_a_disk_that_is_full_leaves_nothing(self):
        def no_large_files():  # SIGXFSZ stays ignored, as Python set it: write() fails with EFBIG
            resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))

        self.refused(self.record(self.compiled()), 4, "T.h5", layouts=[None], timeout=60, preexec_fn=no_large_files,
                     restore_signals=False)


if __name__ == "__main__":
    recorded_program.main()
