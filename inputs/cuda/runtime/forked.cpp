#include <pthread.h>

#include <atomic>
#include <cstdio>

#include "inputs/cuda/runtime/runtime.hpp"

// CUDA is of no use in a process made by fork whose parent had used it. Here its calls would run unrecorded, on copies of
// memory that the parent does not see.
namespace atl::cudart {
namespace {

std::atomic<bool> used{false}, useless{false}, said{false};

void end_use() {
  if (used) useless = true;
}

}  // namespace

void watch_forks() { pthread_atfork(nullptr, nullptr, end_use); }

int refused_here() {
  if (!useless) return used = true, kSuccess;
  if (!said.exchange(true))
    std::fprintf(stderr,
                 "atoll: warning: a process made by fork calls CUDA, which its parent had used before: as on a GPU it gets "
                 "cudaErrorInitializationError\n");
  return kInitializationError;
}

}  // namespace atl::cudart
