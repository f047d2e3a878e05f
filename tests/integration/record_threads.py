"""What is recorded does not depend on the number of threads."""

import os

import recorded_program
from recorded_program import OneProgram

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

# Each block follows indices that others replace: through parameters that deny it, or through a texture.
IN_PLACE = r"""
#include <cstdio>
#include <vector>
__global__ void jump(const int* __restrict__ in, int* __restrict__ out, const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = in[in[(i + n / 2) % n]];
  y[i] = x[k], out[i] = k;
}
__global__ void jump_by_texture(cudaTextureObject_t t, int* out, const int* x, int* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x, k = tex1Dfetch<int>(t, tex1Dfetch<int>(t, (i + n / 2) % n));
  y[i] = x[k], out[i] = k;
}
int main(int argc, char** argv) {
  const int n = 1 << 16;
  std::vector<int> h(n);
  for (int i = 0; i < n; i++) h[i] = (i * 7919u + 13) % n;
  int *p, *x, *y;
  cudaMalloc(&p, 4 * n); cudaMalloc(&x, 4 * n); cudaMalloc(&y, 4 * n);
  cudaMemset(x, 0, 4 * n); cudaMemcpy(p, h.data(), 4 * n, cudaMemcpyHostToDevice);
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = p, r.res.linear.sizeInBytes = 4 * n;
  r.res.linear.desc = cudaCreateChannelDesc<int>();
  cudaTextureDesc d = {};
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &r, &d, nullptr);
  if (argv[1][0] == 't')
    for (int k = 0; k < 3; ++k) jump_by_texture<<<n / 256, 256>>>(t, p, x, y, n);
  else
    jump<<<n / 256, 256>>>(p, p, x, y, n);
  cudaMemcpy(h.data(), p, 4 * n, cudaMemcpyDeviceToHost);
  unsigned long long sum = 0;
  for (int v : h) sum = sum * 31 + v;
  printf("%llx\n", sum);
}
"""


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

    def test_what_is_read_in_place_through_promises_is_the_same_for_every_number_of_threads(self):
        binary = self.compiled(IN_PLACE, name="in_place")
        for way in ("texture", "restrict"):
            seen = set()
            for threads in (1, 4, 4, 4):
                outcome = self.record(binary, way, options=["--force", "--threads", str(threads)])
                self.assertEqual(outcome.code, 0, outcome)
                with open(self.path("T.h5"), "rb") as file:
                    seen.add((outcome.out, file.read()))
            self.assertEqual(len(seen), 1, way)

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


if __name__ == "__main__":
    recorded_program.main()
