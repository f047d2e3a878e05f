"""`atoll record` runs CUDA programs without a GPU: what they print is right, and what they leave can be simulated."""

import os
import shutil
import signal
import subprocess
import sys
import time
import unittest

import program
from program import SMALL, sets

NVCC = shutil.which("nvcc")
RUNTIME = os.path.join(os.path.dirname(program.ATOLL), "cuda", "libcudart.so.13")  # not in sanitizer builds
COMPAT = os.path.join(program.SOURCE, "inputs", "cuda", "atoll_cuda_compat.h")

VECTOR_ADD = r"""
#include <cstdio>
#include <cstdlib>
__constant__ float scale = 2.0f;
__device__ int launches;
__managed__ int managed = 7;
__global__ void vadd(const float* a, const float* b, float* c, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = scale * (a[i] + b[i]);
  if (i == 0) { printf("kernel for %d\n", n); atomicAdd(&launches, 5); managed += 1; }
}
int main(int argc, char** argv) {
  int n = atoi(argv[1]), times = atoi(argv[2]);
  float *a, *b, *c, *h = new float[n];
  cudaMalloc(&a, n * 4); cudaMalloc(&b, n * 4); cudaMalloc(&c, n * 4);
  for (int i = 0; i < n; i++) h[i] = i;
  cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(b, a, n * 4, cudaMemcpyDeviceToDevice);
  for (int i = 0; i < times; i++) vadd<<<(n + 255) / 256, 256>>>(a, b, c, n);
  cudaMemcpy(h, c, n * 4, cudaMemcpyDeviceToHost);
  int bad = 0, count = 0;
  for (int i = 0; i < n; i++) bad += h[i] != 4.0f * i;
  cudaMemcpyFromSymbol(&count, launches, 4);
  printf("bad %d launches %d managed %d at %p: %s\n", bad, count, managed, (void*)a, cudaGetErrorString(cudaGetLastError()));
  return 0;
}
"""

# One good kernel, then what the first argument says.
ENDINGS = r"""
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cassert>
#include <csignal>
#include <unistd.h>
#include <cuda_runtime.h>
__global__ void good(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void outside(int* p) { p[threadIdx.x + 100] = 1; }
__global__ void late(int* p) { p[threadIdx.x] = 1; if (blockIdx.x == gridDim.x - 1) p[threadIdx.x + 100] = 1; }
__global__ void endless(volatile int* p) { while (p[threadIdx.x] >= 0) p[threadIdx.x] = 1; }
__global__ void matrix(int* p) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(p[threadIdx.x]) : "r"(0));
}
__global__ void asserts(int* p) { assert(p[threadIdx.x] < 0); }
int main(int, char** argv) {
  int* p;
  cudaMalloc(&p, 128);
  good<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  printf("ready\n"); fflush(stdout);
  if (!strcmp(argv[1], "crash")) *(volatile int*)8 = 1;
  if (!strcmp(argv[1], "abort")) abort();
  if (!strcmp(argv[1], "_exit")) _exit(7);
  if (!strcmp(argv[1], "outside")) outside<<<1, 32>>>(p);
  if (!strcmp(argv[1], "late")) late<<<20000, 32>>>(p);
  if (!strcmp(argv[1], "matrix")) matrix<<<1, 32>>>(p);
  if (!strcmp(argv[1], "endless")) endless<<<1, 32>>>(p);
  if (!strcmp(argv[1], "assert")) { asserts<<<1, 32>>>(p); printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize())); }
  if (!strcmp(argv[1], "killed")) { good<<<2, 32>>>(p); kill(getpid(), SIGKILL); }
  if (!strcmp(argv[1], "heap")) {
    int sum = 0;
    for (int size = 64; size < 100000; size *= 2) {
      int* never_written = (int*)malloc(size);
      for (int i = 0; i < size / 4; ++i) sum |= never_written[i];
    }
    printf("%d\n", sum);
  }
  if (!strcmp(argv[1], "unsupported")) { cudaGraph_t g; printf("%d\n", (int)cudaGraphCreate(&g, 0)); }
  return 0;
}
"""

