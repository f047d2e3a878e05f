// GEMVER: B = A + u1 v1^T + u2 v2^T;  x = beta B^T y + z;  w = alpha B x. B replaces A in place.
//
//   A, B            n x n. Kernel 1 (CTA 32 x 8, one element per thread) reads and writes it, private. Kernel 2: a thread
//                   walks a column, so every CTA reads a part of every row that kernel 1 wrote elsewhere. Kernel 3: a thread
//                   walks a row. Read-only in kernels 2 and 3.
//   u1, v1, u2, v2  read-only in kernel 1; a piece of u is shared by a row of CTAs, a piece of v by a column of CTAs
//   y, z            read-only in kernel 2; y is shared by all CTAs, z is private
//   x               written by kernel 2 (private), read-only in kernel 3, shared by all CTAs
//   w               written by kernel 3, private
#include "common.cuh"

using namespace workload;

__global__ void rank_two_update(float* a, const float* u1, const float* v1, const float* u2, const float* v2, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  const int i = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < n) a[i * n + j] += u1[i] * v1[j] + u2[i] * v2[j];
}

__global__ void transposed_times_vector(float* x, const float* b, const float* y, const float* z, float beta, int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += b[i * n + j] * y[i];
  x[j] = beta * sum + z[j];
}

__global__ void times_vector(float* w, const float* b, const float* x, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int j = 0; j < n; ++j) sum += b[i * n + j] * x[j];
  w[i] = alpha * sum;
}

// The same with the sum in memory (see dense.cuh).
__global__ void transposed_times_vector_in_memory(float* x, const float* b, const float* y, const float* z, float beta,
                                                  int n) {
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= n) return;
  x[j] = 0;
  for (int i = 0; i < n; ++i) x[j] += beta * b[i * n + j] * y[i];
  x[j] += z[j];
}

__global__ void times_vector_in_memory(float* w, const float* b, const float* x, float alpha, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  w[i] = 0;
  for (int j = 0; j < n; ++j) w[i] += alpha * b[i * n + j] * x[j];
}

int main(int argc, char** argv) {
  Args args(argc, argv, "gemver: a rank-2 update, then two matrix-vector products");
  const int n = args.number("n", 1024, 1, 32768, "rows and columns of A");
  const int threads = args.number("threads", 128, 1, 1024, "threads of a CTA of the products");
  const bool in_memory = sum_option(args) == Sum::memory;
  args.done();
  const float alpha = 0.5f, beta = 0.25f;

  const auto a = random_floats(std::size_t(n) * n, 1, -0.1f, 0.1f);
  const auto u1 = random_floats(n, 2), v1 = random_floats(n, 3, -0.1f, 0.1f), u2 = random_floats(n, 4),
             v2 = random_floats(n, 5, -0.1f, 0.1f), y = random_floats(n, 6), z = random_floats(n, 7);
  const DeviceArray<float> device_a(a), device_u1(u1), device_v1(v1), device_u2(u2), device_v2(v2), device_y(y), device_z(z),
      device_x(n), device_w(n);
  const dim3 grid(ceil_div(n, 32), ceil_div(n, 8));
  rank_two_update<<<grid, dim3(32, 8)>>>(device_a, device_u1, device_v1, device_u2, device_v2, n);
  finish_kernel();
  (in_memory ? transposed_times_vector_in_memory : transposed_times_vector)<<<ceil_div(n, threads), threads>>>(
      device_x, device_a, device_y, device_z, beta, n);
  finish_kernel();
  (in_memory ? times_vector_in_memory : times_vector)<<<ceil_div(n, threads), threads>>>(device_w, device_a, device_x, alpha,
                                                                                         n);
  finish_kernel();

  std::vector<double> b(a.begin(), a.end()), x(z.begin(), z.end()), w(n);
  for (int i = 0; i < n; ++i) {
    double* row = &b[std::size_t(i) * n];
    for (int j = 0; j < n; ++j) row[j] += double(u1[i]) * v1[j] + double(u2[i]) * v2[j];
    for (int j = 0; j < n; ++j) x[j] += beta * row[j] * y[i];
  }
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) w[i] += alpha * b[std::size_t(i) * n + j] * x[j];
  }
  Check check;
  check.close("B", device_a.download(), b, 1e-5);
  check.close("x", device_x.download(), x, 1e-3);
  check.close("w", device_w.download(), w, 1e-3);
  return check.report();
}
