#include "core/app/stop_signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>

namespace atl {
namespace {

std::atomic<bool> checkpoint_asked{false}, end_asked{false};
static_assert(std::atomic<bool>::is_always_lock_free);  // so that a handler may touch them

void on_signal(int number) {
  if (number == SIGUSR1) {
    checkpoint_asked = true;
  } else if (!end_asked.exchange(true)) {
    alarm(kGraceSeconds);
  }
}

/// Nobody came by to end the run in order.
void on_alarm(int) {
  constexpr char kText[] = "atoll: ended by SIGTERM, without waiting for the other ranks any longer\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(128 + SIGTERM);
}

}  // namespace

void note_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGUSR1, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  action.sa_handler = on_alarm;
  sigaction(SIGALRM, &action, nullptr);
}

void let_stop_signals_end() {
  signal(SIGUSR1, SIG_DFL), signal(SIGTERM, SIG_DFL);
  if (end_asked) raise(SIGTERM);
  if (checkpoint_asked) raise(SIGUSR1);
}

bool take_checkpoint_signal() {
  return checkpoint_asked.load(std::memory_order_relaxed) && checkpoint_asked.exchange(false);
}
bool end_signalled() { return end_asked.load(std::memory_order_relaxed); }

}  // namespace atl
