#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "comm/synchroniser.hpp"
#include "comm/transport.hpp"
#include "core/engine/logical_process.hpp"
#include "partition/rank_map.hpp"

namespace atl {

/// When it is looked at how work is spread over the threads of a process.
///
/// A look costs all ranks an exchange of a few numbers, some 20 us. The first comes early, because a map that is wrong is so
/// from the start, and each comes after twice as many meetings as the last, up to `most`: by then meetings, which are 5 to
/// 10 ms apart where chips are busy, make looks a hundredth of a percent of the run, and a change of load is followed
/// within some 100 ms.
struct MoveRule {
  std::uint32_t first = 0;  ///< meetings until the first look; 0: chips stay where they are
  std::uint32_t most = 16;
  /// Events of all processes since the last look below which nothing is concluded: 25 ms of one thread, about what moves
  /// may cost.
  std::uint64_t least_events = 1 << 18;
};

/// Holds the meetings of a run whose chips may move between the threads of a process: finds a better map, by what the
/// processes have done of late. All ranks find the same, because it follows from what is simulated.
class BalanceMeeting final : public Meeting {
 public:
  /// Collective. `space_of`: the address space of each rank. `map` and `local` are the present ones at every meeting;
  /// `other`: holds them as well, if there is one, and goes first.
  BalanceMeeting(Transport& transport, const RankMap& map, const std::vector<LogicalProcess*>& local, const MoveRule& rule,
                 std::vector<int> space_of, Meeting* other);

  std::uint32_t request() override { return other_ != nullptr ? other_->request() : 0; }
  bool meet(Cycle boundary, Cycle next, std::uint32_t request) override;

  /// After a run that ended: the map to go on with from `boundary()`, if that is why it ended.
  std::optional<RankMap> take_map() { return std::exchange(better_, std::nullopt); }
  Cycle boundary() const { return boundary_; }

 private:
  std::vector<std::uint64_t> events_of_all() const;

  Transport& transport_;
  const RankMap& map_;
  const std::vector<LogicalProcess*>& local_;
  const MoveRule rule_;
  Meeting* const other_;
  const std::vector<int> space_of_;     ///< [rank]
  std::uint32_t interval_, since_ = 0;  ///< meetings
  std::vector<std::uint64_t> seen_;     ///< [process] events at the last look
  std::vector<std::uint64_t> work_;     ///< [process] of late: a look counts half as much as the next one
  std::optional<RankMap> better_;
  Cycle boundary_ = 0;
};

}  // namespace atl
