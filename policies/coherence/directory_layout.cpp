#include "policies/coherence/directory_layout.hpp"

namespace atl {
namespace {
constexpr std::uint32_t kTagBits = 48;
constexpr std::uint32_t kHmgLines = 4;  ///< lines per entry, as HMG has it and REC compares with
}  // namespace

DirectoryLayout directory_layout(const SystemConfig& c) {
  const std::uint32_t sharers = c.chips - 1;
  if (c.coherence.protocol != CoherenceProtocol::rec) return {kTagBits, 0, sharers};
  const std::uint32_t lines = c.coherence.range_bytes / c.line_bytes;
  const auto offset_bits = static_cast<std::uint32_t>(std::countr_zero(c.coherence.range_bytes));
  return {kTagBits - offset_bits, lines, lines * sharers};
}

std::uint64_t directory_bytes(const SystemConfig& c) {
  return std::uint64_t{c.coherence.directory_entries} * directory_layout(c).bits() / 8;
}

DirectoryShape directory_shape(const SystemConfig& c) {
  const CoherenceConfig& d = c.coherence;
  const bool rec = d.protocol == CoherenceProtocol::rec, hmg = d.protocol == CoherenceProtocol::hmg;
  return {.sets = d.directory_entries / d.directory_ways,
          .ways = d.directory_ways,
          .lines = rec   ? d.range_bytes / c.line_bytes
                   : hmg ? kHmgLines
                         : 1,
          .common_sharers = hmg,
          .lru = d.directory_replacement == DirectoryReplacement::automatic
                     ? rec
                     : d.directory_replacement == DirectoryReplacement::lru,
          .index = d.directory_index};
}

std::uint32_t position_bit(std::uint64_t address, std::uint32_t range_bytes, std::uint32_t line_bytes,
                           std::uint32_t sharers) {
  return static_cast<std::uint32_t>(address % range_bytes / line_bytes) * (sharers + 1);
}

}  // namespace atl
