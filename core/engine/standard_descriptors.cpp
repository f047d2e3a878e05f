#include "core/engine/standard_descriptors.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace atl {

StandardDescriptors::StandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
    if (fcntl(fd, F_GETFD) >= 0) continue;
    taken_[fd] = open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) == fd;  // the lowest that is free
  }
}

StandardDescriptors::~StandardDescriptors() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (taken_[fd]) close(fd);
}

}  // namespace atl
