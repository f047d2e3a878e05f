#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"
#include "partition/set_indexer.hpp"
#include "policies/coherence/directory_layout.hpp"

namespace atl {

/// Why a copy ends: its line was written, or the directory needed the entry for another range (REC section 3.2).
enum class InvalidationCause : std::uint8_t { write, evict };

/// What a chip knows of the copies of its lines in other chips: sharers, no owner, since the home always has the data.
///
/// An entry covers an aligned range. With one line per range it is REC's baseline, with several and sharers
/// for each of them REC itself (section 4.2): a position bit says that the line is tracked, and an entry is valid while any
/// is set. With common sharers it is HMG's (HPCA 2020), on one level. Entries have no states besides; who is to be
/// invalidated is told to `send(line, chips, cause)`, once for each line, `chips` one bit each and never 0. Invalid ways are
/// taken first.
class HomeDirectory {
 public:
  struct Outcome {
    bool allocated = false;
    std::uint32_t evicted_lines = 0;  ///< tracked by the entry that was given up; 0: none was
  };

  explicit HomeDirectory(const DirectoryShape& shape)
      : shape_(shape),
        range_shift_(static_cast<std::uint32_t>(std::countr_zero(shape.lines))),
        sets_(shape.index, shape.sets),
        entry_(std::size_t{shape.sets} * shape.ways),
        sharers_(entry_.size() * fields()) {}

  /// Chip `reader` fetches the line.
  template <class Send> Outcome remote_read(LineAddr line, std::uint8_t reader, Send&& send) {
    Outcome outcome;
    const std::uint32_t e = take(line, outcome, send);
    sharers(e, line) |= bit(reader);
    return outcome;
  }

  /// The home itself has written the line, or chip `writer` past its cache: no copy is new, and all end but the writer's, if
  /// it has one. Lines that are not tracked have no copies.
  template <class Send> void write_through(LineAddr line, std::uint8_t writer, Send&& send) {
    const std::uint32_t e = find(line);
    if (e == kNone || (entry_[e].positions & positions_of(line)) == 0) return;
    use(e);
    const std::uint64_t kept = sharers(e, line) & bit(writer);
    end_copies(e, line, kept, send);
    sharers(e, line) = kept;
    if (kept == 0) entry_[e].positions &= ~positions_of(line);
  }

  /// Chip `writer` has written its copy and the home's: it is the only sharer from now on.
  template <class Send> Outcome remote_write(LineAddr line, std::uint8_t writer, Send&& send) {
    Outcome outcome;
    const std::uint32_t e = take(line, outcome, send);
    end_copies(e, line, bit(writer), send);
    sharers(e, line) = bit(writer);
    return outcome;
  }

  /// Evicts every entry, and begins anew with another shape.
  template <class Send> void reshape(const DirectoryShape& shape, Send&& send) {
    for (std::uint32_t e = 0; e < entry_.size(); ++e)
      if (entry_[e].positions != 0) evict(e, send);
    *this = HomeDirectory(shape);
  }

  void clear() {
    entry_.assign(entry_.size(), {});
    sharers_.assign(sharers_.size(), 0);
  }

  /// Number of the range that the line is in.
  std::uint64_t range(LineAddr line) const { return line.value >> range_shift_; }
  /// Which line of its range it is, from 0: the position bit of an entry.
  std::uint32_t offset(LineAddr line) const { return static_cast<std::uint32_t>(line.value) & (shape_.lines - 1); }
  /// Chips that may have the line, one bit each. No operation of the directory: for tests and checks.
  std::uint64_t sharers_of(LineAddr line) const {
    const std::uint32_t e = find(line);
    return e == kNone || (entry_[e].positions & positions_of(line)) == 0 ? 0 : sharers_[field(e, line)];
  }

