#pragma once
#include <sys/types.h>

#include <string>
#include <vector>

namespace atl {

/// This program's own file, to be started again.
std::string this_program();

/// A log that its writer keeps locked for as long as it lives, whoever started it.
class LockedLog {
 public:
  /// Opens or creates `path`; IoError if that fails. `owned()` is false if a living process writes to it: it is left alone.
  explicit LockedLog(const std::string& path);
  LockedLog(const LockedLog&) = delete;
  LockedLog& operator=(const LockedLog&) = delete;
  ~LockedLog();
  bool owned() const { return owned_; }
  int descriptor() const { return fd_; }

 private:
  int fd_ = -1;
  bool owned_ = false;
};

/// Whether a living process writes to this log.
bool is_being_written(const std::string& log);

/// Starts `command` in a process group of its own, with its output in `log`. It ends when this process does.
pid_t start_process(const std::vector<std::string>& command, const LockedLog& log);

/// `exit code 2`, `killed by signal 9 (Killed)`, or "" for success.
std::string describe_end(int wait_status);

/// While it lives, a signal that asks to end is an answer of wait() instead of the end of this process.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();
  /// Sleeps until a child ends or `milliseconds` have passed (0), or until a signal asks to end (its number).
  int wait(int milliseconds) const;
};

}  // namespace atl
