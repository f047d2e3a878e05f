#include "inputs/trace/deflate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "inputs/trace/prefix_code.hpp"

namespace atl {
namespace {

constexpr unsigned kLiterals = 286, kDistances = 30, kEndOfBlock = 256, kFirstLength = 257, kLengthLengths = 19;
constexpr unsigned kCodeBits = 15, kLengthCodeBits = 7;
constexpr std::size_t kStoredPiece = 65535;
// Code and extra bits of each length of a repeat, less 3.
struct LengthCode {
  std::uint16_t symbol;
  std::uint8_t bits, extra;
};
constexpr std::array<LengthCode, 256> make_length_codes() {
  std::array<LengthCode, 256> made{};
  for (unsigned l = 0; l < 256; ++l) {
    if (l < 8) {
      made[l] = {static_cast<std::uint16_t>(kFirstLength + l), 0, 0};
    } else {
      const unsigned bits = static_cast<unsigned>(std::bit_width(l)) - 3;
      made[l] = {static_cast<std::uint16_t>(kFirstLength + 4 * bits + (l >> bits)), static_cast<std::uint8_t>(bits),
                 static_cast<std::uint8_t>(l & ((1u << bits) - 1))};
    }
  }
  made[255] = {285, 0, 0};
  return made;
}
constexpr std::array<LengthCode, 256> kLengthCodes = make_length_codes();

/// Of a distance less 1.
unsigned distance_symbol(std::uint32_t d) {
  if (d < 2) return d;
  const auto top = static_cast<unsigned>(std::bit_width(d)) - 1;
  return 2 * top + (d >> (top - 1) & 1);
}
unsigned distance_bits(unsigned symbol) { return symbol < 2 ? 0 : symbol / 2 - 1; }

/// Bits, lowest first. There is always room for a few words more than what is asked for.
class BitWriter {
 public:
  explicit BitWriter(std::uint8_t* to) : to_(to) {}
  void put(std::uint64_t bits, unsigned count) {  // up to 48 at once
    held_ |= bits << used_;
    used_ += count;
    for (; used_ >= 16; used_ -= 16, held_ >>= 16)
      *to_++ = static_cast<std::uint8_t>(held_), *to_++ = static_cast<std::uint8_t>(held_ >> 8);
  }
  std::uint8_t* finish() {
    for (; used_ > 0; used_ -= std::min(used_, 8u), held_ >>= 8) *to_++ = static_cast<std::uint8_t>(held_);
    return to_;
  }

 private:
  std::uint8_t* to_;
  std::uint64_t held_ = 0;
  unsigned used_ = 0;
};

/// A block with a prefix code of its own.
class Block {
 public:
  explicit Block(std::span<const std::uint32_t> tokens) : tokens_(tokens) {
    for (const std::uint32_t t : tokens) {
      if ((t & RepeatFinder::kRepeat) == 0) {
        ++literals_.frequency[t];
      } else {
        ++literals_.frequency[kLengthCodes[RepeatFinder::length(t) - 3].symbol];
        ++distances_.frequency[distance_symbol(RepeatFinder::distance(t) - 1)];
      }
    }
    literals_.frequency[kEndOfBlock] = 1;
    literals_.make(kLiterals, kCodeBits), distances_.make(kDistances, kCodeBits);
    describe();
  }

  std::uint64_t bits() const {
    std::uint64_t sum = 3 + 14 + 3 * lengths_used_ + lengths_.total(kLengthLengths);
    for (const std::uint16_t d : description_) sum += extra_of(d & 0xFF);
    sum += literals_.total(kLiterals) + distances_.total(kDistances);
    for (unsigned s = 0; s < kDistances; ++s) sum += std::uint64_t{distances_.frequency[s]} * distance_bits(s);
    for (unsigned l = 0; l < 255; ++l)  // each of these has a length of its own, or shares its bits with its neighbours
      if (l == 0 || kLengthCodes[l].symbol != kLengthCodes[l - 1].symbol)
        sum += std::uint64_t{literals_.frequency[kLengthCodes[l].symbol]} * kLengthCodes[l].bits;
    return sum;
  }

  void write(BitWriter& out) const {
    out.put(1 | 2 << 1, 3);  // the last block, and how it is coded
    out.put(literals_used_ - kFirstLength, 5), out.put(distances_used_ - 1, 5), out.put(lengths_used_ - 4, 4);
    for (unsigned n = 0; n < lengths_used_; ++n) out.put(lengths_.length[kOrder[n]], 3);
    for (const std::uint16_t d : description_) {
      const unsigned symbol = d & 0xFF;
      out.put(lengths_.code[symbol], lengths_.length[symbol]);
      out.put(d >> 8, extra_of(symbol));
    }
    for (const std::uint32_t t : tokens_) {
      if ((t & RepeatFinder::kRepeat) == 0) {
        out.put(literals_.code[t], literals_.length[t]);
        continue;
      }
      const LengthCode& l = kLengthCodes[RepeatFinder::length(t) - 3];
      const std::uint32_t distance = RepeatFinder::distance(t) - 1;
      const unsigned symbol = distance_symbol(distance), extra = distance_bits(symbol);
      std::uint64_t bits = literals_.code[l.symbol];
      unsigned count = literals_.length[l.symbol];
      bits |= std::uint64_t{l.extra} << count, count += l.bits;
      bits |= std::uint64_t{distances_.code[symbol]} << count, count += distances_.length[symbol];
      bits |= std::uint64_t{distance & ((1u << extra) - 1)} << count, count += extra;
      out.put(bits, count);
    }
    out.put(literals_.code[kEndOfBlock], literals_.length[kEndOfBlock]);
  }

