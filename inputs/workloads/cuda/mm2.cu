// 2MM: D = alpha A B C + beta D, in two products.
//
//   A, B  read-only in kernel 1 (shared as in dense.cuh)
//   T     = alpha A B: written by kernel 1 (private), read-only in kernel 2, where a row is shared by a row of CTAs
//   C     read-only in kernel 2
//   D     read and written by kernel 2, private
// T changes between written and shared read-only: a chip that kept lines of T has them invalidated, or reads them remotely.
#include "dense.cuh"

using namespace workload;

int main(int argc, char** argv) {
  Args args(argc, argv, "mm2: D = alpha A B C + beta D");
  const int ni = args.number("ni", 192, 1, 32768, "rows of A and D");
  const int nj = args.number("nj", 192, 1, 32768, "columns of B, rows of C");
  const int nk = args.number("nk", 192, 1, 32768, "columns of A, rows of B");
  const int nl = args.number("nl", 192, 1, 32768, "columns of C and D");
  const Sum sum = sum_option(args);
  args.done();
  const float alpha = 0.25f, beta = 0.75f;

  const auto a = random_floats(std::size_t(ni) * nk, 1), b = random_floats(std::size_t(nk) * nj, 2);
  const auto c = random_floats(std::size_t(nj) * nl, 3, -1), d = random_floats(std::size_t(ni) * nl, 4);
  const DeviceArray<float> device_a(a), device_b(b), device_c(c), device_d(d), device_t(std::size_t(ni) * nj);
  launch_product(device_t, device_a, device_b, ni, nj, nk, alpha, 0, sum);
  launch_product(device_d, device_t, device_c, ni, nl, nj, 1, beta, sum);

  const auto t = cpu_product({}, widen(a), widen(b), ni, nj, nk, alpha, 0);
  Check check;
  check.close("T", device_t.download(), t, 1e-4);
  check.close("D", device_d.download(), cpu_product(widen(d), t, widen(c), ni, nl, nj, 1, beta), 1e-3);
  return check.report();
}
