#pragma once
#include <algorithm>
#include <vector>

#include "core/chip/base/packet.hpp"
#include "core/chip/llc/protocol/home_agent.hpp"
#include "core/engine/archive.hpp"

namespace atl {

class LlcSlice;

/// Slices under a home directory (REC and its baseline, HMG), one slice's part; the directory is the chip's (HomeAgent). The
/// requester's slice keeps remote lines, which are never dirty, since its writes go through to the home. The home's slice
/// always has the data: other chips' reads are looked up and placed in it, as MGPUSim does. Invalidations are not waited
/// for, but at the end of a kernel.
///
/// Requests of other chips never wait for a link here: invalidations leave by lanes of their own at the write port. Those
/// lanes need no limit: each invalidation ends the tracking of a copy that a chip was given before. HMG and REC send them in
/// the background and name no queue; `coherence.invalidation_queue` has the own SMs' writes wait for one.
class Home {
 public:
  /// `slices`: of a home that invalidate lines of this slice; 0: the one that has its number.
  Home(std::uint32_t chips, std::uint32_t slices)
      : slices_(std::max(slices, 1u)), own_number_(slices == 0), owed_(chips * slices_) {}
  void connect(HomeAgent& agent) { agent_ = &agent; }

  /// Serves a request at the home or at the requester. False: its queue waits.
  bool process(LlcSlice& s, const Packet& p, std::uint32_t queue);
  /// An atomic has executed here: all copies end.
  void atomic(LineAddr line) { agent_->atomic(line); }
  /// Sends the acknowledgements that have gathered.
  void acknowledge(LlcSlice& s);
  /// A write of the own SMs finds room for the invalidations that it may cause.
  bool invalidation_room(const LlcSlice& s) const;
  /// The agent's: ends the copies of `line`, one of this slice, in these chips. Those `told` get a message of its range
  /// anyway, which names this line, too.
  void send_invalidations(LlcSlice& s, LineAddr line, std::uint64_t chips, std::uint64_t told, InvalidationCause cause);
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fixed(owed_), acks_timed_); }

 private:
  bool take_invalidation(LlcSlice& s, const Packet& p);
  bool write_both(LlcSlice& s, const Packet& p, std::uint32_t queue);

  HomeAgent* agent_ = nullptr;
  std::uint32_t slices_;
  bool own_number_;
  std::vector<std::uint32_t> owed_;  ///< [chip][slice] invalidations taken from it and not yet acknowledged
  bool acks_timed_ = false;
};

}  // namespace atl
