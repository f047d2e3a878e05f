#pragma once
#include "core/chip/base/packet.hpp"
#include "core/chip/llc/protocol/full_map_directory.hpp"
#include "core/engine/archive.hpp"

namespace atl {

class LlcSlice;

/// SAC's hardware coherence of SM-side slices (SAC section 2.1, footnote 3), one slice's part: the directory of its chip's
/// lines and all messages of the protocol. A write changes the writer's copy only, and the home's directory notes the owner
/// and invalidates all other copies, the home's included. A read that finds memory stale is sent on to the owner, which
/// answers it and writes its data back. Nothing is flushed between kernels.
///
/// Requests of other chips never wait for a link here: what they cause leaves through the slice's background port, in the
/// order in which it came up, so that a line's write-back and the next notice of its owner keep their order.
///
/// Operations on a request return whether it has been served; if not, its queue waits.
class FullMap {
 public:
  /// Another chip's read, at the home or referred to the owner.
  bool read(LlcSlice& s, const Packet& p, std::uint32_t queue);
  /// Chip `p.source` has written its copy.
  bool take_notice(LlcSlice& s, const Packet& p, std::uint32_t queue);
  /// The home has this slice end its copy.
  bool invalidate(LlcSlice& s, const Packet& p, std::uint32_t queue);
  /// Another chip has written a line of this home back.
  void written_back(const Packet& p) { directory_.written_back(p.line, p.source); }

  /// A write here has to be made known, since this slice has not been the last to write the line.
  bool announces(LlcSlice& s, const Packet& p, std::uint32_t entry, bool hit) const;
  /// Tells the home, or as the home all others. Room for the notice is the caller's business.
  void announce_write(LlcSlice& s, const Packet& p);

  /// Another chip has written a line of this home, and memory is stale.
  bool elsewhere(LineAddr line) const { return directory_.owner(line) != FullMapDirectory::kNobody; }
  /// Asks `chip`, the line's home or its owner, for sectors that MSHR `entry` waits for.
  void ask(LlcSlice& s, std::uint32_t entry, std::uint8_t sectors, std::uint8_t home, std::uint8_t chip);

  /// No other chip holds a line of this one any more.
  void forget_sharers() { directory_.clear(); }
  const FullMapDirectory& directory() const { return directory_; }  ///< for checks
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, directory_); }

 private:
  friend struct ChipTestAccess;  // seeds faults
  bool read_at_home(LlcSlice& s, const Packet& p, std::uint32_t queue);
  bool read_at_owner(LlcSlice& s, const Packet& p, std::uint32_t queue);
  void refer(LlcSlice& s, const Packet& p, std::uint8_t chip);
  void invalidate_sharers(LlcSlice& s, LineAddr line, std::uint64_t chips);
  void send(LlcSlice& s, const Packet& p);

  FullMapDirectory directory_;
};

}  // namespace atl
