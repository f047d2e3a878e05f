#pragma once
#include <cstdint>
#include <optional>
#include <span>

#include "partition/rank_map.hpp"

namespace atl {

/// Part of the greatest work of a rank that a change must save to be made.
///
/// What a change costs: a chip's state, 10 to 20 MB, has to come from memory again, 20 ms at most; a look covers some 100 ms
/// at its longest interval (MoveRule), so that it has paid for itself after two. What is known: work is counted in events,
/// whose time differs between chips by a tenth, more seldom by a fifth; and ranks wait for each other in every window, so
/// that of what is saved in the sum over many only a part is saved in the end. Less than this may be no gain at all.
inline constexpr double kWorthMoving = 0.15;

/// A map with which the greatest work of the ranks that share an address space is clearly less, if there is one for any of
/// them. `work`: of each process of late; `space_of`: the address space of each rank, in which chips may move from one rank
/// to another. The controller stays, and no rank is left without a process.
///
/// Goes from the map that there is to a better one in single steps, each a chip that leaves the rank with most to do or
/// changes places with one of less work, and so moves few. Of steps as good as each other it takes the one that keeps
/// chips beside their neighbours in number, which are so in most topologies.
std::optional<RankMap> rebalanced(const RankMap& now, std::span<const std::uint64_t> work, std::span<const int> space_of);

/// Whether that could ever be: some address space has several ranks, and more chips than ranks.
bool can_rebalance(const RankMap& map, std::span<const int> space_of);

}  // namespace atl
