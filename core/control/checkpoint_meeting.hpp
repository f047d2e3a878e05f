#pragma once
#include <functional>
#include <string>
#include <vector>

#include "comm/synchroniser.hpp"
#include "comm/transport.hpp"
#include "core/control/checkpointer.hpp"
#include "partition/rank_map.hpp"

namespace atl {

/// Holds the meetings of a run that can be checkpointed: hears who wishes what, and brings the state of all processes to the
/// controller's rank.
class CheckpointMeeting final : public Meeting {
 public:
  /// `save(lp, boundary)`: the state of a process of this rank; `windows()`: run so far; `finish(boundary)`: the run is to
  /// end there.
  CheckpointMeeting(Transport& transport, const RankMap& map, Checkpointer& checkpointer,
                    std::function<std::string(LpId, Cycle)> save, std::function<std::uint64_t()> windows,
                    std::function<void(Cycle)> finish)
      : transport_(transport),
        map_(map),
        checkpointer_(checkpointer),
        save_(std::move(save)),
        windows_(std::move(windows)),
        finish_(std::move(finish)) {}

  std::uint32_t request() override { return static_cast<std::uint32_t>(checkpointer_.request()); }
  bool meet(Cycle boundary, Cycle next, std::uint32_t request) override;

 private:
  bool checkpoint(Cycle boundary);
  bool save(SystemState& state);
  void gather(SystemState& state);

  Transport& transport_;
  const RankMap& map_;
  Checkpointer& checkpointer_;
  const std::function<std::string(LpId, Cycle)> save_;
  const std::function<std::uint64_t()> windows_;
  const std::function<void(Cycle)> finish_;
};

}  // namespace atl
