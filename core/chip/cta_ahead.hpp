#pragma once
#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>
#include <utility>

#include "inputs/workload/workload.hpp"
#include "partition/cta_distribution.hpp"

namespace atl {

/// The programs of the CTAs that a chip will place next, decoded by whichever of its threads waits for the other. What is
/// decoded when makes no difference to the chip.
class CtaAhead {
 public:
  explicit CtaAhead(Workload& workload) : workload_(workload) {}

  /// The kernel from its CTA number `placed` on. Nobody may be decoding.
  void begin(std::uint64_t kernel, const ChipCtas& ctas, std::uint64_t placed) {
    kernel_ = kernel, ctas_ = ctas, decoded_ = taken_ = placed;
  }
  /// The program of the next CTA takes the place of `out`, whose memory is used again.
  void take(CtaProgram& out) {
    const std::uint64_t mine = taken_.load(std::memory_order_relaxed);
    if (mine >= decoded_.load(std::memory_order_acquire)) {
      const std::lock_guard lock(decoding_);  // the other thread may be at this one
      if (mine >= decoded_.load(std::memory_order_relaxed)) decode();
    }
    std::swap(out, program_[mine % kPlaces]);
    taken_.store(mine + 1, std::memory_order_release);
  }
  /// Decodes one if there is one to decode and room for it.
  void work() {
    if (decoded_.load(std::memory_order_relaxed) >= last()) return;
    const std::unique_lock lock(decoding_, std::try_to_lock);
    if (lock && decoded_.load(std::memory_order_relaxed) < last()) decode();
  }

 private:
  static constexpr std::uint64_t kPlaces = 8;
  std::uint64_t last() const { return std::min(ctas_.count(), taken_.load(std::memory_order_acquire) + kPlaces); }
  void decode() {
    const std::uint64_t n = decoded_.load(std::memory_order_relaxed);
    workload_.load_cta(kernel_, ctas_.nth(n), program_[n % kPlaces]);
    decoded_.store(n + 1, std::memory_order_release);
  }

  Workload& workload_;
  std::uint64_t kernel_ = 0;
  ChipCtas ctas_;
  std::mutex decoding_;
  std::array<CtaProgram, kPlaces> program_;
  std::atomic<std::uint64_t> decoded_{0}, taken_{0};
};

}  // namespace atl
