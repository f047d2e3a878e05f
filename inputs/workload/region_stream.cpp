#include "inputs/workload/region_stream.hpp"

#include <algorithm>

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

}  // namespace

RegionStream::RegionStream(const RegionConfig& region, std::uint64_t base, std::uint32_t groups, std::uint64_t advances)
    : kind_(region.kind),
      groups_(groups),
      base_block_(base / kBlock),
      blocks_(region.size_kib * 1024 / kBlock),
      part_unit_(part_unit(blocks_, groups)),
      advances_(advances),
      head_moves_(region.pattern == Pattern::stream || region.pattern == Pattern::strided),
      near_below_(threshold(region.near_reuse)),
      reuse_below_(threshold(region.near_reuse + region.far_reuse)),
      hot_below_(region.pattern == Pattern::hot_set ? threshold(region.hot_probability) : 0),
      accesses_(region.accesses),
      sectors_(region.sectors),
      near_(std::max(1u, region.near_lines / region.accesses)),
      far_(std::max(1u, region.far_lines / region.accesses)),
      stride_(region.pattern == Pattern::strided ? region.stride_bytes / kBlock : 1),
      hot_fraction_(region.pattern == Pattern::hot_set ? region.hot_fraction : 0) {}

void RegionStream::begin_warp(const WarpPlace& place) {
  const std::uint64_t g = place.group;
  first_block_ = base_block_, step_ = 1, count_ = blocks_;
  if (kind_ == Sharing::private_) {
    const auto start = [&](std::uint64_t i) {
      return i == groups_ ? blocks_ : i * blocks_ / groups_ / part_unit_ * part_unit_;
    };
    first_block_ += start(g), count_ = start(g + 1) - start(g);
  } else if (kind_ == Sharing::false_shared) {
    first_block_ += g, step_ = groups_, count_ = (blocks_ - g + groups_ - 1) / groups_;
  }
  if (hot_below_)
    hot_ = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(hot_fraction_ * static_cast<double>(count_)), 1, count_);
  if (hot_ == count_ && hot_below_) hot_below_ = 1u << kDrawBits;  // there is no cold part

  // In shared regions the groups start evenly spread over the window. Were they in step, the same chip would win the first
  // touch of every page; a real launch spreads the homes.
  const std::uint64_t shift = kind_ == Sharing::private_ ? 0 : g * place.warps / groups_;
  warps_ = place.warps;
  next_ = place.wave * advances_ * warps_ + (place.index + shift) % warps_;
  head_ = next_;
}

}  // namespace atl
