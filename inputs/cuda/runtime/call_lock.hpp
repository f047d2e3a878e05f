#pragma once
#include <cstdint>
#include <mutex>

namespace atl::cudart {

/// Held during every call of the program, so that calls of several threads run one after the other. A thread that has it
/// may take it again, and let go of it for a while.
class CallLock {
 public:
  void lock() {
    mutex_.lock();
    if (depth_++ == 0) ++calls_;
  }
  void unlock() {
    --depth_;
    mutex_.unlock();
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    if (depth_++ == 0) ++calls_;
    return true;
  }

  /// By the thread that has it: other threads may call meanwhile.
  template <typename Body> void without(Body&& body) {
    const unsigned depth = depth_;
    for (unsigned n = 0; n < depth; ++n) unlock();
    body();
    for (unsigned n = 0; n < depth; ++n) mutex_.lock(), ++depth_;
  }
  /// How often a call of the program took it.
  std::uint64_t calls() const { return calls_; }

 private:
  std::recursive_mutex mutex_;
  unsigned depth_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace atl::cudart