# Blocks of very different length, by turns independent and tied together by the order of an atomic; the last argument may
# ask for an access outside in block 37.
UNEVEN = r"""
#include <cstdio>
#include <cstdlib>
__global__ void uneven(float* out, const float* in, int n, int bad) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < 200 * (1 + blockIdx.x % 5); ++k) sum += in[(i * 17 + k * 31) % n];
  if (i < n) out[i + (blockIdx.x == bad ? 1 << 20 : 0)] = sum;
}
__global__ void count(const float* in, int* bins, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) atomicAdd(&bins[int(in[i]) % 64], 1);
}
__global__ void append(const float* in, int* list, int* length, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && int(in[i]) % 3 == 0) list[atomicAdd(length, 1)] = i;
}
__global__ void print(const float* in) { if (threadIdx.x == 0) printf("block %d: %g\n", blockIdx.x, in[blockIdx.x]); }
int main(int argc, char** argv) {
  const int n = 64 * 256;
  float *in, *out, *h = new float[n];
  int *bins, *list;
  cudaMalloc(&in, n * 4); cudaMalloc(&out, n * 4); cudaMalloc(&bins, 256); cudaMalloc(&list, n * 4 + 4);
  cudaMemset(bins, 0, 256); cudaMemset(list, 0, 4);
  for (int i = 0; i < n; i++) h[i] = i * 37 % 1000;
  cudaMemcpy(in, h, n * 4, cudaMemcpyHostToDevice);
  uneven<<<64, 256>>>(out, in, n, argc > 1 ? atoi(argv[1]) : -1);
  count<<<64, 256>>>(in, bins, n);
  append<<<64, 256>>>(in, list + 1, list, n);
  print<<<64, 32>>>(in);
  int b[64], *l = new int[n + 1];
  cudaMemcpy(h, out, n * 4, cudaMemcpyDeviceToHost);
  cudaMemcpy(b, bins, 256, cudaMemcpyDeviceToHost);
  cudaMemcpy(l, list, n * 4 + 4, cudaMemcpyDeviceToHost);
  double sum = 0;
  for (int i = 0; i < n; i++) sum += h[i];
  for (int i = 0; i < 64; i++) printf("%d ", b[i]);
  for (int i = 0; i <= l[0]; i++) printf("%d ", l[i]);
  printf("%.17g\n", sum);
}
"""

TEXTURE = r"""
#include <cstdio>
texture<float, 1, cudaReadModeElementType> line;
texture<unsigned char, 2, cudaReadModeNormalizedFloat> image;
__global__ void fetch(float* out) { int i = threadIdx.x; out[i] = tex1Dfetch(line, i) + tex2D(image, float(i), 1.f); }
int main() {
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  float h[32], *d, *out;
  unsigned char bytes[128];
  for (int i = 0; i < 32; i++) h[i] = i;
  for (int i = 0; i < 128; i++) bytes[i] = i / 32 == 1 ? 255 : 0;
  cudaMalloc(&d, 128); cudaMalloc(&out, 128);
  cudaMemcpy(d, h, 128, cudaMemcpyHostToDevice);
  cudaBindTexture(0, line, d, 128);
  cudaArray* array;
  cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
  cudaMallocArray(&array, &format, 32, 4);
  cudaMemcpy2DToArray(array, 0, 0, bytes, 32, 32, 4, cudaMemcpyHostToDevice);
  cudaBindTextureToArray(image, array, format);
  fetch<<<1, 32>>>(out);
  cudaThreadSynchronize();
  cudaMemcpy(h, out, 128, cudaMemcpyDeviceToHost);
  printf("%g %g %d\n", h[0], h[31], properties.clockRate > 0);
}
"""

# Where the second kernel stores only the launch shows, and with `shift` not even that.
ASTRAY = r"""
#include <cstdio>
#include <cstring>
__global__ void fill(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void astray(const int* in, int* out, long shift) { out[threadIdx.x + shift] = in[threadIdx.x]; }
__global__ void biased(const int* in, const int* bias, int* out) { out[threadIdx.x] = in[threadIdx.x] + (bias ? *bias : 0); }
int main(int, char** argv) {
  int *in, *out;
  cudaMalloc(&in, 4096); cudaMalloc(&out, 4096);
  fill<<<1, 32>>>(in);
  if (!strcmp(argv[1], "apart")) astray<<<1, 32>>>(in, out, 0);
  if (!strcmp(argv[1], "astray")) astray<<<1, 32>>>(in, out, in - out + 64);
  if (!strcmp(argv[1], "within one")) astray<<<1, 32>>>(in, in + 64, 0);
  if (!strcmp(argv[1], "before all")) astray<<<1, 32>>>(in, in - 1024, 1024 + 64);
  if (!strcmp(argv[1], "null")) biased<<<1, 32>>>(in, nullptr, out);
  printf("done\n");
}
"""

RACE = r"""
#include <cstdio>
#include <cstdlib>
__global__ void reverse(int* out, int barrier) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  if (barrier) __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
int main(int, char** argv) {
  int* out;
  cudaMalloc(&out, 256);
  for (int i = 0; i < 2; ++i) reverse<<<4, 64>>>(out, atoi(argv[1]));
}
"""

