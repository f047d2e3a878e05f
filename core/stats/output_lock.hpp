#pragma once
#include <string>

namespace atl {

/// One run at a time writes an output: whoever holds `<path>.lock` does. The kernel takes the lock back when its holder
/// ends, however that is; a file that was left behind locks nothing.
class OutputLock {
 public:
  /// InputError with host and process of who holds it; IoError if the lock cannot be made.
  explicit OutputLock(const std::string& path);
  OutputLock(const OutputLock&) = delete;
  OutputLock& operator=(const OutputLock&) = delete;
  ~OutputLock();

 private:
  std::string name_;
  int file_ = -1;
};

}  // namespace atl
