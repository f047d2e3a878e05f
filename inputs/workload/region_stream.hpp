#pragma once
#include <algorithm>
#include <cstdint>

#include "core/engine/split_mix.hpp"
#include "inputs/workload/parametric_config.hpp"
#include "inputs/workload/warp_random.hpp"
#include "inputs/workload/workload.hpp"

/// Where a parametric workload's accesses go. Nothing here is shared between warps: the position of a stream's head follows
/// from an instruction's number in its group, so every rank generates the same CTA, in any order.
namespace atl {

/// One region as the warps of one group see it: which lines are theirs, and which of them an instruction touches.
class RegionStream {
 public:
  static constexpr std::uint64_t kFirstBase = 0x100000000;  ///< of a workload's first region

  /// `base` is the region's first byte.
  RegionStream(const RegionConfig& region, std::uint64_t base, std::uint32_t groups, std::uint64_t page_bytes = 4096);

  /// Numbers that are uniform over 64 bits: one of the launch's group, one of the group's wave.
  struct HeadDraws {
    std::uint64_t group = 0, wave = 0;
  };
  /// Moves to a group's lines. Groups go round each `stretch` of a shared region from different points, and their heads are
  /// ahead by what the draws make of `phase` and `skew_lines`.
  void begin_group(std::uint32_t group, std::uint64_t stretch, HeadDraws draws);
  void begin_warp() { warp_touched_ = false; }

  /// Part of the region's instructions that move its head on to lines not touched in this round.
  double advancing() const { return advancing_; }

  /// Appends the accesses of the instruction that advances for the n-th time.
  template <class Out> void advance(std::uint64_t n, WarpRandom& random, Out& out) {
    if (count_ == 0) return;  // a group without a page of its own
    warp_place_ = n, warp_touched_ = true;
    n = turned(n + ahead_);
    for (std::uint64_t i = 0; i < accesses_; ++i) emit(line_at(n * accesses_ + i), random, out);
  }

  /// Appends the accesses of one that does not, after `advances`. `age` is the instruction's number in the warps of its
  /// wave and of those before, `choice` a 21-bit draw.
  template <class Out>
  void revisit(std::uint64_t advances, std::uint64_t age, WarpRandom& random, std::uint32_t choice, Out& out) {
    if (count_ == 0) return;
    if (head_moves_ && choice < warp_below_) {
      const std::uint64_t before_head = advances > 0 ? advances - 1 : places_ - 1;  // a warp's first instruction
      advance(warp_touched_ ? warp_place_ : before_head, random, out);
    } else if (head_moves_) {
      // A window is full from the start: what lies before the region's first line is the end of it, as if the round before
      // had just ended. Otherwise all reuse of a kernel's first cycles, which SAC profiles, would go to a handful of lines.
      const std::uint64_t back = 1 + random.below(std::min(choice < near_below_ ? near_ : far_, places_));
      advance(advances >= back ? advances - back : advances + places_ - back, random, out);
    } else {
      // All groups have the same hot part at the same age.
      const std::uint64_t moved = hot_moves_every_ == 0 ? 0 : age / hot_moves_every_ * hot_ % count_;
      for (std::uint64_t i = 0; i < accesses_; ++i) {
        const bool hot = random.next() >> (64 - kDrawBits) < hot_below_;
        const std::uint64_t line = moved + (hot ? random.below(hot_) : hot_ + random.below(count_ - hot_));
        emit(line < count_ ? line : line - count_, random, out);
      }
    }
  }

 private:
  /// The n-th advance's place: stretches come one after another, each begun at the group's point. The last is shorter.
  std::uint64_t turned(std::uint64_t n) const {
    if (turn_ == 0) return n;
    const std::uint64_t in_round = n < places_ ? n : n % places_, at = in_round % stretch_, begin = in_round - at;
    const std::uint64_t left = places_ - begin, length = std::min(stretch_, left);
    const std::uint64_t turned_at = at + (left < stretch_ ? turn_ * length / stretch_ : turn_);
    return n - at + (turned_at < length ? turned_at : turned_at - length);
  }
  std::uint64_t line_at(std::uint64_t position) const {
    if (stride_ == 1) return position < count_ ? position : position % count_;  // mostly no division
    // Back where it began, a stride goes on one line further, so that every line is touched once before the first one again.
    return (position * stride_ + position / until_back_) % count_;
  }
  template <class Out> void emit(std::uint64_t owned, WarpRandom& random, Out& out) {
    unsigned mask = 0xF;
    if (sectors_ < 4) mask = ((1u << sectors_) - 1) << (random.below(sectors_ == 1 ? 4 : 2) * (sectors_ == 2 ? 2 : 1));
    const std::uint64_t block = first_block_ + (owned >> unit_bits_) * step_ + (owned & ((1ull << unit_bits_) - 1));
    if (partial_below_ != 0) mask &= touched(block);
    out.push_back({block << 8 | mask});
  }
  /// The sectors of a line that are ever touched: some that lie together in a share of the lines, all in the others.
  unsigned touched(std::uint64_t block) const {
    const std::uint64_t draw = split_mix(block);
    if (draw_part(draw, 0) >= partial_below_) return 0xF;
    const unsigned n = partial_sectors_ + (draw_part(draw, 1) < more_below_ ? 1 : 0);
    return ((1u << n) - 1) << draw_part(draw, 2) % (5 - n);
  }

  Sharing kind_;
  std::uint32_t groups_;
  std::uint64_t base_block_, blocks_, part_unit_;
  bool head_moves_;
  double advancing_;
  std::uint32_t warp_below_, near_below_, hot_below_, accesses_, sectors_;
  std::uint64_t near_, far_, stride_;
  double hot_fraction_, phase_;
  std::uint64_t hot_moves_every_, skew_;
  unsigned page_bits_;
  std::uint32_t partial_below_, more_below_;
  unsigned partial_sectors_;
  // Of the present group: units of 2^unit_bits_ lines that are step_ lines apart.
  unsigned unit_bits_ = 0;
  std::uint64_t first_block_ = 0, step_ = 1, count_ = 1, until_back_ = 1, hot_ = 0, places_ = 1, stretch_ = 1, turn_ = 0,
                ahead_ = 0;
  // Of the present warp: the place that it touched last.
  std::uint64_t warp_place_ = 0;
  bool warp_touched_ = false;
};

}  // namespace atl
