#include "inputs/workload/region_stream.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

namespace atl {
namespace {

constexpr std::uint64_t kBlock = Access::kBlockBytes;

/// Boundaries of private parts fall on pages, so that no page has two users, unless parts would become too unequal.
std::uint64_t part_unit(std::uint64_t blocks, std::uint32_t groups) {
  const std::uint64_t part = blocks / groups;
  for (const std::uint64_t bytes : {2ull << 20, 4ull << 10})
    if (part * kBlock >= 8 * bytes) return bytes / kBlock;
  return 1;
}

/// Part of the non-advancing instructions that is `reuse`; the rest is for kinds of reuse that come after.
std::uint32_t reuse_below(double reuse, const RegionConfig& r) {
  return reuse > 0 ? threshold(reuse / (r.warp_reuse + r.near_reuse + r.far_reuse)) : 0;
}

/// A uniform 64-bit draw as a number in [0, n).
std::uint64_t scaled(std::uint64_t draw, std::uint64_t n) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>(Wide{draw} * n >> 64);
}

}  // namespace

RegionStream::RegionStream(const RegionConfig& region, std::uint64_t base, std::uint32_t groups, std::uint64_t page_bytes)
    : kind_(region.kind),
      groups_(groups),
      base_block_(base / kBlock),
      blocks_(region.size_kib * 1024 / kBlock),
      part_unit_(part_unit(blocks_, groups)),
      head_moves_(has_head(region.pattern)),
      advancing_(head_moves_ ? std::max(0.0, 1 - region.warp_reuse - region.near_reuse - region.far_reuse) : 0),
      warp_below_(reuse_below(region.warp_reuse, region)),
      near_below_(reuse_below(region.warp_reuse + region.near_reuse, region)),
      hot_below_(region.pattern == Pattern::hot_set ? threshold(region.hot_probability) : 0),
      accesses_(region.accesses),
      sectors_(region.sectors),
      near_(std::max(1u, region.near_lines / region.accesses)),
      far_(std::max(1u, region.far_lines / region.accesses)),
      stride_(region.pattern == Pattern::strided ? region.stride_bytes / kBlock : 1),
      hot_fraction_(region.pattern == Pattern::hot_set ? region.hot_fraction : 0),
      phase_(region.phase),
      hot_moves_every_(region.hot_moves_every),
      skew_(region.skew_lines / region.accesses),
      page_bits_(static_cast<unsigned>(std::countr_zero(page_bytes / kBlock))),
      partial_below_(threshold(region.partial_lines)),
      more_below_(threshold(region.partial_sectors - std::floor(region.partial_sectors))),
      partial_sectors_(static_cast<unsigned>(region.partial_sectors)) {}

void RegionStream::begin_group(std::uint32_t g, std::uint64_t stretch, HeadDraws draws) {
  first_block_ = base_block_, step_ = 1, count_ = blocks_;
  bool shares_pages = false;
  switch (kind_) {
    case Sharing::private_: {
      const auto start = [&](std::uint64_t i) {
        return i == groups_ ? blocks_ : i * blocks_ / groups_ / part_unit_ * part_unit_;
      };
      first_block_ += start(g), count_ = start(g + 1ull) - start(g);
      break;
    }
    case Sharing::false_shared:
      first_block_ += g, step_ = groups_, count_ = (blocks_ - g + groups_ - 1) / groups_;
      shares_pages = true;
      break;
    case Sharing::true_shared:
      shares_pages = true;
      break;
    case Sharing::page_interleaved: {
      // Pages are counted from the first region on: large ones of small regions would all be the first group's otherwise.
      const std::uint64_t page = 1ull << page_bits_, before = (base_block_ - kFirstBase / kBlock) >> page_bits_;
      const std::uint64_t turn = (g + groups_ - before % groups_) % groups_;
      const std::uint64_t round = groups_ * page, rest = blocks_ % round, mine = turn * page;
      unit_bits_ = page_bits_, step_ = round, first_block_ += mine;
      count_ = blocks_ / round * page + (rest > mine ? std::min(rest - mine, page) : 0);
      break;
    }
  }
  until_back_ = std::max<std::uint64_t>(1, count_ / std::gcd(count_, stride_));
  if (hot_below_)
    hot_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(hot_fraction_ * static_cast<double>(count_)), 1, count_);
  if (hot_ == count_ && hot_below_) hot_below_ = 1u << kDrawBits;  // there is no cold part

  // A real launch spreads the homes of shared pages. If all groups passed a page at the same time, the chip that is ahead
  // would win every first touch, and local homes would keep it ahead.
  places_ = std::max<std::uint64_t>(1, count_ / accesses_), stretch_ = stretch;
  turn_ = shares_pages ? g * stretch / groups_ : 0;
  ahead_ =
      scaled(draws.group, static_cast<std::uint64_t>(phase_ * static_cast<double>(places_))) + scaled(draws.wave, skew_);
}

}  // namespace atl
