#include "core/engine/standard_descriptors.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace atl;

namespace {

bool is_open(int fd) { return fcntl(fd, F_GETFD) >= 0; }

/// Which of the steps failed, 0: none. In a process that may close its descriptors.
int broken_step() {
  for (int fd = 0; fd < 16; ++fd) close(fd);
  if (open("/dev/null", O_RDONLY) != 0) return 1;
  {
    const StandardDescriptors held;
    if (!is_open(1) || !is_open(2)) return 2;
    if (open("/dev/null", O_RDONLY) != 3) return 3;
    if (write(1, "x", 1) >= 0 || write(2, "x", 1) >= 0) return 4;
  }
  if (!is_open(0) || is_open(1) || is_open(2) || !is_open(3)) return 5;
  close(0);
  const StandardDescriptors held;
  char byte = 0;
  return is_open(0) && read(0, &byte, 1) < 0 ? 0 : 6;
}

}  // namespace

TEST_CASE("descriptors 0 to 2 that are closed are taken while the object is there, and to read or write them still fails") {
  const pid_t child = fork();
  if (child == 0) _exit(broken_step());
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
