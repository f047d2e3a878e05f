#pragma once
#include <bit>
#include <cstdint>

#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"
#include "partition/fast_div.hpp"

namespace atl {

/// What the address alone says of a page's home. Switches without a default: a compiler asks for a new placement's answers.
enum class HomeOfAddress : std::uint8_t { unknown, one_chip, every_nth_chunk };
constexpr HomeOfAddress home_of_address(Placement p) {
  switch (p) {
    case Placement::first_touch:
      return HomeOfAddress::unknown;
    case Placement::interleaved:
      return HomeOfAddress::every_nth_chunk;
    case Placement::fixed:
      return HomeOfAddress::one_chip;
  }
  return HomeOfAddress::unknown;  // not reached
}

/// Numbers a home's lines as its memory has them: one behind the other. Of placement = interleaved, a chip has every n-th
/// chunk: bits of the address that choose the chip are the same in all its lines, and a hash of the address reaches only a
/// part of what it should spread them over. (A driver maps pages to frames that follow each other in one GPU's memory; in
/// MGPUSim, which REC used, a GPU's addresses are such.) Of the other placements a chip may have any pages: they keep their
/// numbers.
class HomeLines {
 public:
  explicit HomeLines(const SystemConfig& c)
      : rotates_(home_of_address(c.partition.placement) == HomeOfAddress::every_nth_chunk && c.memory_chips() > 1),
        page_shift_(static_cast<std::uint8_t>(std::countr_zero(c.partition.page_bytes() / c.line_bytes))),
        pages_(c.partition.chunk_pages()),
        first_(c.first_memory_chip()),
        chips_(c.memory_chips()) {}

  /// Number of the line at its home. Lines of different homes may have the same.
  std::uint64_t local(LineAddr line) const {
    if (!rotates_) return line.value;
    const std::uint64_t page = line.value >> page_shift_, chunk = pages_.quotient(page);
    const std::uint64_t at_home = chips_.quotient(chunk) * pages_.divisor() + (page - chunk * pages_.divisor());
    return at_home << page_shift_ | (line.value & ((std::uint64_t{1} << page_shift_) - 1));
  }
  /// The line that has this number at `home`.
  LineAddr global(std::uint64_t local, std::uint32_t home) const {
    if (!rotates_) return {local};
    const std::uint64_t page = local >> page_shift_, chunk = pages_.quotient(page);
    const std::uint64_t there =
        (chunk * chips_.divisor() + home - first_) * pages_.divisor() + (page - chunk * pages_.divisor());
    return {there << page_shift_ | (local & ((std::uint64_t{1} << page_shift_) - 1))};
  }

 private:
  bool rotates_;
  std::uint8_t page_shift_;
  FastDiv pages_;        ///< of a chunk
  std::uint32_t first_;  ///< chip with memory
  FastDiv chips_;        ///< that have memory
};

}  // namespace atl
