#include "core/app/damaged_result.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <new>
#include <string_view>
#include <system_error>

#include "core/app/tell.hpp"
#include "core/control/checkpoint_file.hpp"
#include "core/engine/error.hpp"
#include "core/engine/exit_code.hpp"
#include "core/stats/file_seal.hpp"
#include "core/stats/hdf5_result_reader.hpp"
#include "inputs/trace/trace_workload.hpp"

namespace atl {
namespace {

constexpr rlim_t kSeconds = 60, kBytesPerSecond = 1 << 20;  ///< of processor time, and more for large files
constexpr rlim_t kBytes = rlim_t{4} << 30, kTimes = 64;     ///< of memory, and more for large files
std::array<char, 512> what_is_read{};                       ///< for a handler, which may not allocate
alignas(16) std::array<char, 16384> own_stack{};            ///< a reader that called itself for ever has none left

void say(const char* text) { [[maybe_unused]] const auto written = write(STDERR_FILENO, text, std::strlen(text)); }

const char* what_ended(int number) {
  return number == SIGXCPU ? "is so damaged that reading it takes for ever; ended" : "is so damaged that HDF5 crashes on it";
}

void on_end(int number) {
  for (const char* part : {"atoll: ", static_cast<const char*>(what_is_read.data()), ": ", what_ended(number), "\n"})
    say(part);
  _exit(kExitInput);
}

/// The signals of a reader at its bounds, or without its senses, go to `handler`.
void on_ends(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int number : {SIGXCPU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT}) sigaction(number, &action, nullptr);
}

void say_ends(const std::string& path) {
  std::copy_n(path.data(), std::min(path.size(), what_is_read.size() - 1), what_is_read.data());
  stack_t stack{};
  stack.ss_sp = own_stack.data(), stack.ss_size = own_stack.size();
  sigaltstack(&stack, nullptr);
  on_ends(on_end);
}

void set_bounds(const std::string& path) {
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

/// In a child: reads, and writes what is wrong with the file.
[[noreturn]] void try_to_read(const std::string& path, int complaints) {
  on_ends(SIG_DFL);  // also an interpreter's or a sanitizer's: the parent sees the signal
  set_bounds(path);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  const auto complain = [complaints](std::string_view text) {
    if (write(complaints, text.data(), text.size()) < 0) _exit(kExitOther);
  };
  try {
    static_cast<void>(read_result(path));
  } catch (const std::bad_alloc&) {
    complain("is so damaged that reading it takes all memory; ended");
  } catch (const std::exception& error) {
    complain(error.what());
  }
  _exit(kExitDone);
}

/// All that comes until the other end is closed.
std::string drained(int fd) {
  std::string out;
  std::array<char, 1024> buffer;
  for (;;) {
    const ssize_t n = read(fd, buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return out;
    out.append(buffer.data(), static_cast<std::size_t>(n));
  }
}

/// What is no file is for who reads it to say: a pipe would be waited for.
bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

/// What is read by force looks like any result.
void say_unsealed(const std::string& path) {
  try {
    check_seal(path);
  } catch (const InputError&) {
    tell("atoll: warning: {}: its checksum is missing or does not fit: nothing that is said of it need be true\n", path);
  }
}

}  // namespace

void ResultReading::add_to(CLI::App& command) {
  command.add_flag("--force-damaged", force,
                   "read a result whose checksum is missing or wrong: its numbers may mean nothing, and HDF5 may crash");
}

void refuse_checkpoint(const std::string& path) {
  if (is_file(path) && is_checkpoint(path)) throw InputError(path, "is a checkpoint: `atoll resume` goes on from it");
}

RunResult ResultReading::read(const std::string& path) const {
  say_ends(path);
  set_bounds(path);
  refuse_checkpoint(path);
  if (is_file(path) && has_hdf5_signature(path) && !has_seal(path) && is_trace(path))
    throw InputError(path,
                     "is a trace and no result: `atoll info` shows what is in it, `atoll run --workload` simulates it");
  if (force) say_unsealed(path);
  return read_result(path, force ? Unsealed::read : Unsealed::refused);
}

RunResult read_within_bounds(const std::string& path) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw IoError(path, std::string("no pipe can be made (") + std::strerror(errno) + ")");
  const pid_t child = fork();
  if (child == 0) try_to_read(path, ends[1]);
  close(ends[1]);
  const std::string complaint = child > 0 ? drained(ends[0]) : "";
  close(ends[0]);
  if (child < 0) throw IoError(path, std::string("no further process can be started (") + std::strerror(errno) + ")");
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFSIGNALED(status)) throw InputError(path, what_ended(WTERMSIG(status)));
  const std::string prefix = path + ": ";
  if (!complaint.empty())
    throw InputError(path, complaint.starts_with(prefix) ? complaint.substr(prefix.size()) : complaint);
  if (WEXITSTATUS(status) != 0) throw InputError(path, "is so damaged that the process which tried to read it gave up");
  return read_result(path);
}

}  // namespace atl
