#pragma once
#include <mutex>

namespace atl {

/// Held around calls of HDF5 in what ranks do at the same time (`--threads`: each rank opens its trace for itself). The
/// library keeps one table of open objects for all files of a process. Debian's guards it (H5_HAVE_THREADSAFE), others do
/// not, and the C++ classes promise nothing in either case; with this lock it does not matter which one is installed. It
/// costs nothing beside the library's own, which is as coarse. Not to be taken twice by one thread.
class [[nodiscard]] Hdf5Lock {
 public:
  Hdf5Lock() : lock_(mutex()) {}

 private:
  /// One in a process, as the library's table is.
  static std::mutex& mutex() {
    static std::mutex the_mutex;
    return the_mutex;
  }
  std::lock_guard<std::mutex> lock_;
};

}  // namespace atl
