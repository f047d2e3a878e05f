#pragma once
#include <cstddef>
#include <vector>

#include "inputs/cuda/runtime/abi.hpp"
#include "inputs/cuda/runtime/streams.hpp"
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
  std::vector<std::byte> parameters{};  ///< where `arguments` is null: the same as a block, laid out as in the PTX
  unsigned device = current_device();
  Dim3 cluster{0, 0, 0};  ///< blocks; 0: as the kernel says
  void* event = nullptr;  ///< that the launch is to record in its stream

  /// Takes what an attribute of cudaLaunchConfig_t or CUlaunchConfig says. The call's status.
  int take(const LaunchAttribute& attribute);
  int take(const LaunchAttribute* attributes, unsigned count);
};

/// The block of a kernel's parameters from the addresses of its arguments.
std::vector<std::byte> parameter_block(const ptx::Function& function, void** arguments);
/// Copies the arguments, which the program may change after the call, into `parameters`. The kernel is known.
void own_parameters(Runtime& r, LaunchRequest& request);
/// From a driver launch's `extra`: pairs of what follows and its value, ended by a zero. False: no such list.
bool parameters_from_extra(void** extra, std::vector<std::byte>& out);

/// Per block: the kernel's launch bounds, or what every kernel may have.
std::uint64_t most_threads(const ptx::Function& function);
/// Bytes of dynamic shared memory that a block may have: what the program has set, or what static memory leaves of 48 KiB.
std::size_t most_dynamic_shared(const Kernel& kernel, const ptx::Function& function);
/// Blocks of a cluster that the kernel was compiled for, or else that the program has set; 0: neither.
Dim3 required_cluster(const Kernel& kernel, const ptx::Function& function);
/// The same of a launch, which may say it, too.
Dim3 cluster_of(const LaunchRequest& request, const Kernel& kernel, const ptx::Function& function);
/// CTAs that its clusters may have.
std::uint64_t most_cluster_blocks(const Kernel& kernel);
/// CTAs of the kernel that the whole device holds at a time; at least one for each SM.
std::uint32_t resident_blocks(const Runtime& r, const Kernel& kernel, const ptx::Function& function,
                              const LaunchRequest& request);

/// Whether the kernel may be launched so: its status.
int check_launch(Runtime& r, const LaunchRequest& request);

/// Makes it a node, while the stream is captured; else as below. Its event is recorded behind it.
int launch_in_stream(Runtime& r, void* stream, LaunchRequest request);

/// Runs the kernel, and records it if it is to be: to its end, or until it waits for something from outside, or after what
/// its stream has got before (backlog.hpp). Returns the runtime's status; throws what ends the program.
int launch(Runtime& r, LaunchRequest request);

}  // namespace atl::cudart
