#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/types.hpp"

namespace atl {

/// Which MPI rank runs which logical process: chips 0..N-1 and the controller N. Results never depend on it.
class RankMap {
 public:
  /// With N+1 ranks chip k is in rank k and the controller in rank N. With fewer, the chips are dealt out in contiguous
  /// blocks and the controller joins the last of the ranks with the fewest chips. More than N+1: InputError.
  static RankMap spread(std::uint32_t chips, std::uint32_t ranks);

  /// A map such as "0,0,1,1,2", the controller last. Throws InputError unless every LP has a rank and every rank an LP.
  static RankMap parse(const std::string& text, std::uint32_t chips, std::uint32_t ranks);

  /// `rank_of[lp]`, which the program has worked out.
  static RankMap of(std::vector<std::uint32_t> rank_of, std::uint32_t ranks) { return {std::move(rank_of), ranks}; }

  std::uint32_t rank_of(LpId lp) const { return rank_of_[lp]; }
  const std::vector<LpId>& lps_of(std::uint32_t rank) const { return lps_of_[rank]; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(lps_of_.size()); }
  std::uint32_t lps() const { return static_cast<std::uint32_t>(rank_of_.size()); }

 private:
  RankMap(std::vector<std::uint32_t> rank_of, std::uint32_t ranks);
  std::vector<std::uint32_t> rank_of_;
  std::vector<std::vector<LpId>> lps_of_;  ///< ascending
};

}  // namespace atl
