#include "inputs/trace/repeat_finder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace atl {
namespace {

constexpr unsigned kHashBits = 13;
constexpr std::uint32_t kLongHash = 16;      // bytes
constexpr std::int64_t kFewValues = 6 * 16;  // literals below this cost: 4 bytes are often equal by chance
constexpr std::uint32_t kSettled = 1024;     // bytes at the last distance: no other is looked at
constexpr std::uint32_t kSatisfied = 32;     // bytes: it is not tried whether the next byte begins a better repeat
constexpr std::uint32_t kLong = 64;          // bytes: the distance is tried again later
constexpr std::uint32_t kRemembered = 24;    // first and last bytes of a repeat that are found again later
constexpr std::uint32_t kPatience = 32;      // bytes without a repeat, for each of which more is passed over at once
constexpr std::uint32_t kMostBase = 1u << 31;
constexpr std::int64_t kRepeatCost = 8 * 16;  // sixteenths of bits, beside those that a distance has of its own

std::uint32_t word(const std::uint8_t* p) {
  std::uint32_t w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

/// How many bytes at `a` and at `b` are equal, up to `most`.
std::uint32_t equal_bytes(const std::uint8_t* a, const std::uint8_t* b, std::uint32_t most) {
  std::uint32_t n = 0;
  for (; n + 8 <= most; n += 8) {
    if (n >= 32)  // few repeats are so long, but those that are have most of the bytes
      while (n + 32 <= most && std::memcmp(a + n, b + n, 32) == 0) n += 32;
    if (n + 8 > most) break;
    std::uint64_t x, y;
    std::memcpy(&x, a + n, 8), std::memcpy(&y, b + n, 8);
    if (x != y) {
      if constexpr (std::endian::native == std::endian::little)
        return n + static_cast<std::uint32_t>(std::countr_zero(x ^ y)) / 8;
      break;
    }
  }
  while (n < most && a[n] == b[n]) ++n;
  return n;
}

std::int64_t extra_bits(std::uint32_t distance) { return distance < 3 ? 0 : std::bit_width(distance - 1) - 2; }

}  // namespace

RepeatFinder::RepeatFinder() : newest_(std::size_t{1} << kHashBits), newest_long_(std::size_t{1} << kHashBits) {}

std::uint32_t& RepeatFinder::newest(std::uint32_t position) {
  return newest_[word(bytes_ + position) * 0x9E3779B1u >> (32 - kHashBits)];
}

std::uint32_t& RepeatFinder::newest_long(std::uint32_t position) {
  std::uint64_t first, second;
  std::memcpy(&first, bytes_ + position, 8), std::memcpy(&second, bytes_ + position + 8, 8);
  return newest_long_[((first * 0x9E3779B97F4A7C15u + second) * 0xC2B2AE3D27D4EB4Fu) >> (64 - kHashBits)];
}

void RepeatFinder::remember(std::uint32_t position) {
  newest(position) = base_ + position;
  if (position < long_end_) newest_long(position) = base_ + position;
}

void RepeatFinder::remember_all(std::uint32_t first, std::uint32_t end) {
  end = std::min(end, size_ - kShortest + 1);
  for (; first < end; ++first) remember(first);
}

inline void RepeatFinder::consider(std::uint32_t position, std::uint32_t distance, Match& best) const {
  if (distance == 0 || distance > kReach || distance > position) return;
  const std::uint8_t* here = bytes_ + position;
  if (word(here) == word(here - distance)) compare(position, distance, best);
}

void RepeatFinder::compare(std::uint32_t position, std::uint32_t distance, Match& best) const {
  const std::uint8_t* here = bytes_ + position;
  const std::int64_t length = equal_bytes(here, here - distance, size_ - position);
  const std::int64_t cost = (1 + length / kLongest) * (kRepeatCost + 16 * extra_bits(distance));
  const std::int64_t gain = length * literal_cost_ - cost;
  if (gain > best.gain) best = {static_cast<std::uint64_t>(length), distance, gain};
}

RepeatFinder::Match RepeatFinder::best_at(std::uint32_t position) {
  Match best;
  consider(position, last_distance_, best);
  if (best.length >= kSettled) return best;
  if (long_distance_ != last_distance_) consider(position, long_distance_, best);
  const std::uint32_t now = base_ + position;
  if (position < long_end_)
    if (const std::uint32_t found = newest_long(position); found >= base_) consider(position, now - found, best);
  if (best.length >= kLongHash) return best;
  if (const std::uint32_t found = newest(position); found >= base_) consider(position, now - found, best);
  return best;
}

/// Sixteenths of bits that a byte takes by how often it occurs; of some bytes, as an estimate is all that is needed. In
/// integers, so that every machine makes the same of it.
std::int64_t RepeatFinder::literal_cost() const {
  std::array<std::uint32_t, 256> count{};
  const std::uint32_t step = std::max<std::uint32_t>(size_ / 1024, 1) | 1;
  std::uint64_t samples = 0;
  for (std::uint32_t i = 0; i < size_; i += step) ++count[bytes_[i]], ++samples;
  std::uint64_t bits = 0;
  for (const std::uint32_t n : count) {
    if (n == 0) continue;
    const std::uint64_t rarity = (samples << 16) / n;  // the logarithm of which is taken as straight between powers of 2
    const auto power = static_cast<unsigned>(std::bit_width(rarity)) - 1;
    bits += n * (16 * (power - 16) + (rarity >> (power - 4) & 15));
  }
  return std::max<std::int64_t>(16, static_cast<std::int64_t>(bits / samples));
}

void RepeatFinder::emit(const Match& match) {
  const auto distance = static_cast<std::uint32_t>(match.distance);
  last_distance_ = distance;
  if (match.length >= kLong) long_distance_ = distance;
  auto left = static_cast<std::uint32_t>(match.length);
  while (left > 0) {
    // What is left must not be shorter than a repeat can be.
    std::uint32_t now = std::min(left, kLongest);
    if (left > now && left - now < kShortest) now = left - kShortest;
    tokens_.push_back(kRepeat | (now - 3) << 15 | (distance - 1));
    left -= now;
  }
}

std::span<const std::uint32_t> RepeatFinder::tokens(std::span<const std::uint8_t> bytes) {
  tokens_.clear();
  if (base_ > kMostBase) {
    for (std::vector<std::uint32_t>* v : {&newest_, &newest_long_}) std::fill(v->begin(), v->end(), 0);
    base_ = kReach;
  }
  bytes_ = bytes.data(), size_ = static_cast<std::uint32_t>(bytes.size());
  last_distance_ = long_distance_ = 0;
  std::uint32_t at = 0, misses = 0;
  if (size_ >= 2 * kShortest) {
    literal_cost_ = literal_cost();
    long_end_ = literal_cost_ < kFewValues && size_ >= kLongHash ? size_ - kLongHash + 1 : 0;
    const std::uint32_t end = size_ - kShortest;
    while (at <= end) {
      Match match = best_at(at);
      remember(at);
      while (match.gain > 0 && match.length < kSatisfied && at < end) {
        const Match next = best_at(at + 1);
        if (next.gain <= match.gain + literal_cost_) break;
        tokens_.push_back(bytes_[at++]);
        remember(at);
        match = next;
      }
      if (match.gain <= 0) {
        tokens_.push_back(bytes_[at++]);
        for (std::uint32_t skip = ++misses / kPatience; skip > 0 && at <= end; --skip) tokens_.push_back(bytes_[at++]);
        continue;
      }
      misses = 0;
      const std::uint32_t behind = at + static_cast<std::uint32_t>(match.length);
      emit(match);
      remember_all(at + 1, std::min(at + kRemembered, behind));
      remember_all(std::max(at + kRemembered, behind - std::min(behind, kRemembered)), behind);
      at = behind;
    }
  }
  for (; at < size_; ++at) tokens_.push_back(bytes_[at]);
  base_ += size_;
  return tokens_;
}

}  // namespace atl