RELOCATABLE = {
    "main.cu": "#include <cstdio>\nextern __device__ int twice(int);\nextern __constant__ int offset;\n"
               "__global__ void k(int* p) { p[threadIdx.x] = twice(threadIdx.x) + offset; }\n"
               "int main() { int h[32], *p; cudaMalloc(&p, 128); k<<<1, 32>>>(p);\n"
               "cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost); printf(\"%d %d\\n\", h[0], h[31]); }\n",
    "other.cu": "__device__ int twice(int x) { return 2 * x; }\n__constant__ int offset = 100;\n",
}


class RecordTest(program.ProgramTest):
    def compiled(self, source, *flags, name="program"):
        path = self.write(name + ".cu", source)
        return self.nvcc(["-o", self.path(name), *flags, path], self.path(name))

    def nvcc(self, arguments, output):
        done = subprocess.run([NVCC, *arguments], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return output

    def record(self, binary, *arguments, options=(), **more):
        more.setdefault("timeout", 60)
        return program.run(["record", "-o", self.path("T.h5"), *options, "--", binary, *arguments], **more)

    def simulated(self):
        """The digest of a simulation of the trace."""
        return self.succeeds(["run", "sac-4chip", "-w", self.path("T.h5"), *sets(*SMALL)], timeout=60).digest()

    def kernels_in_trace(self, outcome):
        """What the recorder said at the end."""
        said = [line for line in outcome.err.splitlines() if line.startswith("recorded ")]
        self.assertEqual(len(said), 1, outcome)
        return int(said[0].split()[1])


class OneProgram(RecordTest):
    """Compiled once for all tests of a class."""

    SOURCE = ""

    @classmethod
    def setUpClass(cls):
        cls.folder_of_class = program.tempfile.TemporaryDirectory(prefix="atoll-test-")
        cls.addClassCleanup(cls.folder_of_class.cleanup)
        source = os.path.join(cls.folder_of_class.name, "program.cu")
        with open(source, "w", encoding="utf-8") as file:
            file.write(cls.SOURCE)
        cls.binary = os.path.join(cls.folder_of_class.name, "program")
        subprocess.run([NVCC, "-o", cls.binary, source], check=True, capture_output=True)


class GoodPrograms(RecordTest):
    def check_vector_add(self, binary):
        outcome = self.record(binary, 1000, 2)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out.splitlines(), ["kernel for 1000"] * 2 + [
            "bad 0 launches 10 managed 9 at 0x200000000000: no error"])
        self.assertEqual(self.kernels_in_trace(outcome), 2)
        return self.simulated()

    def test_a_program_with_the_shared_and_with_the_static_runtime_give_the_same_trace(self):
        shared = self.check_vector_add(self.compiled(VECTOR_ADD, "-cudart", "shared", name="shared"))
        os.remove(self.path("T.h5"))
        static = self.check_vector_add(self.compiled(VECTOR_ADD, name="static"))
        self.assertEqual(shared, static)

    def test_every_way_to_compress_device_code_is_read(self):
        for mode in ("none", "size", "speed"):
            with self.subTest(mode=mode):
                binary = self.compiled(VECTOR_ADD, f"--compress-mode={mode}", name=mode)
                outcome = self.record(binary, 100, 1, options=["--force"])
                self.assertIn("bad 0 launches 5", outcome.out, outcome)

    def test_relocatable_device_code_is_linked_by_name(self):
        paths = [self.write(name, text) for name, text in RELOCATABLE.items()]
        binary = self.nvcc(["-rdc=true", "-o", self.path("rdc"), *paths], self.path("rdc"))
        outcome = self.record(binary)
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out, "100 162\n")

    def test_the_compatibility_header_gives_old_programs_what_they_miss(self):
        outcome = self.record(self.compiled(TEXTURE, "-include", COMPAT))
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out, "1 32 1\n")

    def test_only_the_launches_asked_for_are_recorded_and_all_are_executed(self):
        outcome = self.record(self.compiled(VECTOR_ADD), 1000, 5, options=["--kernels", "1-2", "--max-ctas", "2"])
        self.assertIn("launches 25", outcome.out, outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 2)
        self.simulated()

    def test_the_compression_level_changes_the_size_of_the_trace_and_nothing_else(self):
        binary, size, digest = self.compiled(VECTOR_ADD), {}, {}
        for level in ("0", "9"):
            outcome = self.record(binary, 100000, 1, options=["--force", "--compression", level])
            self.assertEqual(outcome.code, 0, outcome)
            size[level], digest[level] = os.path.getsize(self.path("T.h5")), self.simulated()
        self.assertLess(size["9"], size["0"] / 2)
        self.assertEqual(digest["9"], digest["0"])
        outcome = self.record(binary, 100, 1, options=["--force", "--compression", "10"])
        self.assertNotEqual(outcome.code, 0, outcome)
        self.assertIn("--compression", outcome.err)

    def test_a_name_that_the_recorder_lacks_is_said_at_its_call(self):
        outcome = self.record(self.compiled(ENDINGS), "unsupported")
        self.assertEqual(outcome.code, 0, outcome)
        self.assertEqual(outcome.out, "ready\n801\n")
        self.assertIn("cudaGraphCreate", outcome.err)

    def test_host_memory_that_was_never_written_reads_as_zero_as_in_a_fresh_heap(self):
        outcome = self.record(self.compiled(ENDINGS), "heap")
        self.assertEqual(outcome.out, "ready\n0\n", outcome)

    def test_a_failed_assertion_fails_every_later_call_and_the_program_goes_on(self):
        outcome = self.record(self.compiled(ENDINGS), "assert")
        self.assertEqual(outcome.out, "ready\ndevice-side assert triggered\n", outcome)
        self.assertIn("p[threadIdx.x] < 0", outcome.err)
        self.assertEqual(self.kernels_in_trace(outcome), 1)


