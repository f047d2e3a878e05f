// Shared by the microbenchmarks: time of a kernel, number of SMs, a random order of lines.
#pragma once

#include <chrono>
#include <numeric>

#include "../cuda/common.cuh"

namespace workload {

constexpr int kLineWords = 16;  // of 8 bytes in a line of 128

inline int multiprocessors() {
  int count = 1;
  check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0));
  return count;
}

// A cycle through all lines, by Sattolo's shuffle: the same every time.
inline std::vector<int> random_order(int count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  unsigned long long state = 88172645463325252ull;
  for (int i = count - 1; i > 0; --i) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    std::swap(order[i], order[state % static_cast<unsigned long long>(i)]);
  }
  return order;
}

// Wall-clock time of one launch and what it waits for.
class Seconds {
 public:
  template <class Launch> explicit Seconds(Launch&& launch) {
    finish_kernel();
    const auto begin = std::chrono::steady_clock::now();
    launch();
    finish_kernel();
    value_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }
  double value() const { return value_; }

 private:
  double value_ = 0;
};

}  // namespace workload
