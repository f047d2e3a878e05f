#pragma once
#include <vector>

#include "core/engine/logical_process.hpp"
#include "tests/bench/work_log.hpp"

namespace atl::bench {

/// What things take, in seconds.
struct Costs {
  double event = 0;    ///< of a processor, to handle one
  double batch = 0;    ///< of both processors, to swap a batch to and fro: half to send, half to receive
  double wire = 0;     ///< on the way, while which a rank can do something else
  double meeting = 0;  ///< from the arrival of the last rank until all go on
};

struct Replayed {
  double seconds = 0;
  double waited = 0;  ///< of all ranks' time, the part that is neither events nor batches
  /// That ranks run; more than were logged, since they cannot all know at once that nothing is left.
  std::uint64_t windows = 0;
};

/// How long the logged run would take on ranks as `rank_of` says. Ranks go through their windows as a Synchroniser does:
/// groups in the same order, each waiting for the batches of its own pairs alone, and all meet every 32 windows. It ends
/// with the last logged window, where ranks would go on to their next meeting.
Replayed replay(const WorkLog& log, const std::vector<int>& rank_of, const std::vector<std::vector<Edge>>& edges,
                const Costs& costs);

}  // namespace atl::bench
