#pragma once
#include <cstddef>

#include "inputs/cuda/runtime/abi.hpp"
#include "inputs/ptx/ir.hpp"

namespace atl::cudart {
struct Runtime;
struct Kernel;

struct LaunchRequest {
  const void* kernel = nullptr;  ///< host function or handle
  Dim3 grid, block;
  void** arguments = nullptr;  ///< addresses of the arguments; number and sizes are those of the PTX parameters
  std::size_t dynamic_shared = 0;
  bool cooperative = false;
};

/// CTAs of the kernel that the whole device holds at a time; at least one for each SM.
std::uint32_t resident_blocks(const Runtime& r, const Kernel& kernel, const ptx::Function& function,
                              const LaunchRequest& request);

/// Runs the kernel to its end, and records it if it is to be. Returns the runtime's status; throws what ends the program.
int launch(Runtime& r, const LaunchRequest& request);

}  // namespace atl::cudart
