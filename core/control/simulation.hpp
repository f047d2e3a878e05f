#pragma once
#include <functional>
#include <optional>

#include "comm/transport.hpp"
#include "core/chip/chip.hpp"
#include "core/control/balance_meeting.hpp"
#include "core/control/checkpointer.hpp"
#include "core/control/controller.hpp"
#include "partition/rank_map.hpp"

namespace atl {

struct SimulationOptions {
  Cycle max_cycles = kNever;
  ChipThreads chip_threads;  ///< one, if anybody observes the chip
  std::function<void(const ProgressState&)> progress;
  /// The run is watched: chips send looks, on all ranks, and `live` is called with every sample on the controller's.
  bool watched = false;
  std::function<void(const LiveSample&)> live;
  /// Makes the policy instead of `llc.organisation`, which must be `plugin`. Called on the controller's rank.
  std::function<LoadedPolicy(const SystemConfig&)> policy = load_policy;
  /// Called with each chip of this rank before the run, for tests and validation. A chip has one observer:
  /// `observe.sharing` and `observe.sm_sharing` take the place of one that is set here.
  std::function<void(Chip&)> prepare_chip;
  /// Called with each chip of this rank after the run.
  std::function<void(Chip&)> inspect_chip;
  /// Chooses which launches are simulated; none: all. Used on the controller's rank, and not with a checkpointer.
  KernelSampler* sampler = nullptr;
  /// Of this rank; every rank has one or none. Does not know of an observer that prepare_chip sets.
  Checkpointer* checkpointer = nullptr;
  /// Ranks, all of one process, run each other's chips where they would wait otherwise (comm/window_pool.hpp).
  bool share_chips = false;
  /// When chips may move between ranks of one address space, if these do not share them.
  MoveRule moves{};
  /// Goes on from here. Built for the same configuration and workload; ranks and map may be others. `max_cycles` is the
  /// new limit.
  const SystemState* resume = nullptr;
};

/// Collective: runs `workload` on `config`, with the logical processes spread over the transport's ranks as `map` says,
/// at first.
/// Every rank opens its own workload. The result is complete on the controller's rank, and empty on the others, and on all
/// if the checkpointer ended the run.
std::optional<RunResult> simulate(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& map,
                                  const SimulationOptions& options = {});

}  // namespace atl
