#pragma once
#include <vector>

#include "core/chip/base/observer.hpp"
#include "core/chip/base/packet.hpp"
#include "core/chip/profile/chip_request_directory.hpp"
#include "core/chip/profile/sampled_sets.hpp"
#include "core/engine/archive.hpp"
#include "policies/llc/llc_profile.hpp"

namespace atl {

/// What one chip counts while SAC profiles a kernel (SAC section 3.2): requests per slice as memory-side and as SM-side
/// caching route them, and the Chip Request Directory.
class LlcProfiler {
 public:
  explicit LlcProfiler(const SystemConfig& c)
      : slices_(c.llc.slices),
        directory_(c),
        sampled_(c),
        clear_(c.sac.crd_clear),
        always_(c.sac.crd_always && row_of(c.llc.organisation).traits.llc_profile) {
    counts.at_home.resize(slices_), counts.at_requester.resize(std::size_t{c.chips} * slices_);
  }

  bool on() const { return on_; }
  void set_on(bool on) { on_ = on; }
  /// Requests at home slices are to be told: a profile runs, or the directory follows what lies between profiles.
  bool watches(LlcRole role) const { return on_ || (always_ && role == LlcRole::memory_side); }
  /// A profile begins where there was none, and with a kernel; in the middle of one, other modes that come are not about it.
  /// `changed`: the organisation is another one than before, for which the LLC was flushed.
  void turn(bool on, bool kernel, bool changed) {
    const bool begins = on && (kernel || !on_);
    on_ = on;
    if (changed && clear_ == CrdClear::change) directory_.clear();
    if (!begins) return;
    std::fill(counts.at_home.begin(), counts.at_home.end(), 0);
    std::fill(counts.at_requester.begin(), counts.at_requester.end(), 0);
    counts.requests = counts.hits = counts.merges = 0;
    counts.local = counts.remote = counts.crd_requests = counts.crd_hits = 0;
    if (clear_ == CrdClear::profile) directory_.clear();
  }

  /// A request of any chip that its home slice has looked up, in `set` there. Both organisations' slices are counted here,
  /// since requests that still wait for a slice or a link would otherwise be in one count and not in the other.
  /// An atomic is none of them: it goes to the home in either organisation, and leaves the line there.
  void home_request(std::uint32_t slice, std::uint32_t set, Packet p, LlcOutcome outcome) {
    const bool counts_it = on_ && p.kind != PacketKind::atomic;
    if (p.kind == PacketKind::atomic) p.source = p.home;
    if (counts_it) {
      ++counts.at_home[slice], ++counts.at_requester[p.source * slices_ + slice];
      ++counts.requests, counts.hits += outcome == LlcOutcome::hit, counts.merges += outcome == LlcOutcome::merge;
    }
    const std::uint32_t sampled = sampled_.find(slice, set);
    if (sampled == SampledSets::kNone) return;
    const bool hit = directory_.access(sampled, p);
    counts.crd_requests += counts_it, counts.crd_hits += hit && counts_it;
  }
  /// A request of the own SMs, when it leaves them.
  void own_request(const Packet& p) {
    if (p.kind == PacketKind::atomic) return;
    ++(p.home == p.source ? counts.local : counts.remote);
  }

  /// Here `at_requester` is [chip][slice]. A chip that two threads run counts `local` and `remote` with its SMs.
  LlcProfile counts;

  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(counts.at_home), fixed(counts.at_requester), counts.requests, counts.hits, counts.merges, counts.local,
          counts.remote, counts.crd_requests, counts.crd_hits, directory_, on_);
  }

 private:
  std::uint32_t slices_;
  ChipRequestDirectory directory_;
  SampledSets sampled_;
  CrdClear clear_;
  bool always_;  ///< only where a policy profiles: with an L2, where none does, other slices ask as well
  bool on_ = false;
};

}  // namespace atl