class Checked(RecordTest):
    """--check compares what kernels do with what was claimed of them."""

    def test_loads_are_marked_where_the_launch_allows_it_and_the_marks_hold(self):
        binary = self.compiled(ASTRAY)
        for launch, marked in (("apart", 1), ("null", 1), ("within one", 0), ("before all", 0)):
            with self.subTest(launch=launch):
                outcome = self.record(binary, launch, options=["--check", "--force"])
                self.assertEqual((outcome.code, outcome.out), (0, "done\n"), outcome)
                self.assertIn(f"checked 2 launches: {marked} of 1 loads from global memory carry the read-only mark; every "
                              "read-only mark held; no shared-memory races\n", outcome.err)

    def test_a_store_that_the_analysis_did_not_foresee_ends_the_program_and_is_named(self):
        binary = self.compiled(ASTRAY)
        unchecked = self.record(binary, "astray")
        self.assertEqual(unchecked.code, 0, unchecked)
        outcome = self.record(binary, "astray", options=["--check", "--force"])
        self.assertEqual((outcome.code, outcome.out), (3, ""), outcome)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: ")]
        self.assertEqual(len(said), 1, outcome)
        for fragment in ("kernel _Z6astrayPKiPil, block (0, 0, 0), thread (0, 0, 0)", "program.0.ptx:", "this store changes",
                         "in allocation 0 (parameter _Z6astrayPKiPil_param_0)", "which the kernel only reads, in lines"):
            self.assertIn(fragment, said[0])
        self.assertIn("a READ-ONLY MARK DID NOT HOLD", outcome.err)
        self.assertEqual(self.kernels_in_trace(outcome), 1)

    def test_a_race_in_shared_memory_is_a_warning_once_for_each_pair_of_lines(self):
        binary = self.compiled(RACE)
        outcome = self.record(binary, 0, options=["--check"])
        self.assertEqual(outcome.code, 0, outcome)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: warning: ")]
        self.assertEqual(len(said), 2, outcome)
        for line in said:
            self.assertIn("kernel _Z7reversePii, block (0, 0, 0): shared-memory race at byte 12", line)
        self.assertIn("2 shared-memory races\n", outcome.err)
        quiet = self.record(binary, 1, options=["--check", "--force"])
        self.assertIn("no shared-memory races\n", quiet.err)
        self.assertNotIn("warning", quiet.err)


