#include "inputs/trace/coalesce.hpp"

#include <algorithm>
#include <array>
#include <bit>

#include "inputs/trace/block_filter.hpp"

namespace atl {
namespace {

constexpr unsigned kMostWidth = 32, kMostLanes = 32, kBanks = 32, kBankBytes = 4;

/// The sectors of the one block that all lanes touch; 0: they touch several. This is what most accesses are, and the loops
/// become vector code if `kLanes` says how many lanes there are.
template <unsigned kLanes> unsigned sectors_of_one_block(const std::uint64_t* address, unsigned lanes, unsigned width) {
  constexpr unsigned kSector = Access::kSectorBytes;
  const unsigned count = kLanes != 0 ? kLanes : lanes;
  const std::uint64_t block = address[0] & ~std::uint64_t{Access::kBlockBytes - 1};
  std::uint64_t inside = 0;
  for (unsigned lane = 0; lane < count; ++lane) {
    const std::uint64_t first = address[lane] - block;
    inside |= first | (first + width - 1);
  }
  if (inside >= Access::kBlockBytes) return 0;
  unsigned zeroth = 0, first = 0, second = 0, third = 0;  // sectors
  for (unsigned lane = 0; lane < count; ++lane) {
    const auto from = static_cast<unsigned>(address[lane] - block), to = from + width - 1;
    zeroth |= static_cast<unsigned>(from < kSector);
    first |= static_cast<unsigned>(from < 2 * kSector) & static_cast<unsigned>(to >= kSector);
    second |= static_cast<unsigned>(from < 3 * kSector) & static_cast<unsigned>(to >= 2 * kSector);
    third |= static_cast<unsigned>(to >= 3 * kSector);
  }
  return zeroth | first << 1 | second << 2 | third << 3;
}

/// Bytes from each of 32 lanes to the next: `width`, or 0, or none of these.
struct Steps {
  bool of_width, of_zero;
};
Steps steps_of(const std::uint64_t* address, unsigned width) {
  std::uint64_t not_width = 0, not_zero = 0;
  for (unsigned lane = 0; lane + 1 < kMostLanes; ++lane) {
    const std::uint64_t step = address[lane + 1] - address[lane];
    not_width |= step ^ width, not_zero |= step;
  }
  return {not_width == 0, not_zero == 0};
}

}  // namespace

unsigned coalesce(const std::uint64_t* address, unsigned lanes, unsigned width, Access* out) {
  if (lanes == 0) return 0;
  if (lanes == kMostLanes) {
    const Steps steps = steps_of(address, width);
    if (steps.of_width) return coalesce(address[0], std::uint64_t{kMostLanes} * width, out);
    if (steps.of_zero) return coalesce(address[0], std::uint64_t{width}, out);
  }
  const unsigned sectors = lanes == kMostLanes ? sectors_of_one_block<kMostLanes>(address, lanes, width)
                                               : sectors_of_one_block<0>(address, lanes, width);
  if (sectors != 0) {
    out[0] = Access::make(address[0], sectors);
    return 1;
  }
  unsigned count = 0;
  BlockFilter known;
  const auto touch = [&](std::uint64_t block, unsigned sectors) {
    if (count > 0 && out[count - 1].block() == block) {
      out[count - 1].packed |= sectors;
      return;
    }
    if (known.perhaps(block))
      for (unsigned i = count; i-- > 0;)  // backwards: neighbouring lanes mostly meet in a block found lately
        if (out[i].block() == block) {
          out[i].packed |= sectors;
          return;
        }
    known.add(block);
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
  if (lanes == kMostLanes && steps_of(address, width).of_width)
    return std::uint64_t{lanes} * width != sectors * Access::kSectorBytes;
  std::array<std::uint32_t, kMostLanes * 2 * Access::kSectors> bytes{};  // by access and sector
  for (unsigned lane = 0; lane < lanes; ++lane) {
    unsigned i = count - 1;
    for (std::uint64_t at = address[lane], end = at + width; at < end;) {  // a sector at a time
      const std::uint64_t offset = at % Access::kSectorBytes;
      const std::uint64_t now = std::min<std::uint64_t>(end - at, Access::kSectorBytes - offset);
      if (found[i].block() != at / Access::kBlockBytes) {
        i = count - 1;
        while (i > 0 && found[i].block() != at / Access::kBlockBytes) --i;
      }
      const std::uint64_t touched = ((std::uint64_t{1} << now) - 1) << offset;
      bytes[i * Access::kSectors + at % Access::kBlockBytes / Access::kSectorBytes] |= static_cast<std::uint32_t>(touched);
      at += now;
    }
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
  return touches_partly(address, bytes);
}

namespace {

/// Passes where each lane accesses one word; 0: not known, as they cross words or lie very far apart. Loops over 32 words,
/// in which lanes that are not there and those before the first stand for a word that nobody has, become vector code.
unsigned passes_of_words(const std::uint64_t* address, unsigned lanes) {
  constexpr std::uint32_t kNobodys = ~std::uint32_t{0};
  std::array<std::uint32_t, 2 * kMostLanes> words;
  words.fill(kNobodys);
  std::uint32_t* const word = words.data() + kMostLanes;
  std::uint64_t far = 0, inside = 0;
  std::uint32_t banks = 0;
  bool nobodys = false;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    word[lane] = static_cast<std::uint32_t>(address[lane] / kBankBytes);
    far |= address[lane] ^ address[0], inside |= address[lane] % kBankBytes;
    banks |= std::uint32_t{1} << word[lane] % kBanks;
    nobodys |= word[lane] == kNobodys;
  }
  if (far >> 33 != 0 || inside != 0 || nobodys) return 0;
  if (std::popcount(banks) == static_cast<int>(lanes)) return 1;
  std::array<std::uint32_t, kMostLanes> again{};  // some lane before has this word, too: a broadcast
  for (unsigned before = 1; before < lanes; ++before)
    for (unsigned lane = 0; lane < kMostLanes; ++lane) again[lane] |= word[lane] == *(word + lane - before) ? 1 : 0;
  std::array<std::uint8_t, kBanks> used{};
  unsigned passes = 1;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    std::uint8_t& bank = used[word[lane] % kBanks];
    bank = static_cast<std::uint8_t>(bank + (again[lane] ^ 1));
    passes = std::max<unsigned>(passes, bank);
  }
  return passes;
}

}  // namespace

unsigned shared_passes(const std::uint64_t* address, unsigned lanes, unsigned width) {
  if (width == kBankBytes && lanes <= kMostLanes)
    if (const unsigned passes = passes_of_words(address, lanes); passes != 0) return passes;
  constexpr unsigned kMostWords = kMostLanes * (kMostWidth / kBankBytes + 1);
  constexpr std::uint16_t kNone = 0xFFFF;
  std::array<std::uint64_t, kMostWords> words;  // that are distinct
  std::array<std::uint16_t, kMostWords> next;   // of the same bank
  std::array<std::uint16_t, kBanks> first, used{};
  first.fill(kNone);
  std::uint16_t count = 0;
  unsigned passes = 1;
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const std::uint64_t last = (address[lane] + width - 1) / kBankBytes;
    for (std::uint64_t word = address[lane] / kBankBytes; word <= last; ++word) {
      const std::size_t bank = word % kBanks;
      std::uint16_t known = first[bank];
      while (known != kNone && words[known] != word) known = next[known];
      if (known != kNone) continue;  // one word for many lanes is a broadcast
      words[count] = word, next[count] = first[bank];
      first[bank] = count++;
      passes = std::max<unsigned>(passes, ++used[bank]);
    }
  }
  return passes;
}

unsigned shared_passes(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t words = (address + bytes - 1) / kBankBytes - address / kBankBytes + 1;
  return static_cast<unsigned>((words + kBanks - 1) / kBanks);
}

}  // namespace atl
