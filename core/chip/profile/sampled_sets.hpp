#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/engine/split_mix.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// Which sets of a chip's LLC SAC's Chip Request Directory samples. The paper says how many (8), not which: one of each
/// group of slices, or several of each slice, at a place that sac.crd_choice decides. Whatever the choice, sampled sets lie
/// apart in different slices, so that no pattern of addresses meets all or none of them.
class SampledSets {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  explicit SampledSets(const SystemConfig& c)
      : slices_per_set_(std::max(1u, c.llc.slices / c.sac.crd_sets)),
        sets_per_slice_(std::max(1u, c.sac.crd_sets / c.llc.slices)),
        // Who does not profile may have fewer sets than the directory would sample.
        set_step_(std::max(1u, c.llc.size_kib * 1024 / c.line_bytes / c.llc.ways / c.llc.slices / sets_per_slice_)),
        place_(c.llc.slices, kNone) {
    for (std::uint32_t first = 0; first < c.llc.slices; first += slices_per_set_) {
      const std::uint32_t turn = c.sac.crd_choice == 0 ? 0 : mix(c.sac.crd_choice, first, 0) % slices_per_set_;
      const std::uint32_t slice = first + turn;
      place_[slice] = (c.sac.crd_choice == 0 ? slice * 37 + 5 : mix(c.sac.crd_choice, first, 1)) % set_step_;
    }
  }

  /// Number of the directory's set that stands for `set` of `slice`, or kNone.
  std::uint32_t find(std::uint32_t slice, std::uint32_t set) const {
    if (set % set_step_ != place_[slice]) return kNone;
    return slice / slices_per_set_ * sets_per_slice_ + set / set_step_;
  }

 private:
  static std::uint32_t mix(std::uint64_t choice, std::uint64_t slice, std::uint64_t salt) {
    return static_cast<std::uint32_t>(split_mix((choice * 2 + salt) * kSplitMixStep + slice * 0xD1B54A32D192ED03ull) >> 32);
  }

  std::uint32_t slices_per_set_, sets_per_slice_, set_step_;
  std::vector<std::uint32_t> place_;  ///< [slice] remainder of its sampled sets; kNone: it has none
};

}  // namespace atl
