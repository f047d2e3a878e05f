#pragma once
#include <atomic>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/engine/prefetch.hpp"

namespace atl {

/// A queue between two threads: one pushes, the other takes. What was pushed is seen once it is published, and places are
/// free again once they are given back; both may be done for many at a time.
template <class T> class SpscRing {
 public:
  /// `capacity`: rounded up to a power of two.
  explicit SpscRing(std::size_t capacity) : slots_(std::bit_ceil(capacity)), mask_(slots_.size() - 1) {}

  // The thread that pushes.
  bool room(std::size_t n) {
    if (slots_.size() - (pushed_ - given_back_seen_) >= n) return true;
    given_back_seen_ = given_back_.load(std::memory_order_acquire);
    return slots_.size() - (pushed_ - given_back_seen_) >= n;
  }
  /// There must be room. The other thread's processor has the place, and where it is far away each line takes long to come;
  /// stores wait for each other, so that lines are asked for ahead.
  void push(const T& value) {
    prefetch_for_write(&slots_[(pushed_ + kAhead) & mask_]);
    slots_[pushed_++ & mask_] = value;
  }
  /// The other thread has given back all that was published.
  bool all_given_back() const {
    return given_back_.load(std::memory_order_acquire) == published_.load(std::memory_order_relaxed);
  }
  /// Doubles the places. The other thread must have given back all that was published: then it does not look at any.
  void grow() {
    std::vector<T> more(2 * slots_.size());
    for (std::uint64_t n = published_.load(std::memory_order_relaxed); n != pushed_; ++n)
      more[n & (more.size() - 1)] = slots_[n & mask_];
    slots_.swap(more);
    mask_ = slots_.size() - 1;
  }
  void publish() { published_.store(pushed_, std::memory_order_release); }

  // The thread that takes.
  /// The next one; nullptr if none is published.
  const T* first() {
    if (taken_ == published_seen_) {
      published_seen_ = published_.load(std::memory_order_acquire);
      if (taken_ == published_seen_) return nullptr;
    }
    return &slots_[taken_ & mask_];
  }
  void take() { ++taken_; }
  void give_back() { given_back_.store(taken_, std::memory_order_release); }

 private:
  static constexpr std::uint64_t kAhead = 512 / sizeof(T);  // 8 lines
  std::vector<T> slots_;
  std::uint64_t mask_;
  alignas(64) std::uint64_t pushed_ = 0, given_back_seen_ = 0;
  alignas(64) std::uint64_t taken_ = 0, published_seen_ = 0;
  alignas(64) std::atomic<std::uint64_t> published_{0};
  alignas(64) std::atomic<std::uint64_t> given_back_{0};
};

}  // namespace atl