  /// Calls see(line, sharers) for every line that is tracked.
  template <class See> void for_each(See&& see) const {
    for (std::uint32_t e = 0; e < entry_.size(); ++e) {
      require_state(shape_.lines == 64 || entry_[e].positions >> shape_.lines == 0);
      require_state(entry_[e].positions == 0 || entry_[e].range >> (kLineAddrBits - range_shift_) == 0);
      for (std::uint64_t left = entry_[e].positions; left != 0; left &= left - 1) {
        const LineAddr line{(entry_[e].range << range_shift_) + static_cast<unsigned>(std::countr_zero(left))};
        see(line, sharers_[field(e, line)]);
      }
    }
  }
  /// With its shape, which reshape() changes.
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, shape_, range_shift_, entry_, sharers_, clock_);
    require_state(shape_.lines != 0 && shape_.lines <= 64 && std::has_single_bit(shape_.lines) && shape_.sets != 0 &&
                  shape_.ways != 0 && shape_.index <= SetIndex::xor_fold && entry_.size() % shape_.ways == 0 &&
                  entry_.size() / shape_.ways == shape_.sets && sharers_.size() == entry_.size() * fields() &&
                  range_shift_ == static_cast<std::uint32_t>(std::countr_zero(shape_.lines)));
    sets_ = SetIndexer(shape_.index, shape_.sets);
  }

 private:
  friend struct ChipTestAccess;  // seeds faults
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Entry {
    using PlainState = void;
    std::uint64_t range = 0, positions = 0;  ///< positions: one bit for each line that is tracked; 0: invalid
    std::uint64_t stamp = 0;                 ///< of allocation or, with LRU, of the last use
  };

  static std::uint64_t bit(std::uint32_t i) { return std::uint64_t{1} << i; }
  std::uint32_t fields() const { return shape_.common_sharers ? 1 : shape_.lines; }
  std::uint64_t positions_of(LineAddr line) const {
    return shape_.common_sharers ? ~std::uint64_t{0} >> (64 - shape_.lines) : bit(offset(line));
  }
  std::size_t field(std::uint32_t e, LineAddr line) const {
    return std::size_t{e} * fields() + (shape_.common_sharers ? 0 : offset(line));
  }
  std::uint64_t& sharers(std::uint32_t e, LineAddr line) { return sharers_[field(e, line)]; }

  std::uint32_t find(LineAddr line) const {
    const std::uint32_t first = sets_(range(line)) * shape_.ways;
    for (std::uint32_t e = first; e < first + shape_.ways; ++e)
      if (entry_[e].range == range(line) && entry_[e].positions != 0) return e;
    return kNone;
  }
  void use(std::uint32_t e) {
    if (shape_.lru) entry_[e].stamp = ++clock_;
  }

  /// The entry of the line's range, in which the line is tracked from now on.
  template <class Send> std::uint32_t take(LineAddr line, Outcome& outcome, Send&& send) {
    std::uint32_t e = find(line);
    if (e == kNone) {
      outcome.allocated = true;
      e = victim(sets_(range(line)) * shape_.ways);
      if (entry_[e].positions != 0) outcome.evicted_lines = evict(e, send);
      entry_[e] = {range(line), 0, ++clock_};
    } else {
      use(e);
    }
    entry_[e].positions |= positions_of(line);
    return e;
  }

  std::uint32_t victim(std::uint32_t first) const {
    std::uint32_t best = first;
    for (std::uint32_t e = first; e < first + shape_.ways; ++e) {
      if (entry_[e].positions == 0) return e;
      if (entry_[e].stamp < entry_[best].stamp) best = e;
    }
    return best;
  }

  /// A burst: every sharer of every line that the entry tracks.
  template <class Send> std::uint32_t evict(std::uint32_t e, Send&& send) {
    std::uint32_t lines = 0;
    for (std::uint64_t left = entry_[e].positions; left != 0; left &= left - 1, ++lines) {
      const LineAddr line{(entry_[e].range << range_shift_) + static_cast<unsigned>(std::countr_zero(left))};
      if (const std::uint64_t chips = sharers(e, line); chips != 0) send(line, chips, InvalidationCause::evict);
    }
    for (std::uint32_t f = 0; f < fields(); ++f) sharers_[std::size_t{e} * fields() + f] = 0;
    return lines;
  }

  /// Copies of the written line end, and those of all lines that share its field, but for those of the chips `kept`.
  template <class Send> void end_copies(std::uint32_t e, LineAddr written, std::uint64_t kept, Send&& send) {
    const std::uint64_t chips = sharers(e, written) & ~kept;
    sharers(e, written) = 0;
    if (chips == 0) return;
    for (std::uint64_t left = positions_of(written); left != 0; left &= left - 1) {
      const LineAddr line{(entry_[e].range << range_shift_) + static_cast<unsigned>(std::countr_zero(left))};
      send(line, chips, InvalidationCause::write);
    }
  }

  DirectoryShape shape_;
  std::uint32_t range_shift_;
  SetIndexer sets_;
  std::vector<Entry> entry_;            ///< [set][way]
  std::vector<std::uint64_t> sharers_;  ///< [entry][field] chips, one bit each
  std::uint64_t clock_ = 0;
};

}  // namespace atl
