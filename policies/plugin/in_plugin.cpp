#include "policies/plugin/in_plugin.hpp"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "core/engine/exit_code.hpp"

namespace atl {
namespace {

constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

/// The file of the plug-in that the program is in, if it is in one.
const char* running = nullptr;
/// What handled kCrashes before: the MPI library's handlers, or nobody.
std::array<struct sigaction, kCrashes.size()> before;

/// Nothing but what a signal handler may call.
void say(std::string_view what) {
  for (const std::string_view part : {std::string_view("atoll: "), std::string_view(running), what})
    if (write(STDERR_FILENO, part.data(), part.size()) < 0) return;
}

void end_in_plugin() {
  if (running == nullptr) return;
  say(": ends the program, before the run is over\n");
  _exit(kExitSimulation);
}

/// The signal comes again when this returns, to what handled it before.
void crash(int number) {
  for (std::size_t i = 0; i < kCrashes.size(); ++i)
    if (kCrashes[i] == number) sigaction(number, &before[i], nullptr);
  if (running != nullptr) say(number == SIGABRT ? ": aborts the program (SIGABRT)\n" : ": crashes; no result is written\n");
  raise(number);
}

void watch() {
  std::atexit(end_in_plugin), std::at_quick_exit(end_in_plugin);
  struct sigaction action {};
  action.sa_handler = crash, action.sa_flags = SA_ONSTACK;
  for (std::size_t i = 0; i < kCrashes.size(); ++i) sigaction(kCrashes[i], &action, &before[i]);
}

/// A policy that calls itself for ever has no stack left to say so.
void give_signals_a_stack() {
  static thread_local std::array<char, 16384> memory;
  static thread_local const int given = [] {
    stack_t stack{};
    stack.ss_sp = memory.data(), stack.ss_size = memory.size();
    return sigaltstack(&stack, nullptr);
  }();
  static_cast<void>(given);
}

}  // namespace

InPlugin::InPlugin(const std::string& file) : folder_(open(".", O_PATH | O_DIRECTORY | O_CLOEXEC)) {
  [[maybe_unused]] static const bool once = (watch(), true);
  give_signals_a_stack();
  std::fegetenv(&rounding_);
  running = file.c_str();
}

InPlugin::~InPlugin() {
  running = nullptr;
  std::fesetenv(&rounding_);
  if (folder_ < 0) return;
  [[maybe_unused]] const int back = fchdir(folder_);
  close(folder_);
}

}  // namespace atl
