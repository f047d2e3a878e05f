"""Kernels that launch kernels (CUDA Dynamic Parallelism 2)."""

import recorded_program
from recorded_program import OneProgram


class DeviceLaunches(OneProgram):
    FLAGS = ("-rdc=true", "-std=c++17", "-cudart", "shared", "-arch=compute_75", "-code=compute_75")
    SOURCE = r"""
#include <cstdio>
#include <cstring>
__device__ int log_of[64];
__device__ int logged;
__device__ void note(int what) { log_of[atomicAdd(&logged, 1)] = what; }

struct Odd { char c; double d; short s[3]; };  // a parameter whose place depends on its alignment
__global__ void leaf(int name, Odd odd) {
  if (threadIdx.x == 0 && odd.d == 2.5 && odd.s[2] == 7) note(name);
}
__global__ void branch(int name) {
  if (threadIdx.x == 0) {
    note(name);
    Odd odd = {1, 2.5, {5, 6, 7}};
    leaf<<<1, 32, 0, cudaStreamTailLaunch>>>(name + 9, odd);
    leaf<<<1, 32>>>(name + 1, odd);
    leaf<<<1, 32, 0, cudaStreamFireAndForget>>>(name + 2, odd);
  }
}
__global__ void __launch_bounds__(32) bounded(int* p) { *p = 0; }
__global__ void root(int* p) {
  if (threadIdx.x != 0) return;
  cudaStream_t s;
  cudaEvent_t e;
  bool good = cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess;
  good &= cudaEventCreateWithFlags(&e, cudaEventDisableTiming) == cudaSuccess;
  note(1);
  branch<<<1, 32, 0, cudaStreamTailLaunch>>>(90);
  branch<<<1, 64, 1024, s>>>(10);
  branch<<<1, 32, 0, s>>>(20);
  cudaMemsetAsync(p, 3, 8, s);
  cudaMemcpyAsync(p + 2, p, 8, cudaMemcpyDeviceToDevice, s);
  good &= cudaGetLastError() == cudaSuccess;
  int own[2] = {1, 2};  // gone by the time of the copy
  good &= cudaMemcpyAsync(p, own, 8, cudaMemcpyDeviceToDevice, s) == cudaErrorInvalidValue;
  good &= cudaGetLastError() == cudaErrorInvalidValue;
  leaf<<<1, 2048>>>(0, Odd{});  // too many threads
  good &= cudaPeekAtLastError() == cudaErrorInvalidConfiguration && cudaGetLastError() == cudaErrorInvalidConfiguration;
  bounded<<<1, 64>>>(p);  // beyond its launch bounds
  good &= cudaGetLastError() == cudaErrorInvalidValue;
  bounded<<<1, 32, 48 * 1024 + 1>>>(p);
  good &= cudaGetLastError() == cudaErrorInvalidValue;
  good &= cudaGetLastError() == cudaSuccess;
  int device = -1, count = 0, sms = 0;
  good &= cudaGetDevice(&device) == cudaSuccess && cudaGetDeviceCount(&count) == cudaSuccess;
  good &= cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess;
  int* heap = nullptr;
  good &= cudaMalloc(&heap, 64) == cudaSuccess && heap;
  heap[3] = 1;
  good &= cudaFree(heap) == cudaSuccess;
  const char* text = cudaGetErrorString(cudaErrorInvalidConfiguration);
  good &= text[0] == 'i' && text[8] == 'c';
  good &= cudaEventDestroy(e) == cudaSuccess && cudaStreamDestroy(s) == cudaSuccess;
  p[4] = good && device == 0 && count == 1 && sms == 108;
}
int main() {
  int *p, h[5], order[64] = {}, n;
  cudaMalloc(&p, sizeof h);
  root<<<1, 32>>>(p);
  if (cudaDeviceSynchronize()) return 1;
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  cudaMemcpyFromSymbol(order, log_of, sizeof order);
  cudaMemcpyFromSymbol(&n, logged, sizeof n);
  for (int i = 0; i < n; i++) printf("%d ", order[i]);
  printf("%x %x %d\n", h[0], h[3], h[4]);
}
"""

    def test_what_a_kernel_asks_for_comes_after_it_each_with_all_that_comes_of_it(self):
        outcome = self.record(self.binary, options=["--device", "sm_80,sms=108"])
        tails = "90 91 92 99"  # after all that went before, and what came of that
        self.assertEqual((outcome.code, outcome.out), (0, f"1 10 11 12 19 20 21 22 29 {tails} 3030303 3030303 1\n"), outcome)
        self.assertEqual(self.kernels_in_trace(outcome), 13)
        self.assertIn("3 launches were refused, as on a GPU; the first: kernel leaf: 2048 threads per block", outcome.err)
        self.simulated()


if __name__ == "__main__":
    recorded_program.main()
