#include "core/engine/second_thread.hpp"

#include <pthread.h>

#include <utility>

namespace atl {

SecondThread::~SecondThread() {
  leaves_ = true;
  ++started_;
  started_.notify_one();
  thread_.join();
}

void SecondThread::start(std::function<void()> work) {
  work_ = std::move(work);
  ++started_;
  started_.notify_one();
}

void SecondThread::wait() {
  for (ShortWait w; ended_ != started_;) w.pause();
}

/// Work mostly comes in quick succession: it looks for the next for some microseconds before it sleeps.
void SecondThread::serve() {
  pthread_setname_np(pthread_self(), "second");
  for (std::uint64_t done = 0;; ended_ = ++done) {
    for (int i = 0; i < 4000 && started_ == done; ++i) __builtin_ia32_pause();
    started_.wait(done);
    if (leaves_) return;
    work_();
  }
}

}  // namespace atl
