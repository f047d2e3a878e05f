#pragma once
#include <vector>

#include "core/chip/base/state_check.hpp"
#include "core/chip/context.hpp"
#include "core/chip/llc/protocol/full_map_directory.hpp"
#include "core/chip/llc/protocol/home_directory.hpp"
#include "core/engine/archive.hpp"
#include "partition/home_pages.hpp"

namespace atl {

class LlcSlice;

/// Keeps the chip's directory of its lines in other chips' slices (REC section 4), and has their copies invalidated.
///
/// One for all slices, as REC has one beside a GPU's L2, and not one per slice: neighbouring chunks of 256 bytes lie in
/// different slices, and an entry covers up to 4 KB. An eviction therefore sends from the slices of the lines it ends.
/// Looked up beside the tags, in no time of its own. It knows lines by their number at this home: the
/// addresses of a home's pages may have bits in common, and a hash of them would leave sets idle.
class HomeAgent {
 public:
  explicit HomeAgent(Context& c);
  void connect(std::vector<LlcSlice>& slices) { slices_ = &slices; }

  /// Another chip has been given the line.
  void read(LineAddr line, std::uint8_t reader);
  /// Chip `writer` has written the line here: the home, or another, which keeps a copy unless it has L2s.
  void write(LineAddr line, std::uint8_t writer);
  /// An atomic has executed here; who asked for it may have a copy, and that is stale as well.
  void atomic(LineAddr line) { write(line, c_.chip); }
  /// Chips that may have the line, one bit each: for checks.
  std::uint64_t sharers(LineAddr line) const {
    LineAddr local{};
    if (unbounded_) return all_.sharers_of(line);
    return pages_.find(line, local) ? directory_.sharers_of(local) : 0;
  }
  /// Entries cover so many bytes from now on (0: as before). If that changes, the directory gives up all it has, and copies
  /// stay valid until their invalidations arrive; the kernel's end waits for these as for any.
  void cover(std::uint32_t range_bytes);
  /// No other chip has a line of this one any more.
  void forget();
  void check(const StateCheck& s) const;  // state_check.cpp
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, range_bytes_, pages_, directory_, all_); }

 private:
  friend struct ChipTestAccess;  // seeds faults
  void send(LineAddr line, std::uint64_t chips, InvalidationCause cause, std::uint64_t told = 0);
  auto sender();
  void tally(const HomeDirectory::Outcome& outcome);

  Context& c_;
  const bool unbounded_;
  const bool together_;  ///< lines that end because of one entry go in one message to each sharer
  std::uint32_t range_bytes_;
  HomePages pages_;
  HomeDirectory directory_;  ///< of lines by their number here
  FullMapDirectory all_;     ///< instead, if unbounded
  std::vector<LlcSlice>* slices_ = nullptr;
};

}  // namespace atl
