#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "comm/synchroniser.hpp"
#include "core/control/sharing.hpp"
#include "core/control/simulation.hpp"
#include "core/control/sm_sharing.hpp"

namespace atl {

/// The processes of one rank with what looks on, and their way to and from a checkpoint.
struct LocalSystem {
  std::optional<Machine> machine;
  std::vector<std::unique_ptr<Chip>> chips;
  SharingLogs sharing;            ///< [local chip] if observed
  SmSharingObservers sm_sharing;  ///< [local chip] if observed
  std::unique_ptr<Controller> controller;
  std::vector<LogicalProcess*> processes;
  std::size_t kernels = 0;  ///< of the workload
  std::optional<Synchroniser> synchroniser;

  void build(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& map,
             const SimulationOptions& options);
  std::string save(LpId lp);
  /// The processes that are here go on from `state`, until `max_cycles`. Throws InputError, naming the state's file, if it
  /// is of another system, or of none (core/chip/state_check.cpp).
  void load(const SystemState& state, Cycle max_cycles);

 private:
  void load(LpId lp, const std::string& saved, Cycle boundary);
  template <class Archive, class Carry> void carry_process(Archive& archive, LpId lp, Carry&& carry);
};

}  // namespace atl
