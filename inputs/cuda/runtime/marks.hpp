#pragma once
#include <cstdint>
#include <vector>

#include "inputs/cuda/runtime/device_code.hpp"
#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec.hpp"

namespace atl::cudart {

/// What the read-only analysis of a kernel means for one launch, whose arguments show where the structures lie.
class LaunchMarks {
 public:
  LaunchMarks(const Binary& binary, const ptx::LaunchSpec& spec, const ptx::DeviceMemory& memory);

  /// The analysis takes the memory behind different parameters for different. Where two point into one allocation, a load
  /// that is marked read-only may read what the kernel writes; then no mark of this launch counts.
  bool hold() const;
  /// For `atoll record --check`: allocations of read-only structures, which no store may touch.
  std::vector<ptx::ReadOnlyClaim> claims() const;

 private:
  const ptx::Module& module_;
  const ptx::KernelAccess& access_;
  std::vector<ptx::Allocation> places_;  // by structure; of size 0: none
  bool astray_ = false;                  // a pointer that is used leads into no allocation, perhaps next to one
};

}  // namespace atl::cudart
