#include "inputs/ptx/shared_races.hpp"

#include <algorithm>

namespace atl::ptx {

void SharedRaces::begin(std::uint32_t warps, std::uint32_t bytes, std::uint32_t granule) {
  granule_ = granule;
  clocks_.assign(warps, Clock{});
  for (std::uint32_t w = 0; w < warps; ++w) clocks_[w][w] = 1;
  at_barrier_ = {};
  published_ = {};
  fenced_.assign(warps, Clock{});
  released_.clear();
  memory_.assign((bytes + granule - 1) / granule, Granule{});
}

std::optional<SharedRaces::Race> SharedRaces::access(std::uint32_t offset, std::uint32_t bytes, SharedTouch touch) {
  touch.clock = clocks_[touch.warp][touch.warp];
  const std::optional<std::uint64_t> value = touch.value;
  std::optional<Race> race;
  for (std::uint32_t at = offset / granule_; at < (offset + bytes + granule_ - 1) / granule_; ++at) {
    Granule& g = memory_[at];
    if (value) touch.value = part_of(*value, at * granule_ - offset);
    if (touch.strong) hand_over(at, touch);
    const auto compare = [&](const SharedTouch& earlier) {
      if (!race && !ordered(earlier, touch)) race = Race{at * granule_, earlier, touch};
    };
    compare(g.write);
    if (touch.writes) {
      std::for_each(g.reads.begin(), g.reads.end(), compare);
      g.write = touch;
    } else {
      note_read(g, touch);
    }
  }
  return race;
}

/// A release sequence goes through atomics of others, so that what one word hands over adds up.
void SharedRaces::hand_over(std::uint32_t granule, const SharedTouch& touch) {
  const auto known = released_.find(granule);
  if (touch.reads && known != released_.end()) join(clocks_[touch.warp], known->second);
  if (touch.writes) join(released_[granule], fenced_[touch.warp]);
}

/// What a granule gets of a value, `from` bytes behind its begin.
std::uint64_t SharedRaces::part_of(std::uint64_t value, std::uint32_t from) const {
  return value >> 8 * from & (granule_ >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << 8 * granule_) - 1);
}

bool SharedRaces::ordered(const SharedTouch& earlier, const SharedTouch& later) const {
  const bool agree = earlier.writes && later.writes && earlier.value && earlier.value == later.value;
  return agree || earlier.clock == 0 || earlier.warp == later.warp || (earlier.strong && later.strong) ||
         earlier.clock <= clocks_[later.warp][earlier.warp];
}

void SharedRaces::note_read(Granule& g, const SharedTouch& touch) {
  if (g.reads[0].clock != 0 && g.reads[0].warp != touch.warp) g.reads[1] = g.reads[0];
  // A weak read conflicts with more than a strong one of the same warp and time, so it stays.
  const bool covered = g.reads[0].warp == touch.warp && g.reads[0].clock == touch.clock && !g.reads[0].strong;
  if (!covered) g.reads[0] = touch;
}

void SharedRaces::arrive(std::uint32_t warp, std::uint32_t barrier) {
  join(at_barrier_[barrier], clocks_[warp]);
  ++clocks_[warp][warp];  // what the warp does from now on comes after its arrival
}

void SharedRaces::publish(std::uint32_t warp) {
  join(published_, clocks_[warp]);
  ++clocks_[warp][warp];
}

void SharedRaces::fence(std::uint32_t warp) {
  fenced_[warp] = clocks_[warp];
  ++clocks_[warp][warp];
}

void SharedRaces::release(std::uint32_t barrier, std::uint32_t waiting, std::uint32_t gone) {
  Clock& known = at_barrier_[barrier];
  for (std::uint32_t w = 0; w < clocks_.size(); ++w)
    if ((gone >> w & 1) != 0) join(known, clocks_[w]);
  for (std::uint32_t w = 0; w < clocks_.size(); ++w)
    if ((waiting >> w & 1) != 0) join(clocks_[w], known);
  known = {};
}

void SharedRaces::join(Clock& to, const Clock& from) {
  for (std::uint32_t w = 0; w < kMostWarps; ++w) to[w] = std::max(to[w], from[w]);
}

}  // namespace atl::ptx
