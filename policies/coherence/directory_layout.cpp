#include "policies/coherence/directory_layout.hpp"

#include <algorithm>
#include <bit>

namespace atl {
namespace {
constexpr std::uint32_t kTagBits = 48;
}  // namespace

DirectoryLayout directory_layout(const SystemConfig& c) {
  const std::uint32_t sharers = c.chips - 1, range = c.coherence.range_bytes;
  const HomeDirectoryTraits& home = row_of(c.coherence.protocol).home;
  if (!home.ranges) return {kTagBits - static_cast<std::uint32_t>(std::countr_zero(home.entry_lines)), 0, sharers};
  const std::uint32_t lines = range / c.line_bytes, offset_bits = static_cast<std::uint32_t>(std::countr_zero(range));
  return {kTagBits - offset_bits, lines, lines * sharers};
}

std::uint64_t directory_bytes(const SystemConfig& c) {
  return std::uint64_t{c.coherence.directory_entries} * directory_layout(c).bits() / 8;
}

DirectoryShape directory_shape(const SystemConfig& c) {
  const CoherenceConfig& d = c.coherence;
  const HomeDirectoryTraits& home = row_of(d.protocol).home;
  return {.sets = d.directory_entries / d.directory_ways,
          .ways = d.directory_ways,
          .lines = home.ranges ? d.range_bytes / c.line_bytes : home.entry_lines,
          .common_sharers = home.common_sharers,
          .lru = d.directory_replacement == DirectoryReplacement::automatic
                     ? home.lru
                     : d.directory_replacement == DirectoryReplacement::lru,
          .index = d.directory_index};
}

DirectoryShape directory_shape(const SystemConfig& c, std::uint32_t range_bytes) {
  SystemConfig other = c;
  other.coherence.range_bytes = range_bytes;
  DirectoryShape shape = directory_shape(other);
  const std::uint32_t bits = directory_layout(c).bits(), entries = c.coherence.directory_entries;
  const auto fit = static_cast<std::uint32_t>(std::uint64_t{entries} * bits / directory_layout(other).bits());
  shape.sets = std::max(1u, std::bit_floor(fit / c.coherence.directory_ways));
  shape.ways = fit / shape.sets;
  return shape;
}

}  // namespace atl
