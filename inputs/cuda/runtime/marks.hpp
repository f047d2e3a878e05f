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
  LaunchMarks(const Binary& binary, const ptx::LaunchSpec& spec, const ptx::Device& device);

  /// The analysis takes the memory behind different parameters for different. Where two point into one allocation, a load
  /// that is marked read-only may read what the kernel writes; then no mark of this launch counts.
  bool hold() const;
  /// Loads by ld.global.nc, which the program promises to be of memory that nobody writes, read nothing that the launch may
  /// write.
  bool nc_holds() const;
  /// The same of what textures lie in. (CUDA lets a kernel read by a texture, and then write.)
  bool textures_hold() const;
  /// For `atoll record --check`: allocations of read-only structures, which no store may touch.
  std::vector<ptx::ReadOnlyClaim> claims() const;

 private:
  /// Whether all loads of which `counts` says so read only what the launch leaves as it is.
  template <class Counts> bool unwritten(Counts counts) const;

  const ptx::Module& module_;
  const ptx::KernelAccess& access_;
  const ptx::Device& device_;
  std::vector<ptx::Allocation> places_;  // by structure; of size 0: none
  std::vector<std::uint64_t> values_;    // pointers, or handles
  bool astray_ = false;                  // a pointer that is used leads into no allocation, perhaps next to one
};

}  // namespace atl::cudart
