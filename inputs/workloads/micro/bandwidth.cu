// Bandwidth against footprint and CTAs: read, write and copy over a buffer, several rounds.
//
// Prints GB/s as the program moves them: a copy counts its bytes twice. A footprint that fits into a cache shows the cache's
// bandwidth, a large one the memory's. Data do not stay in the L1: the next round's reader of a line is another SM.
#include "micro.cuh"

using namespace workload;

__global__ void read(const double2* from, double2* out, int count, int rounds) {
  double sum = 0;
  for (int r = 0; r < rounds; ++r) {
    const int shift = r * (blockDim.x * 7 % count) % count;  // another SM reads a line in each round
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
      const double2 v = from[i + shift < count ? i + shift : i + shift - count];
      sum += v.x + v.y;
    }
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = make_double2(sum, 0);
}

__global__ void write(double2* to, int count, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = make_double2(r, i);
  }
}

__global__ void copy(double2* to, const double2* from, int count, int rounds) {
  for (int r = 0; r < rounds; ++r) {
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) to[i] = from[i];
  }
}

int main(int argc, char** argv) {
  Args args(argc, argv, "bandwidth: read, write and copy against footprint");
  const int least = args.number("least", 512, 1, 1 << 24, "smallest footprint, KiB");
  const int most = args.number("most", 2048, 1, 1 << 24, "largest footprint, KiB; each is four times the one before");
  const int rounds = args.number("rounds", 2, 1, 1 << 20, "times that the footprint is gone through");
  const int ctas = args.number("ctas", 64, 1, 1 << 20, "CTAs");
  const int threads = args.number("threads", 256, 32, 1024, "threads of a CTA");
  args.done();

  Check check;
  std::printf("%12s %12s %12s %12s   GB/s, %d CTAs of %d threads\n", "KiB", "read", "write", "copy", ctas, threads);
  for (int kib = least; kib <= most; kib *= 4) {
    const int count = kib * 64;  // 16 bytes each
    const DeviceArray<double2> a(std::vector<double2>(count, make_double2(1, 2))), b(count);
    const DeviceArray<double2> sums(static_cast<std::size_t>(ctas) * threads);
    const double gigabytes = static_cast<double>(rounds) * count * sizeof(double2) / 1e9;
    const Seconds warm([&] { read<<<ctas, threads>>>(a, sums, count, 1); });
    const Seconds reads([&] { read<<<ctas, threads>>>(a, sums, count, rounds); });
    double sum = 0;
    for (const double2& v : sums.download()) sum += v.x;
    check.equal("sum of what was read", std::vector<double>{sum}, std::vector<double>{3.0 * rounds * count});
    const Seconds writes([&] { write<<<ctas, threads>>>(b, count, rounds); });
    const Seconds copies([&] { copy<<<ctas, threads>>>(b, a, count, rounds); });
    check.equal("copied element", std::vector<double>{b.download()[count - 1].y}, std::vector<double>{2.0});
    std::printf("%12d %12.1f %12.1f %12.1f\n", kib, gigabytes / reads.value(), gigabytes / writes.value(),
                2 * gigabytes / copies.value());
  }
  return check.report();
}
