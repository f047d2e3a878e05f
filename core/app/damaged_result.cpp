#include "core/app/damaged_result.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "core/stats/hdf5_result_reader.hpp"

namespace atl {
namespace {

constexpr rlim_t kSeconds = 60, kBytesPerSecond = 1 << 20;  ///< of processor time, and more for large files
constexpr rlim_t kBytes = rlim_t{4} << 30, kTimes = 64;     ///< of memory, and more for large files
std::array<char, 512> what_is_read{};                       ///< for a handler, which may not allocate
alignas(16) std::array<char, 16384> own_stack{};            ///< a reader that called itself for ever has none left

void say(const char* text) { [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text)); }

void on_end(int number) {
  say("atoll: ");
  say(what_is_read.data());
  say(number == SIGXCPU ? ": is so damaged that reading it takes for ever; ended\n"
                        : ": is so damaged that HDF5 crashes on it\n");
  _exit(2);
}

void set_bounds(const std::string& path) {
  std::copy_n(path.data(), std::min(path.size(), what_is_read.size() - 1), what_is_read.data());
  stack_t stack{};
  stack.ss_sp = own_stack.data(), stack.ss_size = own_stack.size();
  sigaltstack(&stack, nullptr);
  struct sigaction action {};
  action.sa_handler = on_end;
  action.sa_flags = SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGXCPU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
  std::error_code ignored;
  const auto found = std::filesystem::file_size(path, ignored);
  const rlim_t size = ignored ? 0 : std::min<rlim_t>(found, rlim_t{1} << 40);
  for (const auto& [resource, most] :
       {std::pair{RLIMIT_CPU, kSeconds + size / kBytesPerSecond}, std::pair{RLIMIT_DATA, kBytes + kTimes * size}}) {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0) continue;
    limit.rlim_cur = std::min(limit.rlim_max, most);
    setrlimit(resource, &limit);
  }
}

}  // namespace

void ResultReading::add_to(CLI::App& command) {
  command.add_flag("--force-damaged", force,
                   "read a result whose checksum is missing or wrong: its numbers may mean nothing, and HDF5 may crash");
}

RunResult ResultReading::read(const std::string& path) const {
  set_bounds(path);
  return read_result(path, force ? Unsealed::read : Unsealed::refused);
}

}  // namespace atl
