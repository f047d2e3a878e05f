#include "core/app/child_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "comm/launcher.hpp"
#include "core/app/tell.hpp"
#include "core/engine/error.hpp"
#include "core/engine/exit_code.hpp"

namespace atl {
namespace {

/// Signals that end a program which does not care. One that is ignored (nohup, a job in the background) stays ignored.
sigset_t ending_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN) sigaddset(&set, number);
  }
  return set;
}

/// Ours, without what an MPI launcher told this process about itself: the child is no rank of that job.
std::vector<char*> child_environment() {
  std::vector<char*> out;
  for (char** variable = environ; *variable; ++variable) {
    if (!is_launchers(*variable)) out.push_back(*variable);
  }
  out.push_back(nullptr);
  return out;
}

/// In the child, between fork and exec.
[[noreturn]] void become(char* const* argv, char* const* envp, int log, pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) _exit(kExitNotExecutable);  // it ended before prctl
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  const int nothing = open("/dev/null", O_RDONLY);
  if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(log, 1) < 0 || dup2(log, 2) < 0) _exit(kExitNotExecutable);
  execvpe(argv[0], argv, envp);
  tell("atoll: {}: cannot be started ({})\n", argv[0], std::strerror(errno));
  _exit(kExitNotFound);
}

}  // namespace

std::string this_program() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw IoError("/proc/self/exe", "does not tell where this program is: " + error.message());
  return self.string();
}

LockedLog::LockedLog(const std::string& path) {
  for (;;) {
    fd_ = open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (fd_ < 0) throw IoError(path, std::string("cannot be written (") + std::strerror(errno) + ")");
    owned_ = flock(fd_, LOCK_EX | LOCK_NB) == 0;
    struct stat locked, named;
    if (!owned_ || (fstat(fd_, &locked) == 0 && stat(path.c_str(), &named) == 0 && locked.st_ino == named.st_ino)) break;
    close(fd_);  // whoever had it has removed it since we opened it
  }
  const bool taken = !owned_ && errno == EWOULDBLOCK;
  if (taken || (owned_ && ftruncate(fd_, 0) == 0)) return;
  const std::string what = owned_ ? "cannot be written" : "cannot be locked; use another folder for the results";
  const int error = errno;
  close(fd_);
  throw IoError(path, fmt::format("{} ({})", what, std::strerror(error)));
}

LockedLog::~LockedLog() { close(fd_); }

bool is_being_written(const std::string& log) {
  const int fd = open(log.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool taken = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(fd);
  return taken;
}

pid_t start_process(const std::vector<std::string>& command, const LockedLog& log) {
  std::vector<char*> argv;
  for (const std::string& word : command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::vector<char*> envp = child_environment();
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw IoError(command[0], std::string("no further process can be started (") + std::strerror(errno) + ")");
  if (child == 0) become(argv.data(), envp.data(), log.descriptor(), parent);
  setpgid(child, child);  // in both: whoever comes first
  return child;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return WEXITSTATUS(status) == 0 ? "" : fmt::format("exit code {}", WEXITSTATUS(status));
}

SignalWatch::SignalWatch() {
  signal(SIGCHLD, SIG_DFL);  // ignored, as some parents leave it, it would take the exit codes of children away
  sigset_t set = ending_signals();
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_BLOCK, &set, nullptr);
}

SignalWatch::~SignalWatch() {
  sigset_t set = ending_signals();
  sigaddset(&set, SIGCHLD);
  sigprocmask(SIG_UNBLOCK, &set, nullptr);
}

int SignalWatch::wait(int milliseconds) const {
  sigset_t set = ending_signals();
  sigaddset(&set, SIGCHLD);
  const timespec time{milliseconds / 1000, milliseconds % 1000 * 1000000L};
  const int number = sigtimedwait(&set, nullptr, &time);
  return number == SIGCHLD || number < 0 ? 0 : number;
}

}  // namespace atl
