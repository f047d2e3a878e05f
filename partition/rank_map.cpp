#include "partition/rank_map.hpp"

#include <string_view>

#include "core/engine/error.hpp"
#include "core/engine/whole_number.hpp"

namespace atl {
namespace {

void check_ranks(std::uint32_t chips, std::uint32_t ranks) {
  if (ranks >= 1 && ranks <= chips + 1) return;
  throw InputError(std::to_string(ranks) + " ranks", "a system of " + std::to_string(chips) + " chips runs on 1 to " +
                                                         std::to_string(chips + 1) +
                                                         " ranks, one per chip and one for the controller");
}

}  // namespace

RankMap::RankMap(std::vector<std::uint32_t> rank_of, std::uint32_t ranks) : rank_of_(std::move(rank_of)), lps_of_(ranks) {
  for (LpId lp = 0; lp < rank_of_.size(); ++lp) lps_of_[rank_of_[lp]].push_back(lp);
}

RankMap RankMap::spread(std::uint32_t chips, std::uint32_t ranks) {
  check_ranks(chips, ranks);
  if (ranks == chips + 1) {
    std::vector<std::uint32_t> own(ranks);
    for (std::uint32_t lp = 0; lp < ranks; ++lp) own[lp] = lp;
    return {std::move(own), ranks};
  }
  std::vector<std::uint32_t> rank_of(chips + 1), load(ranks);
  for (LpId chip = 0; chip < chips; ++chip) ++load[rank_of[chip] = chip * ranks / chips];
  std::uint32_t least = 0;
  for (std::uint32_t rank = 1; rank < ranks; ++rank)
    if (load[rank] <= load[least]) least = rank;
  rank_of[chips] = least;
  return {std::move(rank_of), ranks};
}

RankMap RankMap::parse(const std::string& text, std::uint32_t chips, std::uint32_t ranks) {
  check_ranks(chips, ranks);
  const std::string where = "--map " + text;
  std::vector<std::uint32_t> rank_of;
  std::vector<bool> used(ranks);
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string_view word(text.data() + from, to - from);
    const auto rank = whole_number<std::uint32_t>(word);
    if (!rank) throw InputError(where, "'" + std::string(word) + "' is not a rank; expected numbers separated by commas");
    if (*rank >= ranks)
      throw InputError(where, "rank " + std::to_string(*rank) + " does not exist, there are " + std::to_string(ranks));
    used[*rank] = true;
    rank_of.push_back(*rank);
    from = to + 1;
  }
  if (rank_of.size() != chips + 1)
    throw InputError(where, std::to_string(rank_of.size()) + " entries, but " + std::to_string(chips + 1) +
                                " are needed: one per chip, then the controller");
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    if (!used[rank]) throw InputError(where, "rank " + std::to_string(rank) + " has nothing to do");
  return {std::move(rank_of), ranks};
}

}  // namespace atl
