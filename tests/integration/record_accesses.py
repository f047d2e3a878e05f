"""Traces have what the hardware does: no answer that nobody reads, no access that constant memory saves."""

import os
import re

import program
import recorded_program
from recorded_program import RecordTest

COMPAT = os.path.join(program.SOURCE, "inputs", "cuda", "atoll_cuda_compat.h")

ADDING = r"""
__device__ void add(int* p) { %s; }
__global__ void count(int* p, int* last) {
  __shared__ int here[4];
  here[threadIdx.x %% 4] = 0;
  for (int i = 0; i < 20; ++i) add(p + 32 * i + threadIdx.x %% 4);
  atomicAdd(here + threadIdx.x %% 4, 1);
  last[threadIdx.x] = here[threadIdx.x %% 4];
}
int main() {
  int* p;
  cudaMalloc(&p, 4 * 1024);
  count<<<4, 64>>>(p, p + 900);
  return cudaDeviceSynchronize();
}
"""
FETCHING = r"""
#include <cstdio>
#ifdef REFERENCE
texture<float, 1, cudaReadModeElementType> t;
__global__ void fetch(float* out) { out[threadIdx.x] = tex1Dfetch(t, threadIdx.x); }
#else
__global__ void fetch(cudaTextureObject_t t, float* out) { out[threadIdx.x] = tex1Dfetch<float>(t, threadIdx.x); }
#endif
int main() {
  float *in, *out;
  cudaMallocManaged(&in, 256); cudaMallocManaged(&out, 256);
  for (int i = 0; i < 64; ++i) in[i] = i;
#ifdef REFERENCE
  cudaBindTexture(nullptr, t, in, 256);
  fetch<<<1, 64>>>(out);
#else
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = in, r.res.linear.sizeInBytes = 256;
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  cudaTextureDesc how = {};
  cudaTextureObject_t t;
  cudaCreateTextureObject(&t, &r, &how, nullptr);
  fetch<<<1, 64>>>(t, out);
#endif
  cudaDeviceSynchronize();
  printf("%g\n", out[63]);
}
"""
NAMED = r"""
#include <cstdio>
__constant__ int table[4], later[4];
__global__ void copy(int* out) { *out = table[1]; }
int main() {
  int *out, values[4] = {1, 2, 3, 4};
  cudaMallocManaged(&out, 4);
  cudaMemcpyToSymbol((const void*)"table", values, sizeof values);
  cudaMemcpyToSymbol((const void*)"other", values, sizeof values);
  cudaMemcpyToSymbol((const void*)16, values, sizeof values);
  const char *later = "later", *nowhere = (const char*)16;
  cudaMemcpyToSymbol(later, values, sizeof values);
  cudaMemcpyToSymbol(nowhere, values, sizeof values);
  copy<<<1, 1>>>(out);
  cudaDeviceSynchronize();
  printf("%d\n", *out);
}
"""


class Accesses(RecordTest):
    def traced(self, source, *flags):
        outcome = self.record(self.compiled(source, *flags), options=["--force"])
        self.assertEqual(outcome.code, 0, outcome)
        return outcome

    def test_an_atomic_whose_result_nobody_reads_answers_nobody(self):
        digests = []
        for how in ("atomicAdd(p, 1)", 'asm volatile("red.global.add.s32 [%%0], 1;" :: "l"(p) : "memory")',
                    "p[8] = atomicAdd(p, 1)"):
            self.traced(ADDING % how.replace("%%", "%"))
            digests.append(self.simulated())
        self.assertEqual(digests[0], digests[1])
        self.assertNotEqual(digests[0], digests[2])

    def test_a_texture_reference_takes_no_access_of_its_own(self):
        reference = self.traced(FETCHING, "-D", "REFERENCE", "-include", COMPAT)
        accesses = [re.findall(r"(\d+) accesses", o.err) for o in (reference, self.traced(FETCHING))]
        self.assertEqual(accesses, [["4"], ["4"]])  # two warps, each with a fetch and a store
        self.assertEqual(reference.out, "63\n")

    def test_a_variable_that_is_named_by_a_text_is_not_written_and_a_line_says_so(self):
        outcome = self.traced(NAMED)
        self.assertEqual(outcome.out, "0\n")
        self.assertEqual(re.findall(r"names variable (\w+) by a text", outcome.err), ["table", "later"])


if __name__ == "__main__":
    recorded_program.main()
