#include "inputs/trace/coalesce.hpp"

#include <algorithm>
#include <array>
#include <bit>

namespace atl {
namespace {

constexpr unsigned kMostWidth = 32, kMostLanes = 32, kBanks = 32, kBankBytes = 4;

/// Sectors of a block from the one of byte `first` to the one of byte `last`.
unsigned sector_mask(unsigned first, unsigned last) {
  return (2u << last / Access::kSectorBytes) - (1u << first / Access::kSectorBytes);
}

}  // namespace

unsigned coalesce(const std::uint64_t* address, unsigned lanes, unsigned width, Access* out) {
  unsigned count = 0;
  const auto touch = [&](std::uint64_t block, unsigned sectors) {
    for (unsigned i = count; i-- > 0;)  // backwards: neighbouring lanes mostly meet in the block found last
      if (out[i].block() == block) {
        out[i].packed |= sectors;
        return;
      }
    out[count++] = Access::make(block * Access::kBlockBytes, sectors);
  };
  constexpr unsigned kLast = Access::kBlockBytes - 1;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint64_t first = address[lane], last = first + width - 1;
    const auto from = static_cast<unsigned>(first & kLast), to = static_cast<unsigned>(last & kLast);
    const std::uint64_t block = first / Access::kBlockBytes;
    if (last / Access::kBlockBytes == block) {
      touch(block, sector_mask(from, to));
    } else {
      touch(block, sector_mask(from, kLast));
      touch(block + 1, sector_mask(0, to));
    }
  }
  return count;
}

bool touches_partly(const std::uint64_t* address, unsigned lanes, unsigned width, const Access* found, unsigned count) {
  std::uint64_t sectors = 0;
  for (unsigned i = 0; i < count; ++i) sectors += static_cast<unsigned>(std::popcount(found[i].sectors()));
  if (std::uint64_t{lanes} * width < sectors * Access::kSectorBytes) return true;
  std::array<std::uint32_t, kMostLanes * 2 * Access::kSectors> bytes{};  // by access and sector
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (std::uint64_t at = address[lane]; at < address[lane] + width; ++at) {
      unsigned i = count - 1;
      while (i > 0 && found[i].block() != at / Access::kBlockBytes) --i;
      bytes[i * Access::kSectors + at % Access::kBlockBytes / Access::kSectorBytes] |= 1u << at % Access::kSectorBytes;
    }
  for (unsigned i = 0; i < count * Access::kSectors; ++i)
    if ((found[i / Access::kSectors].sectors() >> i % Access::kSectors & 1) != 0 && ~bytes[i] != 0) return true;
  return false;
}

bool coalesce_local(const std::uint64_t* offset, std::uint32_t mask, unsigned width, std::vector<Access>& out) {
  struct Row {
    std::uint64_t number;
    std::array<std::uint32_t, Access::kSectors> bytes;
  };
  std::array<Row, kMostLanes*(kMostWidth / kBankBytes + 1)> rows;
  unsigned count = 0;
  for (; mask != 0; mask &= mask - 1, ++offset) {
    const unsigned lane_byte = 4 * static_cast<unsigned>(std::countr_zero(mask));
    for (std::uint64_t at = *offset; at < *offset + width; ++at) {
      unsigned i = count;  // backwards: lanes mostly meet in the rows found last
      while (i > 0 && rows[i - 1].number != at / 4) --i;
      if (i == 0) rows[count++] = {at / 4, {}}, i = count;
      const unsigned byte = lane_byte + at % 4;
      rows[i - 1].bytes[byte / Access::kSectorBytes] |= 1u << byte % Access::kSectorBytes;
    }
  }
  bool partly = false;
  for (unsigned i = 0; i < count; ++i) {
    unsigned sectors = 0;
    for (unsigned s = 0; s < Access::kSectors; ++s) {
      if (rows[i].bytes[s] == 0) continue;
      sectors |= 1u << s;
      partly |= ~rows[i].bytes[s] != 0;
    }
    out.push_back(Access::make(rows[i].number * Access::kBlockBytes, sectors));
  }
  return partly;
}

bool coalesce_range(std::uint64_t address, std::uint64_t bytes, std::vector<Access>& out) {
  const std::uint64_t end = address + bytes;
  for (std::uint64_t at = address; at < end;) {
    const std::uint64_t next = std::min(end, (at / Access::kBlockBytes + 1) * Access::kBlockBytes);
    Access found[2];
    coalesce(&at, 1, static_cast<unsigned>(next - at), found);
    if (!out.empty() && out.back().block() == found[0].block())
      out.back().packed |= found[0].packed;
    else
      out.push_back(found[0]);
    at = next;
  }
  return (address | end) % Access::kSectorBytes != 0;
}

unsigned shared_passes(const std::uint64_t* address, unsigned lanes, unsigned width) {
  std::array<std::uint64_t, kMostLanes*(kMostWidth / kBankBytes + 1)> words;
  unsigned count = 0;
  for (unsigned lane = 0; lane < lanes; ++lane)
    for (std::uint64_t word = address[lane] / kBankBytes; word <= (address[lane] + width - 1) / kBankBytes; ++word)
      words[count++] = word;
  if (!std::is_sorted(words.begin(), words.begin() + count)) std::sort(words.begin(), words.begin() + count);
  std::array<std::uint16_t, kBanks> used{};
  unsigned passes = 1;
  for (unsigned i = 0; i < count; ++i) {
    if (i > 0 && words[i] == words[i - 1]) continue;  // one word for many lanes is a broadcast
    passes = std::max<unsigned>(passes, ++used[words[i] % kBanks]);
  }
  return passes;
}

}  // namespace atl
