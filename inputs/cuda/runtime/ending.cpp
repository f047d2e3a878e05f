#include "inputs/cuda/runtime/ending.hpp"

#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iterator>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

#include "core/engine/error.hpp"
#include "core/engine/exit_code.hpp"
#include "inputs/cuda/record_options.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

// A signal may arrive anywhere, inside malloc or inside HDF5, so its handler does nothing but wake a thread that waits for
// it. That thread completes the trace while the handler waits: the program is not to go on. A thread that is in a call of
// CUDA may have what the trace needs, and goes on to the end of the call.
namespace atl::cudart {
namespace {

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGALRM};
constexpr int kCrashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
// A crash inside malloc leaves it locked: then what was flushed is saved behind the program's end (TraceWriter::salvage).
constexpr int kSilentSeconds = 2, kPatienceSeconds = 20;

sem_t wake, saved;
std::atomic<int> signal_seen{0};
std::atomic<std::time_t> seen_at{0};  ///< the first interrupt; 0: none yet
std::atomic<pid_t> owner{0};
pthread_t saver;
std::atomic<bool> saver_runs{false};

bool mine() { return owner.load() == getpid(); }

void save(const std::string& why) {
  try {
    runtime().recording.finish(why);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "atoll: %s\n", e.what());
  }
}

void die_of(int number) {
  signal(number, SIG_DFL);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, number);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  kill(getpid(), number);
}

void wait_for_signals() {
  saver = pthread_self();
  while (sem_wait(&wake) != 0) {
  }
  const int number = signal_seen.load();
  save(std::string("the program was ended by ") + strsignal(number));
  sem_post(&saved);
  for (const int interrupt : kInterrupts)
    if (interrupt == number) die_of(number);
}

/// Whether the trace was completed by then.
bool wait_until(const timespec& time) {
  int failed = 0;
  while ((failed = sem_timedwait(&saved, &time)) != 0 && errno == EINTR) {
  }
  return failed == 0;
}

timespec after(int seconds) {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += seconds;
  return time;
}

/// A signal from outside may have come inside malloc, which the other thread needs then; raise() is not called from there.
void on_interrupt(int number, siginfo_t* info, void*) {
  int none = 0;
  std::time_t never = 0;
  if (!mine()) return die_of(number);
  if (signal_seen.compare_exchange_strong(none, number)) sem_post(&wake);
  // Whoever asks again has waited long enough: a program that has damaged its heap may hold what the trace needs for ever.
  // Then `atoll record` makes it of what was flushed, as behind any SIGKILL.
  if (const std::time_t now = after(0).tv_sec;
      !seen_at.compare_exchange_strong(never, now) && now - never > kPatienceSeconds)
    kill(getpid(), SIGKILL);
  if (CallLock::held_here() || pthread_equal(pthread_self(), saver)) return;
  const bool own = info->si_code == SI_TKILL && info->si_pid == getpid();
  const int before = errno;
  if (wait_until(after(own ? kPatienceSeconds : kSilentSeconds))) {
    sem_post(&saved);  // for the next thread that waits
    wait_for_end();
  }
  errno = before;
}

// Another thread may crash while the trace is being completed: it waits as well, or it would end the program before.
void on_crash(int number, siginfo_t*, void*) {
  if (!mine() || pthread_equal(pthread_self(), saver)) return die_of(number);
  int none = 0;
  const bool first = signal_seen.compare_exchange_strong(none, number);
  if (first) sem_post(&wake);
  timespec until = after(kSilentSeconds);
  if (!wait_until(until)) {
    constexpr std::string_view kWaits =
        "atoll: the program has crashed; its trace is being completed, for up to 20 seconds\n";
    [[maybe_unused]] const auto written = first ? write(STDERR_FILENO, kWaits.data(), kWaits.size()) : 0;
    until.tv_sec += kPatienceSeconds - kSilentSeconds;
    wait_until(until);
  }
  sem_post(&saved);  // for the next thread that waits
  die_of(number);
}

