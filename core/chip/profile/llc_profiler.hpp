#pragma once
#include <vector>

#include "core/chip/profile/chip_request_directory.hpp"
#include "core/chip/profile/sampled_sets.hpp"
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
        sampled_(c),
        clear_(c.sac.crd_clear),
        always_(c.sac.crd_always && row_of(c.llc.organisation).traits.llc_profile) {}

  bool on() const { return on_; }
  /// Requests at home slices are to be told: a profile runs, or the directory follows what lies between profiles.
  bool watches(LlcRole role) const { return on_ || (always_ && role == LlcRole::memory_side); }
  /// A profile begins where there was none, and with a kernel; in the middle of one, other modes that come are not about it.
  /// `changed`: the organisation is another one than before, for which the LLC was flushed.
  void turn(bool on, bool kernel, bool changed) {
    const bool begins = on && (kernel || !on_);
    on_ = on;
    if (changed && clear_ == CrdClear::change) directory_.clear();
    if (!begins) return;
    std::fill(at_home.begin(), at_home.end(), 0);
    std::fill(at_requester.begin(), at_requester.end(), 0);
    crd_requests = crd_hits = 0;
    if (clear_ == CrdClear::profile) directory_.clear();
  }

  /// A request of any chip at its home slice, as memory-side caching routes it; `set` is its set there.
  void home_request(std::uint32_t slice, std::uint32_t set, LineAddr line, std::uint32_t chip, std::uint8_t sectors) {
    at_home[slice] += on_;
    const std::uint32_t sampled = sampled_.find(slice, set);
    if (sampled == SampledSets::kNone) return;
    const bool hit = directory_.access(sampled, line, chip, sectors);
    crd_requests += on_, crd_hits += hit && on_;
  }
  /// A request of the own SMs, for the slice that SM-side caching would send it to.
  void own_request(std::uint32_t slice) { ++at_requester[slice]; }

  std::vector<std::uint64_t> at_home, at_requester;  ///< [slice]
  std::uint64_t crd_requests = 0, crd_hits = 0;

  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(at_home), fixed(at_requester), crd_requests, crd_hits, directory_, on_);
  }

 private:
  ChipRequestDirectory directory_;
  SampledSets sampled_;
  CrdClear clear_;
  bool always_;  ///< only where a policy profiles: with an L2, where none does, other slices ask as well
  bool on_ = false;
};

}  // namespace atl
