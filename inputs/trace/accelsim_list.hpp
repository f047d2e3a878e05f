#pragma once
#include <string>
#include <vector>

#include "inputs/trace/trace_format.hpp"

namespace atl::accelsim {

/// What a kernelslist.g says: the kernel files in launch order, and the host-to-device copies before and between them.
/// Every other line (MemcpyDtoH, comments) is ignored: nothing in it changes what the GPU executes.
struct KernelList {
  std::vector<std::string> kernels;  ///< paths
  std::vector<TraceAllocation> allocations;
};

KernelList read_kernel_list(const std::string& path);

}  // namespace atl::accelsim
