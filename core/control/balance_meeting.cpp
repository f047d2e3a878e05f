#include "core/control/balance_meeting.hpp"

#include <algorithm>
#include <utility>

#include "comm/control_message.hpp"
#include "partition/rebalance.hpp"

namespace atl {

BalanceMeeting::BalanceMeeting(Transport& transport, const RankMap& map, const std::vector<LogicalProcess*>& local,
                               const MoveRule& rule, std::vector<int> space_of, Meeting* other)
    : transport_(transport),
      map_(map),
      local_(local),
      rule_(rule),
      other_(other),
      space_of_(std::move(space_of)),
      interval_(rule.first),
      seen_(events_of_all()),  // of a run that goes on from a checkpoint they are many
      work_(map.lps()) {}

std::vector<std::uint64_t> BalanceMeeting::events_of_all() const {
  std::vector<std::pair<LpId, std::uint64_t>> mine;
  for (const LogicalProcess* p : local_) mine.emplace_back(p->id(), p->events());
  std::vector<std::uint64_t> all(map_.lps());
  for (const std::string& body : transport_.all_gather(pack(mine)))
    for (const auto& [lp, events] : unpack<std::vector<std::pair<LpId, std::uint64_t>>>(body)) all[lp] = events;
  return all;
}

bool BalanceMeeting::meet(Cycle boundary, Cycle next, std::uint32_t request) {
  if (other_ != nullptr && !other_->meet(boundary, next, request)) return false;
  if (++since_ < interval_) return true;
  since_ = 0, interval_ = std::min(2 * interval_, rule_.most);
  const std::vector<std::uint64_t> now = events_of_all();
  std::uint64_t all = 0;
  for (std::size_t lp = 0; lp < now.size(); ++lp) all += now[lp] - seen_[lp];
  if (all < rule_.least_events) return true;
  for (std::size_t lp = 0; lp < now.size(); ++lp) work_[lp] = work_[lp] / 2 + now[lp] - seen_[lp];
  seen_ = now;
  better_ = rebalanced(map_, work_, space_of_);
  boundary_ = boundary;
  return !better_;
}

}  // namespace atl