/// Takes a signal that is left to the system.
void take(int number) {
  struct sigaction action {};
  if (sigaction(number, nullptr, &action) != 0 || action.sa_handler != SIG_DFL) return;
  const bool crash = std::find(std::begin(kCrashes), std::end(kCrashes), number) != std::end(kCrashes);
  action = {};
  action.sa_sigaction = crash ? on_crash : on_interrupt;
  action.sa_flags = SA_ONSTACK | SA_RESTART | SA_SIGINFO;
  sigaction(number, &action, nullptr);
}

std::array<struct sigaction, NSIG> of_program;  ///< the handlers that stood when the trace was opened

/// The program's handler may give the signal back to the system and raise it again, so that the program ends by it: that of
/// Fortran's library does, once it has shown where the program was. What it raises comes when the handler has returned.
void on_program_signal(int number, siginfo_t* info, void* context) {
  const struct sigaction& action = of_program[static_cast<std::size_t>(number)];
  if ((action.sa_flags & SA_SIGINFO) != 0)
    action.sa_sigaction(number, info, context);
  else
    action.sa_handler(number);
  const int before = errno;
  if (mine()) take(number);
  errno = before;
}

/// What the program handles itself stays with its handler, and what it ignores stays ignored.
void stand_behind_program(int number) {
  struct sigaction& action = of_program[static_cast<std::size_t>(number)];
  if (sigaction(number, nullptr, &action) != 0 || action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) return;
  struct sigaction both = action;
  both.sa_sigaction = on_program_signal;
  both.sa_flags |= SA_SIGINFO;
  sigaction(number, &both, nullptr);
}

/// A stack overflow leaves no room for a handler on the stack.
void give_other_stack() {
  stack_t stack{};
  stack.ss_size = 64 * 1024;
  stack.ss_sp = std::malloc(stack.ss_size);
  if (stack.ss_sp) sigaltstack(&stack, nullptr);
}

void at_exit() {
  if (!mine()) return;
  // Another thread may be in a call that does not end.
  Runtime& r = runtime();
  if (r.mutex.try_lock()) {
    const std::lock_guard lock(r.mutex, std::adopt_lock);
    try {
      r.backlog.end(r);
    } catch (...) {
      end_program(std::current_exception());
    }
  }
  save({});
}

void in_child() { runtime().recording.disown(); }

}  // namespace

void save_trace_at_end() {
  owner = getpid();
  std::atexit(at_exit);
  pthread_atfork(nullptr, nullptr, in_child);
  sem_init(&wake, 0, 0), sem_init(&saved, 0, 0);
  std::thread(wait_for_signals).detach();
  saver_runs = true;
  give_other_stack();
  for (const int number : kInterrupts) stand_behind_program(number), take(number);
  for (const int number : kCrashes) stand_behind_program(number), take(number);
}

bool is_ending() { return signal_seen.load(std::memory_order_relaxed) != 0 && mine(); }

void wait_for_end() {
  for (;;) pause();
}

unsigned own_threads() { return saver_runs ? 1 : 0; }

void end_program(const std::exception_ptr& error) {
  std::fflush(stdout);
  int code = kExitSimulation;
  std::string said = "the recorder failed";
  try {
    std::rethrow_exception(error);
  } catch (const IoError& e) {
    said = e.what(), code = kExitFiles;
  } catch (const std::exception& e) {
    said = e.what();
  } catch (...) {
  }
  std::fprintf(stderr, "atoll: %s\n", said.c_str());
  if (mine() && code != kExitFiles) save("the program was ended");
  if (mine() && code == kExitFiles) runtime().recording.abandon();
  syscall(SYS_exit_group, code);
  std::abort();
}

// A program that leaves without cleaning up would leave an unreadable trace.
extern "C" void _exit(int code) {
  if (mine()) save({});
  syscall(SYS_exit_group, code);
  std::abort();
}

extern "C" void _Exit(int code) { _exit(code); }

// Fortran's library gives the signal back to the system before it calls this.
extern "C" void abort() noexcept {
  if (mine()) take(SIGABRT);
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGABRT);
  pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
  raise(SIGABRT);
  for (;;) die_of(SIGABRT);  // the program ignores it, or its handler has returned
}

}  // namespace atl::cudart
