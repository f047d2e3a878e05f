#include "core/engine/second_thread.hpp"

#include <pthread.h>
#include <sched.h>

#include <utility>

namespace atl {

SecondThread::~SecondThread() {
  leaves_ = true;
  ++started_;
  started_.notify_one();
  thread_.join();
}

void SecondThread::start(std::function<void()> work) {
  if (const int mine = sched_getcpu(); mine >= 0 && mine == processor_.load(std::memory_order_relaxed)) keep_off(mine);
  work_ = std::move(work);
  ++started_;
  started_.notify_one();
}

void SecondThread::wait() {
  for (ShortWait w; ended_ != started_;) w.pause();
}

void SecondThread::keep_off(int processor) {
  cpu_set_t others;
  if (sched_getaffinity(0, sizeof others, &others) != 0) return;  // of the owner
  CPU_CLR(static_cast<std::size_t>(processor), &others);
  if (CPU_COUNT(&others) != 0) pthread_setaffinity_np(thread_.native_handle(), sizeof others, &others);
}

/// Work mostly comes in quick succession: it looks for the next for some microseconds before it sleeps.
void SecondThread::serve() {
  pthread_setname_np(pthread_self(), "second");
  for (std::uint64_t done = 0;; ended_ = ++done) {
    for (int i = 0; i < 4000 && started_ == done; ++i) pause_processor();
    started_.wait(done);
    if (leaves_) return;
    processor_.store(sched_getcpu(), std::memory_order_relaxed);
    work_();
  }
}

}  // namespace atl
