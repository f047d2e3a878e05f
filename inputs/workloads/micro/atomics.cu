// Throughput of atomics: every thread adds to one of so many lines, from all on a single line to one line each.
//
// Prints 10^9 atomics per second. Lanes of a warp add to different words of a line, which hardware does in one pass.
#include "micro.cuh"

using namespace workload;

__global__ void add(unsigned int* data, int lines, int each) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  for (int i = 0; i < each; ++i) {
    const int line = (warp + i * 17) % lines;
    atomicAdd(&data[line * 32 + threadIdx.x % 32], 1u);
  }
}

int main(int argc, char** argv) {
  Args args(argc, argv, "atomics: throughput against the number of lines");
  const int most = args.number("most", 4096, 1, 1 << 24, "largest number of lines; each is eight times the one before");
  const int each = args.number("each", 8, 1, 1 << 24, "atomics of a thread");
  const int ctas = args.number("ctas", 64, 1, 1 << 20, "CTAs");
  const int threads = args.number("threads", 256, 32, 1024, "threads of a CTA, a multiple of 32");
  args.done();
  if (threads % 32 != 0) fail("--threads must be a multiple of 32");

  Check check;
  const double count = static_cast<double>(ctas) * threads * each;
  std::printf("%12s %12s   %d CTAs of %d threads\n", "lines", "G/s", ctas, threads);
  for (long long lines = 1; lines <= most; lines *= 8) {
    const DeviceArray<unsigned int> data(std::vector<unsigned int>(static_cast<std::size_t>(lines) * 32));
    const Seconds warm([&] { add<<<ctas, threads>>>(data, static_cast<int>(lines), 0); });
    const Seconds seconds([&] { add<<<ctas, threads>>>(data, static_cast<int>(lines), each); });
    double sum = 0;
    for (const unsigned int v : data.download()) sum += v;
    check.equal("sum of all", std::vector<double>{sum}, std::vector<double>{count});
    std::printf("%12lld %12.2f\n", lines, count / seconds.value() / 1e9);
  }
  return check.report();
}