 private:
  template <unsigned kSymbols> struct Code {
    std::array<std::uint32_t, kSymbols> frequency{};
    std::array<std::uint8_t, kSymbols> length;
    std::array<std::uint16_t, kSymbols> code;
    void make(unsigned count, unsigned longest) {
      prefix_code_lengths(frequency.data(), count, longest, length.data());
      prefix_codes(length.data(), count, code.data());
    }
    std::uint64_t total(unsigned count) const {
      std::uint64_t sum = 0;
      for (unsigned s = 0; s < count; ++s) sum += std::uint64_t{frequency[s]} * length[s];
      return sum;
    }
  };

  static constexpr std::uint8_t kOrder[kLengthLengths] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
  static unsigned extra_of(unsigned symbol) { return symbol == 16 ? 2 : symbol == 17 ? 3 : symbol == 18 ? 7 : 0; }

  /// The lengths of both codes one after the other, as symbols of a third one: runs of zeros, and of equal ones, are short.
  void describe() {
    for (literals_used_ = kLiterals; literals_.length[literals_used_ - 1] == 0;) --literals_used_;
    for (distances_used_ = kDistances; distances_.length[distances_used_ - 1] == 0;) --distances_used_;
    std::array<std::uint8_t, kLiterals + kDistances> all;
    std::copy_n(literals_.length.begin(), literals_used_, all.begin());
    std::copy_n(distances_.length.begin(), distances_used_, all.begin() + literals_used_);
    const unsigned count = literals_used_ + distances_used_;
    for (unsigned i = 0; i < count;) {
      unsigned run = 1;
      while (i + run < count && all[i + run] == all[i]) ++run;
      i += run;
      const unsigned value = all[i - 1];
      if (value != 0) add(value, 0), --run;
      while (run >= 3) {
        const unsigned most = value != 0 ? 6 : 138, now = std::min(run, most);
        if (value != 0)
          add(16, now - 3);
        else
          now <= 10 ? add(17, now - 3) : add(18, now - 11);
        run -= now;
      }
      for (; run > 0; --run) add(value, 0);
    }
    lengths_.make(kLengthLengths, kLengthCodeBits);
    for (lengths_used_ = kLengthLengths; lengths_used_ > 4 && lengths_.length[kOrder[lengths_used_ - 1]] == 0;)
      --lengths_used_;
  }

  void add(unsigned symbol, unsigned extra) {
    description_.push_back(static_cast<std::uint16_t>(symbol | extra << 8));
    ++lengths_.frequency[symbol];
  }

  std::span<const std::uint32_t> tokens_;
  Code<kLiterals> literals_;
  Code<kDistances> distances_;
  Code<kLengthLengths> lengths_;
  std::vector<std::uint16_t> description_;
  unsigned literals_used_ = 0, distances_used_ = 0, lengths_used_ = 0;
};

std::uint8_t* store(std::span<const std::uint8_t> bytes, std::uint8_t* to) {
  do {
    const std::size_t now = std::min(bytes.size(), kStoredPiece);
    *to++ = now == bytes.size();
    for (const std::size_t n : {now, ~now}) *to++ = static_cast<std::uint8_t>(n), *to++ = static_cast<std::uint8_t>(n >> 8);
    if (now > 0) std::memcpy(to, bytes.data(), now);
    to += now;
    bytes = bytes.subspan(now);
  } while (!bytes.empty());
  return to;
}

}  // namespace

std::uint32_t adler32(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kLanes = 32, kSteps = 4096;  // so many that no sum of 32 bits overflows
  constexpr std::uint64_t kModulus = 65521;
  std::uint64_t a = 1, b = 0;
  while (bytes.size() >= kLanes) {
    const std::size_t steps = std::min(bytes.size() / kLanes, kSteps);
    std::uint32_t sum[kLanes] = {}, sums[kLanes] = {};
    const std::uint8_t* p = bytes.data();
    for (std::size_t s = 0; s < steps; ++s, p += kLanes)
      for (std::size_t l = 0; l < kLanes; ++l) sum[l] += p[l], sums[l] += sum[l];
    b += a * steps * kLanes;
    for (std::size_t l = 0; l < kLanes; ++l) a += sum[l], b += std::uint64_t{sums[l]} * kLanes - sum[l] * l;
    a %= kModulus, b %= kModulus;
    bytes = bytes.subspan(steps * kLanes);
  }
  for (const std::uint8_t byte : bytes) a += byte, b += a;
  return static_cast<std::uint32_t>((b % kModulus) << 16 | a % kModulus);
}

void Deflater::compress(std::span<const std::uint8_t> bytes, std::vector<std::uint8_t>& out) {
  const Block block(finder_.tokens(bytes));
  const std::size_t coded = static_cast<std::size_t>(block.bits() / 8 + 1);
  const std::size_t stored = bytes.size() + 5 * (bytes.size() / kStoredPiece + 1), start = out.size();
  out.resize(start + 2 + std::min(coded, stored) + 4);
  std::uint8_t* to = out.data() + start;
  *to++ = 0x78, *to++ = 0x01;  // deflate with a window of 32 KiB, by the fastest means
  if (coded < stored) {
    BitWriter writer(to);
    block.write(writer);
    to = writer.finish();
  } else {
    to = store(bytes, to);
  }
  const std::uint32_t sum = adler32(bytes);
  for (unsigned shift = 32; shift > 0;) *to++ = static_cast<std::uint8_t>(sum >> (shift -= 8));
  out.resize(static_cast<std::size_t>(to - out.data()));
}

}  // namespace atl
