#pragma once
#include <cstddef>

#include "inputs/cuda/runtime/abi.hpp"

namespace atl::cudart {
struct Runtime;

struct LaunchRequest {
  const void* kernel = nullptr;  ///< host function or handle
  Dim3 grid, block;
  void** arguments = nullptr;  ///< addresses of the arguments; number and sizes are those of the PTX parameters
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
};

/// Runs the kernel to its end, and records it if it is to be. Returns the runtime's status; throws what ends the program.
int launch(Runtime& r, const LaunchRequest& request);

}  // namespace atl::cudart
