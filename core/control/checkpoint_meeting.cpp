#include "core/control/checkpoint_meeting.hpp"

#include <exception>
#include <utility>

namespace atl {
namespace {
constexpr int kStream = Transport::kStreams - 1;  // the synchroniser numbers its own from 0
}  // namespace

bool CheckpointMeeting::meet(Cycle boundary, Cycle next, std::uint32_t request) {
  const auto wanted = static_cast<Checkpointer::Request>(request);
  if (wanted == Checkpointer::Request::end) {
    checkpointer_.ended = wanted;
    return false;
  }
  if (wanted == Checkpointer::Request::finish) {
    if (checkpointer_.ended != wanted) finish_(boundary);
    checkpointer_.ended = wanted;
    return true;
  }
  const bool due = checkpointer_.due(boundary, next);  // also if somebody wishes one: it counts the cycles from here
  if (wanted == Checkpointer::Request::none && !due) return true;
  const bool safe = checkpoint(boundary);
  if (!safe || wanted != Checkpointer::Request::checkpoint_and_end) return true;
  checkpointer_.ended = wanted;
  return false;
}

/// Every rank learns whether the state is safe: a run whose state is not must not end.
bool CheckpointMeeting::checkpoint(Cycle boundary) {
  SystemState state{boundary, windows_(), std::vector<std::string>(map_.lps())};
  if (!save(state)) return false;
  gather(state);
  const bool here = map_.rank_of(map_.lps() - 1) == static_cast<std::uint32_t>(transport_.rank());
  const bool safe = !here || checkpointer_.keep(std::move(state));
  return transport_.all_min(safe ? 1 : 0) == 1;
}

/// What is of this rank. A policy of the user's may not be able to save itself, and the run is worth more than that.
bool CheckpointMeeting::save(SystemState& state) {
  bool saved = true;
  try {
    for (const LpId lp : map_.lps_of(static_cast<std::uint32_t>(transport_.rank())))
      state.processes[lp] = save_(lp, state.boundary);
  } catch (const std::exception& e) {
    saved = false;
    checkpointer_.not_kept(state.boundary, e.what());
  }
  return transport_.all_min(saved ? 1 : 0) == 1;
}

/// Process by process, from its rank to the controller's; the other ranks go on to the next.
void CheckpointMeeting::gather(SystemState& state) {
  const auto me = static_cast<std::uint32_t>(transport_.rank()), keeper = map_.rank_of(map_.lps() - 1);
  for (LpId lp = 0; lp < map_.lps(); ++lp) {
    const std::uint32_t owner = map_.rank_of(lp);
    if (owner == keeper || (me != owner && me != keeper)) continue;
    const auto stream = transport_.open(static_cast<int>(me == owner ? keeper : owner), kStream);
    if (me == owner) {
      stream->send(std::exchange(state.processes[lp], {}));
    } else {
      stream->receive(state.processes[lp]);
    }
  }
}

}  // namespace atl
