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
    took();
  }
  void unlock() {
    --depth_, --held();
    mutex_.unlock();
  }
  bool try_lock() {
    if (!mutex_.try_lock()) return false;
    took();
    return true;
  }

  /// By the thread that has it: other threads may call meanwhile.
  template <typename Body> void without(Body&& body) {
    const unsigned depth = depth_;
    for (unsigned n = 0; n < depth; ++n) unlock();
    body();
    for (unsigned n = 0; n < depth; ++n) mutex_.lock(), ++depth_, ++held();
  }
  /// How often a call of the program took it.
  std::uint64_t calls() const { return calls_; }
  /// Whether the calling thread has it: a signal may have come in the middle of what it does there.
  static bool held_here() { return held() != 0; }

 private:
  static unsigned& held() {
    static thread_local unsigned held = 0;
    return held;
  }
  void took() {
    ++held();
    if (depth_++ == 0) ++calls_;
  }

  std::recursive_mutex mutex_;
  unsigned depth_ = 0;
  std::uint64_t calls_ = 0;
};

}  // namespace atl::cudart
