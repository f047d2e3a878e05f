#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace atl {

/// Bytes as literals and repeats of what stands up to 32 KiB before (LZ77, with the bounds of RFC 1951). Made for what
/// columns of traces are: long repeats at a distance that seldom changes, which cost one comparison for all their bytes.
class RepeatFinder {
 public:
  static constexpr std::uint32_t kShortest = 4, kLongest = 258, kReach = 1u << 15;
  static constexpr std::uint32_t kRepeat = 1u << 31;  ///< a token without it is a literal

  static std::uint32_t length(std::uint32_t token) { return (token >> 15 & 0xFF) + 3; }
  static std::uint32_t distance(std::uint32_t token) { return (token & (kReach - 1)) + 1; }

  RepeatFinder();
  /// The tokens of at most 2^24 bytes, valid until the next call. The same for the same bytes, whatever came before.
  std::span<const std::uint32_t> tokens(std::span<const std::uint8_t> bytes);

 private:
  struct Match {  // in whole words, which a processor reads as it wrote them
    std::uint64_t length = 0, distance = 0;
    std::int64_t gain = 0;  ///< sixteenths of bits that it saves over literals
  };

  std::uint32_t& newest(std::uint32_t position);
  std::uint32_t& newest_long(std::uint32_t position);
  Match best_at(std::uint32_t position);
  void consider(std::uint32_t position, std::uint32_t distance, Match& best) const;
  void compare(std::uint32_t position, std::uint32_t distance, Match& best) const;
  void remember(std::uint32_t position);
  void remember_all(std::uint32_t first, std::uint32_t end);
  void emit(const Match& match);
  std::int64_t literal_cost() const;

  std::vector<std::uint32_t> tokens_;
  // Where 4 bytes, and 16, were last, counted on from one call to the next. 4 alone find little in columns of few values.
  std::vector<std::uint32_t> newest_, newest_long_;
  const std::uint8_t* bytes_ = nullptr;
  std::uint32_t size_ = 0, long_end_ = 0;
  std::uint32_t base_ = kReach;                          ///< what position 0 counts as: all earlier calls lie below
  std::uint32_t last_distance_ = 0, long_distance_ = 0;  ///< of the last repeat, and the last long one; 0: none yet
  std::int64_t literal_cost_ = 0;                        ///< sixteenths of bits, on average
};

}  // namespace atl
