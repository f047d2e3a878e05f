#include "core/stats/output_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/engine/error.hpp"

namespace atl {
namespace {

std::string who() {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(::getpid()) + " on " + host.data();
}

std::string written_in(int file) {
  std::array<char, 300> text{};
  const auto size = ::pread(file, text.data(), text.size(), 0);
  return size > 0 ? std::string(text.data(), static_cast<std::size_t>(size)) : "another process";
}

/// The name still leads to the file that was locked: its last holder has not removed it meanwhile.
bool same_file(int file, const std::string& name) {
  struct stat open {
  }, named{};
  return ::fstat(file, &open) == 0 && ::lstat(name.c_str(), &named) == 0 && open.st_dev == named.st_dev &&
         open.st_ino == named.st_ino;
}

}  // namespace

OutputLock::OutputLock(const std::string& path) : name_(path + ".lock") {
  for (;;) {
    file_ = ::open(name_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0666);
    if (file_ < 0) throw IoError(name_, std::string("cannot be made: ") + std::strerror(errno));
    if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      const std::string holder = written_in(file_);
      ::close(file_);
      if (error == EWOULDBLOCK)
        throw InputError(path, "is being written by " + holder + "; wait for it, or give another output");
      if (error != ENOLCK && error != ENOTSUP)
        throw IoError(name_, std::string("cannot be locked: ") + std::strerror(error));
      file_ = -1;  // a file system without locks: as if there were none
      return;
    }
    if (same_file(file_, name_)) break;
    ::close(file_);
  }
  const std::string me = who();
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, me.data(), me.size(), 0) < 0) {
    // A full disk: the lock holds all the same, and only its message lacks a name.
  }
}

OutputLock::~OutputLock() {
  if (file_ < 0) return;
  ::unlink(name_.c_str());  // before the lock goes: whoever waits for the name then makes a new one
  ::close(file_);
}

}  // namespace atl
