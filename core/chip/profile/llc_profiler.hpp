#pragma once
#include <vector>

#include "core/chip/profile/chip_request_directory.hpp"
#include "core/engine/archive.hpp"

namespace atl {

/// What one chip counts while SAC profiles a kernel (SAC section 3.2): requests per slice as memory-side and as SM-side
/// caching route them, and the Chip Request Directory.
class LlcProfiler {
 public:
  explicit LlcProfiler(const SystemConfig& c)
      : at_home(c.llc.slices),
        at_requester(c.llc.slices),
        directory_(c),
        keep_(c.sac.crd_keep),
        slices_per_set_(std::max(1u, c.llc.slices / c.sac.crd_sets)),
        sets_per_slice_(std::max(1u, c.sac.crd_sets / c.llc.slices)),
        set_step_(c.llc.size_kib * 1024 / c.line_bytes / c.llc.ways / c.llc.slices / sets_per_slice_) {}

  bool on() const { return on_; }
  void turn(bool on) {
    on_ = on;
    if (!on) return;
    std::fill(at_home.begin(), at_home.end(), 0);
    std::fill(at_requester.begin(), at_requester.end(), 0);
    crd_requests = crd_hits = 0;
    if (!keep_) directory_.clear();
  }

  /// A request of any chip at its home slice, as memory-side caching routes it; `set` is its set there.
  void home_request(std::uint32_t slice, std::uint32_t set, LineAddr line, std::uint32_t chip, std::uint8_t sectors) {
    ++at_home[slice];
    // The sampled sets lie apart in different slices, so that no pattern of addresses meets all or none of them.
    if (slice % slices_per_set_ != 0 || set % set_step_ != (slice * 37 + 5) % set_step_) return;
    const std::uint32_t sampled = slice / slices_per_set_ * sets_per_slice_ + set / set_step_;
    ++crd_requests;
    crd_hits += directory_.access(sampled, line, chip, sectors);
  }
  /// A request of the own SMs, for the slice that SM-side caching would send it to.
  void own_request(std::uint32_t slice) { ++at_requester[slice]; }

  std::vector<std::uint64_t> at_home, at_requester;  ///< [slice]
  std::uint64_t crd_requests = 0, crd_hits = 0;

  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, at_home, at_requester, crd_requests, crd_hits, directory_, on_);
  }

 private:
  ChipRequestDirectory directory_;
  bool keep_, on_ = false;
  std::uint32_t slices_per_set_, sets_per_slice_, set_step_;
};

}  // namespace atl
