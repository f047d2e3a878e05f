#include "core/stats/durable_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>
#include <utility>

#include "core/engine/error.hpp"
#include "core/engine/file_exists.hpp"

namespace atl {
namespace {

constexpr char kPart[] = ".part";

std::string reason(int error) { return std::generic_category().message(error); }

/// An open descriptor; closing is explicit where its outcome matters.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

bool write_all(int fd, std::span<const char> bytes) {
  while (!bytes.empty()) {
    const auto written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

/// 0, or the errno of the step that failed. A full disk may show up at any of them.
int write_file(const std::string& path, std::span<const char> bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (file.get() < 0) return errno;
  if (!write_all(file.get(), bytes)) return errno;
  if (::fsync(file.get()) != 0 && errno != EINVAL && errno != ENOTSUP) return errno;
  return file.close() == 0 ? 0 : errno;
}

std::filesystem::path folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

/// A rename may be lost in a crash, and a later removal of what it replaces kept. File systems that know no such thing
/// refuse.
void settle_rename(const std::string& path) {
  const Descriptor folder(::open(folder_of(path).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() >= 0) ::fsync(folder.get());
}

}  // namespace

void check_output(const std::string& path, bool force) {
  namespace fs = std::filesystem;
  if (path.empty()) throw InputError("output", "the name of the output file is empty");
  std::error_code error;
  if (fs::is_symlink(fs::symlink_status(path, error)))  // what is written beside and renamed would take its place
    throw InputError(path, "is a symbolic link to " + fs::read_symlink(path, error).string() + "; name the file itself");
  const auto status = fs::status(path, error);
  if (fs::is_directory(status)) throw InputError(path, "is a directory; give the name of a file");
  if (fs::exists(status) && !fs::is_regular_file(status)) throw InputError(path, "exists and is not a regular file");
  if (fs::exists(status) && !force) throw InputError(path, "exists already; use --force to replace it");
  const auto directory = folder_of(path);
  if (!file_exists(directory) || !fs::is_directory(directory))
    throw IoError(path, "there is no directory " + directory.string());
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw IoError(path, "directory " + directory.string() + " is not writable: " + reason(errno));
  }
  if (!fs::exists(path + kPart, error) && error == std::errc::filename_too_long)
    throw IoError(path, "cannot be written: " + error.message());
}

void refuse_inputs(const std::string& path, std::span<const std::string> inputs) {
  std::error_code error;
  for (const std::string& input : inputs)
    if (!input.empty() && std::filesystem::equivalent(path, input, error))
      throw InputError(path, "is what is read here, and would be lost; give the output another name");
}

void probe_output(const std::string& path, std::size_t bytes) {
  const std::string part = path + kPart;
  const Descriptor file(::open(part.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666));
  int error = file.get() < 0 ? errno : ::posix_fallocate(file.get(), 0, static_cast<off_t>(bytes));
  if (error == EINVAL || error == EOPNOTSUPP) error = 0;  // a file system that cannot tell
  if (file.get() >= 0) ::unlink(part.c_str());
  if (error == 0) return;
  const bool room = error == ENOSPC || error == EDQUOT || error == EFBIG;
  throw IoError(path, "cannot be written: " + reason(error) +
                          (room ? " (a result takes " + std::to_string(bytes >> 10) + " KiB and more)" : "") +
                          "; nothing has been simulated");
}

void write_then_rename(const std::string& path, std::span<const char> bytes) {
  const std::string part = path + kPart;
  int error = write_file(part, bytes);
  if (error == 0 && std::rename(part.c_str(), path.c_str()) != 0) error = errno;
  if (error == 0) return settle_rename(path);
  ::unlink(part.c_str());
  throw IoError(path, "not written: " + reason(error));
}

}  // namespace atl
