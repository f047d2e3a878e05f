"""Copies of tensors (cp.async.bulk.tensor): boxes in and out of bounds, swizzles, reductions."""

import os

import recorded_program
from recorded_program import RecordTest

TILES = r"""
#include <cuda.h>
#include <cuda/barrier>
#include <cstdio>
#include <vector>
using barrier = cuda::barrier<cuda::thread_scope_block>;
namespace cde = cuda::device::experimental;
static int failures = 0;
#define EXPECT(x) do { if (!(x)) { printf("line %d: %s\n", __LINE__, #x); ++failures; } } while (0)
constexpr int H = 8, W = 32;
__global__ void tile(const __grid_constant__ CUtensorMap map, const __grid_constant__ CUtensorMap out, int x, int y, int* seen,
                     int add) {
  __shared__ alignas(1024) int s[H][W];
  __shared__ barrier bar;
  if (threadIdx.x == 0) { init(&bar, blockDim.x); cde::fence_proxy_async_shared_cta(); }
  __syncthreads();
  barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cde::cp_async_bulk_tensor_2d_global_to_shared(&s, &map, x, y, bar);
    token = cuda::device::barrier_arrive_tx(bar, 1, sizeof s);
  } else {
    token = bar.arrive();
  }
  bar.wait(std::move(token));
  for (int i = threadIdx.x; i < H * W; i += blockDim.x) seen[i] = (&s[0][0])[i];
  for (int i = threadIdx.x; i < H * W; i += blockDim.x) (&s[0][0])[i] += 1000;
  cde::fence_proxy_async_shared_cta();
  __syncthreads();
  if (threadIdx.x == 0) {
    if (add)
      asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];"
                   :: "l"(&out), "r"(x), "r"(y), "r"((unsigned)__cvta_generic_to_shared(&s)) : "memory");
    else
      cde::cp_async_bulk_tensor_2d_shared_to_global(&out, x, y, &s);
    cde::cp_async_bulk_commit_group();
    cde::cp_async_bulk_wait_group_read<0>();
  }
}
static CUtensorMap map_of(int* p, cuuint64_t w, cuuint64_t h, CUtensorMapSwizzle swizzle) {
  CUtensorMap m;
  cuuint64_t size[] = {w, h}, stride[] = {40 * 4};
  cuuint32_t box[] = {W, H}, step[] = {1, 1};
  auto type = CU_TENSOR_MAP_DATA_TYPE_TFLOAT32;
  auto encode = [&] {
    return cuTensorMapEncodeTiled(&m, type, 2, p, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                                  swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  };
  EXPECT(encode() == CUDA_ERROR_NOT_SUPPORTED);  // would be rounded on the way
  type = CU_TENSOR_MAP_DATA_TYPE_INT32, step[1] = 2;
  EXPECT(encode() == CUDA_ERROR_NOT_SUPPORTED);
  step[1] = 1, stride[0] = 40;
  EXPECT(encode() == CUDA_ERROR_INVALID_VALUE);  // rows that do not begin at 16 bytes
  stride[0] = 160;
  EXPECT(!encode());
  return m;
}
int main() {
  cuInit(0); cudaFree(0);
  const int pitch = 40, w = 37, h = 20;
  std::vector<int> in(pitch * h), out(pitch * h), seen(H * W);
  for (int i = 0; i < pitch * h; i++) in[i] = i + 1;
  int *din, *dout, *dseen;
  cudaMalloc(&din, in.size() * 4);
  cudaMalloc(&dout, in.size() * 4);
  cudaMalloc(&dseen, H * W * 4);
  cudaMemcpy(din, in.data(), in.size() * 4, cudaMemcpyHostToDevice);
  for (int swizzle = 0; swizzle < 4; swizzle += 3)
    for (auto [x, y] : {std::pair{0, 0}, {4, 8}, {-4, -3}, {20, 15}, {40, 0}})
      for (int add = 0; add < 2; add++) {
        cudaMemset(dout, 0, in.size() * 4);
        cudaMemset(dseen, 1, H * W * 4);
        if (add) cudaMemcpy(dout, din, in.size() * 4, cudaMemcpyDeviceToDevice);
        auto mi = map_of(din, w, h, (CUtensorMapSwizzle)swizzle), mo = map_of(dout, w, h, (CUtensorMapSwizzle)swizzle);
        tile<<<1, 64>>>(mi, mo, x, y, dseen, add);
        cudaError_t e = cudaDeviceSynchronize(); EXPECT(!e);
        cudaMemcpy(seen.data(), dseen, H * W * 4, cudaMemcpyDeviceToHost);
        cudaMemcpy(out.data(), dout, in.size() * 4, cudaMemcpyDeviceToHost);
        int wrong = 0;
        for (int r = 0; r < H; r++) for (int c = 0; c < W; c++) {
          int gx = x + c, gy = y + r;
          bool inside = gx >= 0 && gx < w && gy >= 0 && gy < h;
          int expected = inside ? in[gy * pitch + gx] : 0;
          int sc = swizzle ? ((c / 4) ^ (r % 8)) * 4 + c % 4 : c;
          wrong += seen[r * W + sc] != expected;
          if (inside) wrong += out[gy * pitch + gx] != expected + 1000 + (add ? expected : 0);
        }
        for (int i = 0; i < pitch * h; i++) {
          int gx = i % pitch - x, gy = i / pitch - y;
          if (i % pitch >= w || gx < 0 || gx >= W || gy < 0 || gy >= H) wrong += out[i] != (add ? in[i] : 0);
        }
        if (wrong) { printf("swizzle %d at %d %d add %d: %d wrong\n", swizzle, x, y, add, wrong); failures++; }
      }
  printf("failures %d\n", failures);
}
"""


class TensorCopies(RecordTest):
    def test_boxes_of_a_matrix_at_its_middle_its_edges_and_beyond(self):
        lib = os.path.join(os.path.dirname(os.path.realpath(recorded_program.NVCC)), "..", "lib64")
        binary = self.compiled(TILES, "-std=c++17", "-arch=compute_90", "-code=compute_90",
                               "-L" + os.path.join(lib, "stubs"), "-lcuda")
        choices: list[list[str]] = [[], ["--check"], ["--schedule-seed", "3"]]
        for options in choices:
            outcome = self.record(binary, options=[*options, "--force"])
            self.assertEqual((outcome.code, outcome.out), (0, "failures 0\n"), outcome)
            self.assertEqual(self.kernels_in_trace(outcome), 20)
            self.assertIn("no races in global memory within a launch", outcome.err)
        self.simulated()


if __name__ == "__main__":
    recorded_program.main()
