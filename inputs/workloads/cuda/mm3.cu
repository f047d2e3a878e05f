// 3MM: G = (A B)(C D), in three products.
//
//   A, B, C, D  read-only (shared as in dense.cuh)
//   E = A B     written by kernel 1, read-only in kernel 3, where a row is shared by a row of CTAs
//   F = C D     written by kernel 2, read-only in kernel 3, where all rows of CTAs share it
//   G           written by kernel 3, private
#include "dense.cuh"

using namespace workload;

int main(int argc, char** argv) {
  Args args(argc, argv, "mm3: G = (A B)(C D)");
  const int ni = args.number("ni", 160, 1, 32768, "rows of A and G");
  const int nj = args.number("nj", 160, 1, 32768, "columns of B, rows of C");
  const int nk = args.number("nk", 160, 1, 32768, "columns of A, rows of B");
  const int nl = args.number("nl", 160, 1, 32768, "columns of D and G");
  const int nm = args.number("nm", 160, 1, 32768, "columns of C, rows of D");
  const Sum sum = sum_option(args);
  args.done();

  const auto a = random_floats(std::size_t(ni) * nk, 1), b = random_floats(std::size_t(nk) * nj, 2, -1);
  const auto c = random_floats(std::size_t(nj) * nm, 3), d = random_floats(std::size_t(nm) * nl, 4, -1);
  const DeviceArray<float> device_a(a), device_b(b), device_c(c), device_d(d);
  const DeviceArray<float> device_e(std::size_t(ni) * nj), device_f(std::size_t(nj) * nl), device_g(std::size_t(ni) * nl);
  launch_product(device_e, device_a, device_b, ni, nj, nk, 1, 0, sum);
  launch_product(device_f, device_c, device_d, nj, nl, nm, 1, 0, sum);
  launch_product(device_g, device_e, device_f, ni, nl, nj, 1, 0, sum);

  const auto e = cpu_product({}, widen(a), widen(b), ni, nj, nk, 1, 0);
  const auto f = cpu_product({}, widen(c), widen(d), nj, nl, nm, 1, 0);
  Check check;
  check.close("E", device_e.download(), e, 1e-4);
  check.close("F", device_f.download(), f, 1e-4);
  check.close("G", device_g.download(), cpu_product({}, e, f, ni, nl, nj, 1, 0), 1e-3);
  return check.report();
}
