// GEMM: C = alpha A B + beta C.
//
//   A  ni x nk  read-only, a row is shared by the CTAs of that row of C
//   B  nk x nj  read-only, shared by all rows of CTAs
//   C  ni x nj  read and written, private
#include "dense.cuh"

using namespace workload;

int main(int argc, char** argv) {
  Args args(argc, argv, "gemm: C = alpha A B + beta C");
  const int ni = args.number("ni", 256, 1, 32768, "rows of A and C");
  const int nj = args.number("nj", 256, 1, 32768, "columns of B and C");
  const int nk = args.number("nk", 256, 1, 32768, "columns of A, rows of B");
  const Sum sum = sum_option(args);
  args.done();
  const float alpha = 1.5f, beta = 0.75f;

  const auto a = random_floats(std::size_t(ni) * nk, 1), b = random_floats(std::size_t(nk) * nj, 2);
  const auto c = random_floats(std::size_t(ni) * nj, 3);
  const DeviceArray<float> device_a(a), device_b(b), device_c(c);
  launch_product(device_c, device_a, device_b, ni, nj, nk, alpha, beta, sum);

  Check check;
  check.close("C", device_c.download(), cpu_product(widen(c), widen(a), widen(b), ni, nj, nk, alpha, beta), 1e-4);
  return check.report();
}
