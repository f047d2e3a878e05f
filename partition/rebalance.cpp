#include "partition/rebalance.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

namespace atl {
namespace {

/// Steps that save less than this part of the greatest work are left out: they would move chips for nothing.
constexpr std::uint64_t kLeastPart = 100;

/// A chip goes to another rank, and one of that rank may come back.
struct Step {
  LpId chip = 0;
  std::uint32_t to = 0;
  std::optional<LpId> back{};
  std::uint64_t greatest = 0;  ///< work of the two ranks afterwards
  int neighbours = 0;          ///< gained, or lost
};

class Plan {
 public:
  Plan(const RankMap& now, std::span<const std::uint64_t> work) : work_(work), load_(now.ranks()), count_(now.ranks()) {
    for (LpId lp = 0; lp < now.lps(); ++lp) {
      rank_of_.push_back(now.rank_of(lp));
      load_[rank_of_[lp]] += work[lp], ++count_[rank_of_[lp]];
    }
  }

  /// Of the ranks of one address space.
  bool improve(const std::vector<std::uint32_t>& ranks) {
    const Plan before = *this;
    const std::uint64_t most = load_[heaviest(ranks)], least_gain = std::max<std::uint64_t>(most / kLeastPart, 1);
    while (const auto step = best_step(ranks, least_gain)) take(*step);
    if (most != 0 && static_cast<double>(load_[heaviest(ranks)]) <= (1 - kWorthMoving) * static_cast<double>(most))
      return true;
    *this = before;
    return false;
  }
  std::vector<std::uint32_t> rank_of() && { return std::move(rank_of_); }

 private:
  std::uint32_t heaviest(const std::vector<std::uint32_t>& ranks) const {
    return *std::ranges::max_element(ranks, {}, [&](std::uint32_t rank) { return load_[rank]; });
  }
  LpId chips() const { return static_cast<LpId>(rank_of_.size() - 1); }

  /// How many of the chips next to `chip` in number `rank` has; `gone` does not count.
  int neighbours(LpId chip, std::uint32_t rank, std::optional<LpId> gone = {}) const {
    int found = 0;
    for (const LpId next : {(chip + 1) % chips(), (chip + chips() - 1) % chips()})
      found += next != chip && next != gone && rank_of_[next] == rank ? 1 : 0;
    return found;
  }

  std::optional<Step> best_step(const std::vector<std::uint32_t>& ranks, std::uint64_t least_gain) const {
    const std::uint32_t from = heaviest(ranks);
    std::optional<Step> best;
    const auto consider = [&](const Step& s) {
      if (s.greatest + least_gain > load_[from]) return;
      const auto key = [&](const Step& step) {
        return std::tuple(step.greatest / least_gain, -step.neighbours, step.back.has_value(), step.greatest);
      };
      if (!best || key(s) < key(*best)) best = s;
    };
    for (LpId chip = 0; chip < chips(); ++chip) {
      if (rank_of_[chip] != from) continue;
      for (const std::uint32_t to : ranks) {
        if (to == from) continue;
        const std::uint64_t stays = load_[from] - work_[chip], comes = load_[to] + work_[chip];
        const int gained = neighbours(chip, to) - neighbours(chip, from);
        if (count_[from] > 1) consider({chip, to, {}, std::max(stays, comes), gained});
        for (LpId back = 0; back < chips(); ++back) {
          if (rank_of_[back] != to || work_[back] >= work_[chip]) continue;
          const int both =
              neighbours(chip, to, back) - neighbours(chip, from) + neighbours(back, from, chip) - neighbours(back, to);
          consider({chip, to, back, std::max(stays + work_[back], comes - work_[back]), both});
        }
      }
    }
    return best;
  }

  void take(const Step& step) {
    const std::uint32_t from = rank_of_[step.chip];
    const auto move = [&](LpId chip, std::uint32_t a, std::uint32_t b) {
      rank_of_[chip] = b;
      load_[a] -= work_[chip], load_[b] += work_[chip];
      --count_[a], ++count_[b];
    };
    move(step.chip, from, step.to);
    if (step.back) move(*step.back, step.to, from);
  }

  std::span<const std::uint64_t> work_;  ///< [process]
  std::vector<std::uint32_t> rank_of_;   ///< [process]
  std::vector<std::uint64_t> load_;      ///< [rank]
  std::vector<std::uint32_t> count_;     ///< [rank] processes
};

std::map<int, std::vector<std::uint32_t>> ranks_by_space(std::span<const int> space_of) {
  std::map<int, std::vector<std::uint32_t>> ranks;
  for (std::uint32_t rank = 0; rank < space_of.size(); ++rank) ranks[space_of[rank]].push_back(rank);
  return ranks;
}

}  // namespace

std::optional<RankMap> rebalanced(const RankMap& now, std::span<const std::uint64_t> work, std::span<const int> space_of) {
  Plan plan(now, work);
  bool better = false;
  for (const auto& [space, ranks] : ranks_by_space(space_of)) better = plan.improve(ranks) || better;
  if (!better) return std::nullopt;
  return RankMap::of(std::move(plan).rank_of(), now.ranks());
}

bool can_rebalance(const RankMap& map, std::span<const int> space_of) {
  return std::ranges::any_of(ranks_by_space(space_of), [&](const auto& space) {
    const auto& ranks = space.second;
    std::size_t chips = 0;
    for (LpId chip = 0; chip + 1 < map.lps(); ++chip)
      chips += std::ranges::find(ranks, map.rank_of(chip)) != ranks.end() ? 1 : 0;
    return ranks.size() > 1 && chips > ranks.size();
  });
}

}  // namespace atl