class Threads(OneProgram):
    SOURCE = UNEVEN

    def test_output_and_trace_are_the_same_for_every_number_of_threads(self):
        binary, seen = self.binary, set()
        for threads in (1, 2, 5):
            outcome = self.record(binary, options=["--force", "--threads", str(threads)])
            self.assertEqual(outcome.code, 0, outcome)
            self.assertEqual(self.kernels_in_trace(outcome), 4)
            with open(self.path("T.h5"), "rb") as file:
                seen.add((outcome.out, file.read()))
        self.assertEqual(len(seen), 1)
        self.assertIn("block 63: ", outcome.out)

    def test_an_access_outside_is_reported_the_same_for_every_number_of_threads(self):
        binary, seen = self.binary, set()
        for threads in (1, 2, 5):
            outcome = self.record(binary, 37, options=["--force", "--threads", str(threads)])
            self.assertEqual(outcome.code, 3, outcome)
            seen.add("\n".join(line for line in outcome.err.splitlines() if line.startswith("atoll: ")))
        self.assertEqual(len(seen), 1, seen)
        self.assertIn("block (37, 0, 0), thread (0, 0, 0)", seen.pop())

    def test_a_sample_by_ops_is_the_same_for_every_number_of_threads_and_the_program_runs_to_its_end(self):
        binary, seen = self.binary, set()
        whole = self.record(binary, options=["--force"])
        size = os.path.getsize(self.path("T.h5"))
        for threads in (1, 5):
            outcome = self.record(binary, options=["--force", "--threads", str(threads), "--max-ops", "20000"])
            self.assertEqual(outcome.out, whole.out, outcome)
            self.assertIn("recorded 4 of 4 launches (1 as samples)", outcome.err)
            with open(self.path("T.h5"), "rb") as file:
                seen.add(file.read())
        self.assertEqual(len(seen), 1)
        self.assertLess(len(seen.pop()), size / 3)
        self.simulated()


class BadEndings(OneProgram):
    """However a program ends, the trace holds the kernels that were finished."""

    SOURCE = ENDINGS

    def ended(self, ending, code):
        outcome = self.record(self.binary, ending)
        self.assertEqual(outcome.code, code, outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 1)
        self.simulated()
        return outcome

    def test_a_crash(self):
        self.ended("crash", 128 + signal.SIGSEGV)

    def test_abort(self):
        self.ended("abort", 128 + signal.SIGABRT)

    def test_leaving_without_cleaning_up(self):
        self.ended("_exit", 7)

    def test_an_access_outside_of_all_allocations_names_address_allocation_kernel_and_thread(self):
        outcome = self.ended("outside", 3)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: ")]
        self.assertEqual(len(said), 1, outcome)
        for fragment in ("0x200000000190", "allocation 0", "outside", "thread"):
            self.assertIn(fragment, said[0])

    def test_an_unsupported_instruction_is_named_with_its_kernel_file_and_line_when_it_is_reached(self):
        outcome = self.ended("matrix", 3)
        said = [line for line in outcome.err.splitlines() if line.startswith("atoll: ")]
        self.assertEqual(len(said), 1, outcome)
        self.assertRegex(said[0], r"kernel _Z6matrixPi, .*program\.0\.ptx:\d+: instruction ldmatrix\.sync\S* is not supported")

    def test_a_program_that_is_killed_leaves_the_kernels_before(self):
        outcome = self.record(self.binary, "killed")
        self.assertEqual(outcome.code, 128 + signal.SIGKILL, outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 2)
        self.assertIn("was killed", outcome.err)
        self.assertEqual(program.files_below(self.folder), [self.path("T.h5")])
        self.simulated()

    def test_a_program_that_is_killed_in_its_first_recorded_kernel_leaves_no_trace(self):
        command = [program.ATOLL, "record", "-o", self.path("T.h5"), "--kernels", "1-", "--", self.binary, "endless"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=program.environment(), start_new_session=True)
        self.addCleanup(process.stdout.close)
        self.assertEqual(process.stdout.readline(), "ready\n")
        while not os.path.exists(self.path("T.h5.part")):
            time.sleep(0.05)
        with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as file:
            os.kill(int(file.read()), signal.SIGKILL)
        _, err = process.communicate(timeout=30)
        self.assertEqual(process.returncode, 128 + signal.SIGKILL, err)
        self.assertIn("left no trace", err)
        self.assertEqual(program.files_below(self.folder), [])

    def test_a_large_kernel_that_fails_in_its_last_block_leaves_nothing_in_the_trace(self):
        self.ended("_exit", 7)
        without = self.simulated()
        os.remove(self.path("T.h5"))
        self.ended("late", 3)
        self.assertEqual(self.simulated(), without)

    def test_an_interrupt_in_the_middle_of_a_kernel(self):
        command = [program.ATOLL, "record", "-o", self.path("T.h5"), "--", self.binary, "endless"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=program.environment(), start_new_session=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        time.sleep(0.5)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does
        out, err = process.communicate(timeout=30)
        outcome = program.Outcome(command, process.returncode, out, err, 0)
        self.assertEqual(outcome.code, 128 + signal.SIGINT, outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 1)
        self.simulated()


if __name__ == "__main__":
    if not NVCC or not os.path.exists(RUNTIME):
        sys.exit(program.SKIPPED)
    program.main()
