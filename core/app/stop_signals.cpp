#include "core/app/stop_signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>

#include "core/engine/exit_code.hpp"

namespace atl {
namespace {

std::atomic<bool> checkpoint_asked{false}, end_asked{false};
/// `unsure`: somebody at the terminal is to be asked.
enum class Interrupt : unsigned char { none, unsure, sure };
std::atomic<Interrupt> interrupt{Interrupt::none};
std::atomic<bool> somebody_there{false};
static_assert(std::atomic<bool>::is_always_lock_free &&
              std::atomic<Interrupt>::is_always_lock_free);  // so that a handler may touch them

void on_signal(int number) {
  if (number == SIGUSR1) {
    checkpoint_asked = true;
  } else if (!end_asked.exchange(true)) {
    alarm(kGraceSeconds);
  }
}

void on_interrupt(int) {
  const auto now = somebody_there ? Interrupt::unsure : Interrupt::sure;
  if (interrupt.exchange(now) == Interrupt::none) return;
  signal(SIGINT, SIG_DFL);
  raise(SIGINT);
}

/// Nobody came by to end the run in order.
void on_alarm(int) {
  constexpr char kText[] = "atoll: ended by SIGTERM, without waiting for the other ranks any longer\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kText, sizeof kText - 1);
  _exit(kExitTerminated);
}

bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
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
  if (is_ignored(SIGINT)) return;  // a job in the background
  somebody_there = isatty(STDIN_FILENO) == 1 && isatty(STDERR_FILENO) == 1;
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, nullptr);
}

void let_stop_signals_end() {
  signal(SIGUSR1, SIG_DFL), signal(SIGTERM, SIG_DFL);
  if (interrupt != Interrupt::none || !is_ignored(SIGINT)) signal(SIGINT, SIG_DFL);
  if (interrupt != Interrupt::none) raise(SIGINT);
  if (end_asked) raise(SIGTERM);
  if (checkpoint_asked) raise(SIGUSR1);
}

bool take_checkpoint_signal() {
  return checkpoint_asked.load(std::memory_order_relaxed) && checkpoint_asked.exchange(false);
}
bool interrupted() { return interrupt.load(std::memory_order_relaxed) == Interrupt::sure; }

bool interrupted_for_sure(unsigned long long cycle) {
  if (interrupt.load(std::memory_order_relaxed) == Interrupt::unsure) {
    std::fprintf(stderr, "\natoll: at cycle %llu: end here, and keep the result so far, marked as incomplete? [y/n] ",
                 cycle);
    std::fflush(stderr);
    std::array<char, 64> answer{};
    ssize_t size = 0;
    while ((size = read(STDIN_FILENO, answer.data(), answer.size())) < 0 && errno == EINTR) {
    }
    const bool goes_on = size > 0 && (answer[0] == 'n' || answer[0] == 'N');
    interrupt = goes_on ? Interrupt::none : Interrupt::sure;
  }
  return interrupted();
}

bool end_signalled() { return end_asked.load(std::memory_order_relaxed); }

}  // namespace atl
