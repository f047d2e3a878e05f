#pragma once
#include <array>
#include <cstdint>

namespace atl {

/// Whether a block was among those before, of one instruction: mostly says so where it was not, so that an instruction
/// whose lanes gather need not compare each of its blocks with all the others (a Bloom filter of one hash).
class BlockFilter {
 public:
  /// False: `block` was not added.
  bool perhaps(std::uint64_t block) const {
    const std::uint64_t h = hash(block);
    return (words_[h / kBits] >> h % kBits & 1) != 0;
  }
  void add(std::uint64_t block) {
    const std::uint64_t h = hash(block);
    words_[h / kBits] |= std::uint64_t{1} << h % kBits;
  }

 private:
  static constexpr unsigned kBits = 64, kHashBits = 9;
  /// Mixed twice: programs gather at regular strides, some of which one multiplication leaves regular.
  static std::uint64_t hash(std::uint64_t block) {
    constexpr std::uint64_t kOdd = 0x9E3779B97F4A7C15u;
    const std::uint64_t mixed = block * kOdd;
    return (mixed ^ mixed >> 32) * kOdd >> (64 - kHashBits);
  }

  std::array<std::uint64_t, (1u << kHashBits) / kBits> words_{};
};

}  // namespace atl
