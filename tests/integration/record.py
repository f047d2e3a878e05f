"""`atoll record` runs CUDA programs without a GPU: what they print is right, and what they leave can be simulated."""

import os
import re

import recorded_program
from recorded_program import RecordTest


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

RELOCATABLE = {
    "main.cu": "#include <cstdio>\nextern __device__ int twice(int);\nextern __constant__ int offset;\n"
               "__global__ void k(int* p) { p[threadIdx.x] = twice(threadIdx.x) + offset; }\n"
               "int main() { int h[32], *p; cudaMalloc(&p, 128); k<<<1, 32>>>(p);\n"
               "cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost); printf(\"%d %d\\n\", h[0], h[31]); }\n",
    "other.cu": "__device__ int twice(int x) { return 2 * x; }\n__constant__ int offset = 100;\n",
}


# What is inline, as libcu++'s objects are, has one address in the program, and code and a variable in either file.
INLINE = {
    "inline.h": "#include <cuda/std/functional>\n#include <cuda/std/ranges>\n#include <cuda/std/utility>\n#include <cstdio>\n"
                "template <int N> __global__ void add(int* p) { p[threadIdx.x] += N; }\nvoid other(int*);\n",
    "first.cu": '#include "inline.h"\nint main() { int h[32], *p; cudaMalloc(&p, 128); cudaMemset(p, 0, 128);\n'
                "add<6><<<1, 32>>>(p); other(p); add<6><<<1, 32>>>(p);\n"
                'cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost); printf("%d %s\\n", h[31], cudaGetErrorString(cudaGetLastError())); }\n',
    "second.cu": '#include "inline.h"\nvoid other(int* p) { add<6><<<1, 32>>>(p); add<7><<<1, 32>>>(p); }\n',
}

# Launches, waits as long as it is told, and launches again.
TWO_LAUNCHES = r"""
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
__global__ void k(int* p) { p[threadIdx.x] = 7; }
int main(int, char** v) {
  int h = 0, *p; usleep(atoi(v[1])); cudaMalloc(&p, 128);
  k<<<1, 32>>>(p); usleep(atoi(v[2])); k<<<1, 32>>>(p);
  cudaMemcpy(&h, p, 4, cudaMemcpyDeviceToHost); printf("%d\n", h);
}"""

# Lanes that take a lock one by one: warps are divided, so that those that wait do not keep the one that has it.
LOCK_PER_LANE = r"""
__device__ int lock_, sum;
__global__ void k() {
  for (bool done = false; !done;)
    if (atomicCAS(&lock_, 0, 1) == 0) { sum = sum + 1; __threadfence(); atomicExch(&lock_, 0); done = true; }
}
int main() { k<<<8, 64>>>(); return cudaDeviceSynchronize(); }"""

# One word of shared memory has the maximum and then, after a loop and without a barrier, the sum: right on every GPU.
BEHIND_A_BARRIER = r"""
#include <cstdio>
__device__ float sum_of_block(float v) {
  __shared__ float s[32];
  for (int o = 16; o; o /= 2) v += __shfl_xor_sync(~0u, v, o);
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 1; i < blockDim.x / 32; ++i) s[0] += s[i];
  __syncthreads();
  return s[0];
}
__global__ void twice(float* out) {
  float n = sum_of_block(1);
  for (int i = threadIdx.x % 3; i < 3; ++i) n += 0 * out[i];
  out[threadIdx.x] = n + 1000 * sum_of_block(2);
}
int main() {
  for (int threads = 64; threads <= 1024; threads *= 2) {
    float *d, h[1024];
    cudaMalloc(&d, sizeof h);
    cudaMemset(d, 0, sizeof h);
    twice<<<1, threads>>>(d);
    cudaMemcpy(h, d, sizeof h, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (int i = 0; i < threads; ++i) bad += h[i] != threads * 2001.0f;
    printf("%d ", bad);
  }
}
"""

