#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/engine/types.hpp"

/// Checkpoints as the simulation sees them; files and signals are the program's.
namespace atl {

/// The state of a run between two windows.
struct SystemState {
  Cycle boundary = 0;                  ///< everything before is over
  std::uint64_t windows = 0;           ///< run so far
  std::vector<std::string> processes;  ///< [chip, then the controller] its state and the messages it has not been handed
  std::string file{};                  ///< it was read from, to be named if it does not fit
};

/// Says when the state of a run is taken, and keeps it. Every rank has one. Asked where ranks meet, every 32 windows.
class Checkpointer {
 public:
  /// What the ranks are to do at once, for a reason that only some of them may know: a signal, the time of day. If several
  /// request, what comes first here is done. `finish`: end as at a limit of cycles, with a result of what was simulated.
  enum class Request : std::uint8_t { none, end, checkpoint_and_end, checkpoint, finish };

  virtual ~Checkpointer() = default;
  virtual Request request() = 0;
  /// A checkpoint is due by simulated time: all ranks must answer alike. They meet again before `next` is over.
  virtual bool due(Cycle boundary, Cycle next) = 0;
  /// On the controller's rank. True: `state` is safe. Must not throw.
  virtual bool keep(SystemState state) = 0;
  /// On a rank that cannot tell the state of its processes: there is no checkpoint, and the run goes on.
  virtual void not_kept(Cycle boundary, const std::string& why) = 0;

  /// After the run: the request that ended it before its time.
  Request ended = Request::none;
};

}  // namespace atl
