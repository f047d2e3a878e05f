// Latency against footprint: one thread follows a chain of pointers that meets every line of a buffer once, in random order.
//
// Prints nanoseconds and cycles for each load. Under the recorder the chain is followed and recorded, and the clock tells
// nothing. --far 1 runs the chain on the last SM instead of the first: on a GPU of two dies or partitions compare both.
#include "micro.cuh"

using namespace workload;

__global__ void chase(const unsigned long long* start, unsigned long long* last, long long* ticks, int loads, int block) {
  if (static_cast<int>(blockIdx.x) != block) return;
  const unsigned long long* p = start;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < loads; ++i) p = reinterpret_cast<const unsigned long long*>(*p);
  *last = reinterpret_cast<unsigned long long>(p);  // before the clock is read: the chain has ended
  *ticks = clock64() - begin;
}

int main(int argc, char** argv) {
  Args args(argc, argv, "chase: latency of dependent loads against footprint");
  const int least = args.number("least", 16, 1, 1 << 22, "smallest footprint, KiB");
  const int most = args.number("most", 2048, 1, 1 << 22, "largest footprint, KiB; each is twice the one before");
  const int loads = args.number("loads", 4096, 1, 1 << 28, "loads of each footprint, after a first round");
  const int far = args.number("far", 0, 0, 1, "1: run on the last SM");
  args.done();

  const int block = far != 0 ? multiprocessors() - 1 : 0;
  DeviceArray<unsigned long long> last(1);
  DeviceArray<long long> ticks(1);
  Check check;
  std::printf("%12s %12s %12s\n", "KiB", "ns", "cycles");
  for (int kib = least; kib <= most; kib *= 2) {
    const int lines = kib * 8;
    const std::vector<int> order = random_order(lines);
    DeviceArray<unsigned long long> buffer(static_cast<std::size_t>(lines) * kLineWords);
    std::vector<unsigned long long> chain(static_cast<std::size_t>(lines) * kLineWords);
    const auto address = [&](int line) {
      return reinterpret_cast<unsigned long long>(static_cast<unsigned long long*>(buffer) + static_cast<std::size_t>(line) * kLineWords);
    };
    for (int i = 0; i < lines; ++i) chain[static_cast<std::size_t>(order[i]) * kLineWords] = address(order[(i + 1) % lines]);
    buffer.upload(chain);
    const auto* first = static_cast<unsigned long long*>(buffer) + static_cast<std::size_t>(order[0]) * kLineWords;
    chase<<<block + 1, 1>>>(first, last, ticks, lines, block);
    finish_kernel();
    const Seconds seconds([&] { chase<<<block + 1, 1>>>(first, last, ticks, loads, block); });
    std::printf("%12d %12.1f %12.1f\n", kib, seconds.value() / loads * 1e9, static_cast<double>(ticks.download()[0]) / loads);
    check.equal("end of the chain", last.download(), std::vector<unsigned long long>{address(order[loads % lines])});
  }
  return check.report();
}
