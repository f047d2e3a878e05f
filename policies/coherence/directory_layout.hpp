#pragma once
#include "core/engine/archive.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// Sets and entries of a home directory (`core/chip/llc/protocol/home_directory`).
struct DirectoryShape {
  std::uint32_t sets = 1024, ways = 8;
  std::uint32_t lines = 1;      ///< that an entry covers, aligned: a power of two up to 64
  bool common_sharers = false;  ///< one set of sharers for all lines of an entry, which come and go together
  bool lru = false;             ///< else FIFO
  SetIndex index = SetIndex::xor_fold;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, sets, ways, lines, common_sharers, lru, index); }
};

/// Bits of a directory entry (REC table 1), besides its valid bit.
struct DirectoryLayout {
  std::uint32_t base_bits = 48;     ///< the address, without the bits within a range
  std::uint32_t position_bits = 0;  ///< one for each line of a range
  std::uint32_t sharer_bits = 3;    ///< one for each other chip; per line of a range, or once
  std::uint32_t bits() const { return base_bits + position_bits + sharer_bits + 1; }
};

/// Of the protocols directory, hmg, rec and rec_adaptive, with `coherence.range_bytes`. HMG's entry is one of the
/// baseline's without the bits within its four lines (inferred).
DirectoryLayout directory_layout(const SystemConfig& config);
/// Storage of one chip's directory.
std::uint64_t directory_bytes(const SystemConfig& config);
DirectoryShape directory_shape(const SystemConfig& config);

/// The same storage with entries of another range: as many as fit, in the most sets that leave each `directory_ways`. Ways
/// take up what a power of two of sets would waste.
DirectoryShape directory_shape(const SystemConfig& config, std::uint32_t range_bytes);

}  // namespace atl