AFTER_A_LOOP = r"""
#include <cmath>
#include <cstdio>
__device__ void reduce(float* s, float v, bool sum) {
  for (int o = 16; o; o /= 2) { float w = __shfl_down_sync(~0u, v, o); v = sum ? v + w : fmaxf(v, w); }
  if (threadIdx.x % 32 == 0) s[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x == 0) for (int i = 1; i < blockDim.x / 32; ++i) s[0] = sum ? s[0] + s[i] : fmaxf(s[0], s[i]);
  __syncthreads();
}
__global__ void softmax(float* out, const float* in, int n) {
  __shared__ float s[8];
  float most = 0, sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) most = fmaxf(most, in[i]);
  reduce(s, most, false);
  float offset = s[0];
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += out[i] = expf(in[i] - offset);
  reduce(s, sum, true);
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] /= s[0];
}
int main() {
  int n = 5000;
  float *in, *out;
  cudaMallocManaged(&in, n * 4); cudaMallocManaged(&out, n * 4);
  double sum = 0, worst = 0;
  for (int i = 0; i < n; ++i) sum += exp(in[i] = (i * 37 % 101) / 50.f);
  softmax<<<1, 128>>>(out, in, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; ++i) worst = fmax(worst, fabs(out[i] / (exp(in[i]) / sum) - 1));
  printf("%s\n", worst < 1e-4 ? "right" : "wrong");
}
"""

LAUNCHING = """
__global__ void child(int* p) { atomicAdd(p, 1); }
__global__ void parent(int* p) { child<<<1, 32>>>(p); }
int main() {
  int* p;
  cudaMallocManaged(&p, 4);
  parent<<<1, 1>>>(p);
  return cudaDeviceSynchronize() != cudaSuccess || *p != 32;
}
"""


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

    def test_newer_ptx_beside_machine_code_stands_in_for_it(self):
        paths = [self.write(name, text) for name, text in RELOCATABLE.items()]
        binary = self.nvcc(["-rdc=true", "-arch=all-major", "-o", self.path("rdc"), *paths], self.path("rdc"))
        outcome = self.record(binary)
        self.assertEqual((outcome.code, outcome.out), (0, "100 162\n"), outcome)
        for flags in ((), ("-rdc=true",)):  # beside that lies NVIDIA's library of device-side launches, for a newer GPU yet
            with self.subTest(flags=flags):
                source = LAUNCHING if flags else "__global__ void k() {}\nint main() { k<<<1, 1>>>(); k<<<1, 1>>>(); }\n"
                binary = self.compiled(source, *flags, "-arch=all-major", name="all")
                outcome = self.record(binary, options=["--force"])
                self.assertEqual(outcome.code, 0, outcome)
                self.assertEqual(self.kernels_in_trace(outcome), 2)

    def test_of_two_processes_that_record_at_a_time_the_first_has_the_trace_and_the_other_goes_on(self):
        binary = self.compiled(TWO_LAUNCHES)
        outcome = self.record("sh", "-c", f"{binary} 0 600000 & {binary} 200000 0 & wait")
        self.assertEqual((outcome.code, outcome.out), (0, "7\n7\n"), outcome)
        self.assertIn("another process of this command records already", outcome.err)
        self.assertIn("recorded 2 of 2 launches", outcome.err)
        self.assertEqual([name for name in os.listdir(self.folder) if name.startswith("T.h5")], ["T.h5"])

    def test_rounds_that_waited_are_no_more_than_were_executed(self):
        outcome = self.record(self.compiled(LOCK_PER_LANE))
        self.assertEqual(outcome.code, 0, outcome)
        number = r"([\d.]+)( k| M|)"
        unit = {"": 1, " k": 1e3, " M": 1e6}
        said = [re.search(number + what, outcome.err) for what in (" rounds of loops that waited", " warp instructions of PTX")]
        rounds, executed = (float(m[1]) * unit[m[2]] for m in said if m)
        self.assertGreater(rounds, 100)
        self.assertLess(3 * rounds, executed)  # the least of a round: atomic, comparison, branch

    def test_what_several_files_have_inline_is_of_each(self):
        paths = [self.write(name, text) for name, text in INLINE.items()]
        binary = self.nvcc(["-std=c++17", "-arch=sm_80", "-o", self.path("inline"), *paths[1:]], self.path("inline"))
        outcome = self.record(binary)
        self.assertEqual(outcome.out, "25 no error\n", outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 4)

    def test_no_warp_is_far_ahead_of_others_with_which_it_shares_memory(self):
        outcome = self.record(self.compiled(AFTER_A_LOOP))
        self.assertEqual(outcome.out, "right\n", outcome)
        self.assertIn("in shared memory only --check looks for them", outcome.err)

    def test_warps_leave_a_barrier_together(self):
        binary = self.compiled(BEHIND_A_BARRIER)
        for options in ("", "--long-turns", "--schedule-seed 7"):
            self.assertEqual(self.record(binary, options=[*options.split(), "--force"]).out, "0 0 0 0 0 ")

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


if __name__ == "__main__":
    recorded_program.main()
