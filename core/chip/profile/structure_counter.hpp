#pragma once
#include <vector>

#include "core/chip/base/packet.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/stats/structure_use.hpp"

namespace atl {

/// Counts what one chip's SMs ask for by data structure. Buckets of equal size divide the addresses from the first structure
/// to the last one, and few structures begin in a bucket. What is to be counted is noted first and looked up many at a time:
/// one by one, each look-up would wait for tables that the simulation has driven out of the host's nearest cache.
class StructureCounter {
 public:
  /// `structures`: by address, none overlapping. Without any, nothing is counted.
  StructureCounter(const std::vector<DataStructure>& structures, std::uint32_t line_bytes, std::uint32_t chips,
                   std::uint8_t chip);

  bool on() const { return !notes_.empty(); }
  /// Nothing of the kernel before is under way any more.
  void begin_kernel(std::uint64_t kernel) { close(), kernel_ = kernel; }
  /// A request of this chip's SMs on its way to an LLC slice.
  void request(const Packet& p) {
    if (on()) note({p.line, 0, static_cast<Use>(p.kind), p.home});
  }
  /// A load that missed in an L1 has its data.
  void answer(LineAddr line, DataOrigin origin, std::uint32_t latency) {
    if (on()) note({line, latency, answered_by(origin), 0});
  }
  /// Ends the kernel that is under way; nothing may follow.
  const StructureLog& log() { return close(), log_; }
  /// Index of the line's structure; the number of structures if it belongs to none.
  std::uint32_t find(LineAddr line) const {
    const std::uint64_t bucket = (line.value - first_) >> shift_;  // lines before the first lie behind the last bucket
    if (bucket >= buckets_) return others();
    std::uint32_t at = begin_at_[bucket];
    for (std::uint32_t n = begin_at_[bucket + 1] - at; n != 0;) {  // the last one that does not begin after the line
      const std::uint32_t half = (n + 1) / 2;
      if (ranges_[at + half].begin <= line.value) {
        at += half, n -= half;
      } else {
        n = half - 1;
      }
    }
    return line.value - ranges_[at].begin < ranges_[at].lines ? at : others();
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    const std::size_t homes = log_.homes.size();
    state(a, fixed(count_), log_, kernel_, fixed(notes_), noted_);
    require_state(log_.homes.size() == homes);
  }
  void check(const StateCheck& s, std::uint64_t kernels) const;  // state_check.cpp

 private:
  struct Range {
    std::uint64_t begin, lines;
  };
  /// A request, or the answer to a load.
  struct Note {
    using PlainState = void;
    LineAddr line;
    std::uint32_t latency = 0;
    Use use = Use::reads;
    std::uint8_t home = 0;
    std::uint16_t unused = 0;
  };
  static_assert(static_cast<int>(Use::reads) == static_cast<int>(PacketKind::read) &&
                static_cast<int>(Use::writes) == static_cast<int>(PacketKind::write) &&
                static_cast<int>(Use::atomics) == static_cast<int>(PacketKind::atomic));
  static constexpr std::uint64_t kBuckets = 2048;  ///< at most: fits into a host's first-level cache
  static constexpr std::size_t kNotes = 128;

  std::uint32_t others() const { return static_cast<std::uint32_t>(ranges_.size()); }
  void note(const Note& n) {
    notes_[noted_] = n;
    if (++noted_ == notes_.size()) count_notes();
  }
  void count_notes();
  void close();

  std::vector<Range> ranges_;
  std::vector<std::uint32_t> begin_at_;  ///< [bucket] the last structure that does not begin after the bucket does
  std::uint64_t first_ = 0, buckets_ = 0;
  std::uint32_t shift_ = 0, chips_;
  std::uint8_t chip_;
  std::vector<UseCounts> count_;  ///< [structure] of this kernel
  StructureLog log_;
  std::uint64_t kernel_ = 0;
  std::vector<Note> notes_;  ///< empty: there are no structures
  std::size_t noted_ = 0;
};

}  // namespace atl
