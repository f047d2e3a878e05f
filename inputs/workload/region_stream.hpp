#pragma once
#include <cstdint>

#include "inputs/workload/parametric_config.hpp"
#include "inputs/workload/workload.hpp"

/// Where a parametric workload's accesses go. Nothing here is shared between warps: a warp derives the position of a
/// stream's head from its own progress, so every rank generates the same CTA, in any order.
namespace atl {

/// splitmix64: a counter passed through a mixer, seeded anew for every warp.
class WarpRandom {
 public:
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ z >> 27) * 0x94D049BB133111EBull;
    return z ^ z >> 31;
  }
  WarpRandom(std::uint64_t seed, std::uint64_t kernel, std::uint64_t cta, std::uint64_t warp)
      : state_(mix(mix(mix(seed + 0x632BE59BD9B4E019ull) + kernel * kStep) + (cta << 8 | warp) * kStep)) {}
  std::uint64_t next() { return mix(state_ += kStep); }
  /// Uniform in [0, n), by multiplication instead of division.
  std::uint64_t below(std::uint64_t n) { return static_cast<std::uint64_t>(Wide{next()} * n >> 64); }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15ull;
  std::uint64_t state_;
};

/// Several probabilities are drawn from one random number, 21 bits each.
inline constexpr unsigned kDrawBits = 21;
inline std::uint32_t threshold(double probability) {
  return static_cast<std::uint32_t>(probability * (1 << kDrawBits) + 0.5);
}
inline std::uint32_t draw_part(std::uint64_t draw, unsigned part) {
  return static_cast<std::uint32_t>(draw >> part * kDrawBits) & ((1u << kDrawBits) - 1);
}

/// A warp's place among those that share a stream's head.
struct WarpPlace {
  std::uint32_t group = 0;  ///< chip under contiguous distribution
  std::uint64_t wave = 0;   ///< CTAs of a group run in waves of concurrent_ctas
  std::uint64_t index = 0;  ///< warp number in the wave
  std::uint64_t warps = 1;  ///< warps per wave
};

/// One region as one warp sees it: its lines, and the head of its stream.
class RegionStream {
 public:
  /// `base` is the region's first byte; `advances` the expected number of advances of one warp, which separates waves.
  RegionStream(const RegionConfig& region, std::uint64_t base, std::uint32_t groups, std::uint64_t advances);

  /// Moves to a warp's start.
  void begin_warp(const WarpPlace& place);

  /// Appends the accesses of one memory instruction. `choice` is a 21-bit draw.
  template <class Out> void access(WarpRandom& random, std::uint32_t choice, Out& out) {
    if (head_moves_) {
      const std::uint64_t position = choose_position(random, choice);
      for (std::uint64_t i = 0; i < accesses_; ++i) emit(line_at(position * accesses_ + i), random, out);
    } else {
      for (std::uint64_t i = 0; i < accesses_; ++i)
        emit(random.next() >> (64 - kDrawBits) < hot_below_ ? random.below(hot_) : hot_ + random.below(count_ - hot_),
             random, out);
    }
  }

 private:
  /// Without branches on the draw: which way it goes cannot be predicted.
  std::uint64_t choose_position(WarpRandom& random, std::uint32_t choice) {
    if (reuse_below_ == 0) {  // this one can be: it is a constant of the region
      head_ = next_;
      next_ += warps_;
      return head_;
    }
    const std::uint64_t window = choice < near_below_ ? near_ : far_;
    const std::uint64_t behind = random.below(window <= head_ ? window : head_ + 1);  // never ahead of the head
    const std::uint64_t advance = choice >= reuse_below_ ? ~0ull : 0;
    const std::uint64_t position = (next_ & advance) | ((head_ - behind) & ~advance);
    head_ = (next_ & advance) | (head_ & ~advance);
    next_ += warps_ & advance;
    return position;
  }
  std::uint64_t line_at(std::uint64_t position) const {
    if (stride_ == 1) return position < count_ ? position : position % count_;  // mostly no division
    const std::uint64_t at = position * stride_;
    return (at % count_ + at / count_) % count_;  // each round starts one line further, so that all are touched in the end
  }
  template <class Out> void emit(std::uint64_t owned, WarpRandom& random, Out& out) {
    unsigned mask = 0xF;
    if (sectors_ < 4) mask = ((1u << sectors_) - 1) << (random.below(sectors_ == 1 ? 4 : 2) * (sectors_ == 2 ? 2 : 1));
    out.push_back({(first_block_ + owned * step_) << 8 | mask});
  }

  Sharing kind_;
  std::uint32_t groups_;
  std::uint64_t base_block_, blocks_, part_unit_, advances_;
  bool head_moves_;
  std::uint32_t near_below_, reuse_below_, hot_below_, accesses_, sectors_;
  std::uint64_t near_, far_, stride_;
  double hot_fraction_;
  // Of the present warp:
  std::uint64_t first_block_ = 0, step_ = 1, count_ = 1, hot_ = 0;
  std::uint64_t head_ = 0, next_ = 0, warps_ = 1;
};

}  // namespace atl
