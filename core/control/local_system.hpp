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

/// A chip on its way from one rank to another of the same address space, with what looks on.
struct MovingChip {
  std::shared_ptr<const Machine> machine;  ///< that it was built for
  std::unique_ptr<Chip> chip;
  std::unique_ptr<SharingLog> sharing;            ///< if observed
  std::unique_ptr<SmSharingObserver> sm_sharing;  ///< if observed
  std::vector<Mail> mail;                         ///< that it has not been handed, by ascending source
};

/// The processes of one rank with what looks on, and their way to and from a checkpoint.
struct LocalSystem {
  std::shared_ptr<const Machine> machine;
  std::vector<std::shared_ptr<const Machine>> machines_of_guests;  ///< of chips that came from other ranks
  std::vector<std::unique_ptr<Chip>> chips;
  SharingLogs sharing;            ///< [local chip] if observed
  SmSharingObservers sm_sharing;  ///< [local chip] if observed
  std::unique_ptr<Controller> controller;
  std::vector<LogicalProcess*> processes;
  std::size_t kernels = 0;  ///< of the workload
  std::optional<RankMap> map;
  std::optional<Synchroniser> synchroniser;
  double seconds_waited = 0;  ///< with synchronisers before
  std::uint64_t moves = 0;    ///< chips that came from other ranks

  void build(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& first,
             const SimulationOptions& options);
  /// Then: `processes` are those that are here, in ascending order, and `synchroniser` is how they talk to those of other
  /// ranks. Collective if ranks share chips.
  void synchronise(Transport& transport);
  /// Where ranks have met; everything before `boundary` is over.
  std::string save(LpId lp, Cycle boundary);
  /// The processes that are here go on from `state`, until `max_cycles`. Throws InputError, naming the state's file, if it
  /// is of another system, or of none (core/chip/state_check.cpp).
  void load(const SystemState& state, Cycle max_cycles);
  /// Collective, where ranks have met: chips go where `next` has them. Everything before `boundary` is over.
  void move_chips(Transport& transport, Workload& workload, RankMap next, Cycle boundary);

 private:
  std::optional<Synchroniser::Sharing> sharing_;
  MovingChip take_out(LpId lp);
  void bring_in(MovingChip&& guest, Workload& workload);
  void load(LpId lp, const std::string& saved, Cycle boundary);
  template <class Archive, class Carry> void carry_process(Archive& archive, LpId lp, Carry&& carry);
};

}  // namespace atl
