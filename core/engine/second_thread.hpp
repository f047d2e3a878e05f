#pragma once
#include <atomic>
#include <exception>
#include <functional>
#include <thread>

namespace atl {

/// Tells the processor that this thread is in a loop that waits.
inline void pause_processor() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// For loops that wait for another thread, which is about to do something: asks the processor again for a moment, then lets
/// others have it.
class ShortWait {
 public:
  void pause() {
    if (++times_ < kSpins) {
      pause_processor();
    } else {
      std::this_thread::yield();
    }
  }

 private:
  static constexpr unsigned kSpins = 2000;
  unsigned times_ = 0;
};

/// A thread that does one piece of work after another for its owner, who goes on meanwhile. It keeps off the owner's
/// processor if there is another: schedulers may leave two threads that wake each other on one for seconds.
class SecondThread {
 public:
  SecondThread() : thread_([this] { serve(); }) {}
  ~SecondThread();
  SecondThread(const SecondThread&) = delete;
  SecondThread& operator=(const SecondThread&) = delete;

  /// `work` must not throw. The piece before must be over.
  void start(std::function<void()> work);
  /// Until it is over.
  void wait();

 private:
  void serve();
  void keep_off(int processor);
  std::function<void()> work_;
  std::atomic<std::uint64_t> started_{0}, ended_{0};
  std::atomic<bool> leaves_{false};
  std::atomic<int> processor_{-1};  ///< that it had last
  std::thread thread_;
};

}  // namespace atl
