#include "core/control/simulation.hpp"

#include <chrono>
#include <utility>

#include "comm/collective_errors.hpp"
#include "comm/control_message.hpp"
#include "core/control/checkpoint_meeting.hpp"
#include "core/control/local_system.hpp"
#include "core/control/stack.hpp"
#include "partition/rebalance.hpp"

namespace atl {
namespace {

struct Fingerprint {
  LpId lp = 0;
  std::uint64_t digest = 0, events = 0;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, lp, digest, events); }
};

/// Digest and events of all processes, in the order of their ids: the same for every layout.
std::vector<Fingerprint> fingerprints(Transport& transport, const std::vector<LogicalProcess*>& local,
                                      std::size_t processes) {
  std::vector<Fingerprint> mine;
  for (const LogicalProcess* p : local) mine.push_back({p->id(), p->digest(), p->events()});
  std::vector<Fingerprint> all(processes);
  for (const std::string& body : transport.all_gather(pack(mine))) {
    for (const Fingerprint& f : unpack<std::vector<Fingerprint>>(body)) all[f.lp] = f;
  }
  return all;
}

/// Runs to the end: true. False: `meeting` ended it. On the way chips go where they make work more even.
bool run_balanced(Transport& transport, Workload& workload, LocalSystem& here, const MoveRule& rule, Meeting* meeting) {
  std::vector<int> space_of;
  for (int rank = 0; rank < transport.size(); ++rank) space_of.push_back(transport.address_space(rank));
  if (rule.first == 0 || !can_rebalance(*here.map, space_of)) return here.synchroniser->run(meeting);
  BalanceMeeting balance(transport, *here.map, here.processes, rule, std::move(space_of), meeting);
  while (!here.synchroniser->run(&balance)) {
    auto next = balance.take_map();
    if (!next) return false;
    here.move_chips(transport, workload, std::move(*next), balance.boundary());
  }
  return true;
}

}  // namespace

std::optional<RunResult> simulate(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& map,
                                  const SimulationOptions& options) {
  LocalSystem here;
  // A rank that cannot build its part, say for want of memory or of a policy, must not leave the others waiting.
  run_collectively(transport, [&] { here.build(transport, config, workload, map, options); });
  const auto synchronise = [&] { here.synchronise(transport); };
  options.share_chips ? synchronise() : run_collectively(transport, synchronise);
  if (options.resume != nullptr) run_collectively(transport, [&] { here.load(*options.resume, options.max_cycles); });

  const auto start = std::chrono::steady_clock::now();
  std::optional<CheckpointMeeting> meeting;
  if (options.checkpointer != nullptr)
    meeting.emplace(
        transport, *here.map, *options.checkpointer, [&](LpId lp, Cycle boundary) { return here.save(lp, boundary); },
        [&] { return here.synchroniser->windows_run(); },
        [&](Cycle boundary) {
          if (here.controller) here.controller->limit(boundary);
        });
  if (!run_balanced(transport, workload, here, options.moves, meeting ? &*meeting : nullptr)) return std::nullopt;
  run_collectively(transport, [&] {
    if (here.controller && !here.controller->done())
      throw SimulationError(
          "nothing is left to do, and the last kernel has not ended: the run went on from a state that none "
          "comes to");
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  std::vector<double> waits;
  std::uint64_t moves = 0;
  const double waited = here.seconds_waited + here.synchroniser->seconds_waited();
  for (const std::string& body :
       transport.all_gather(pack(std::pair(waited / seconds.count(), here.moves + here.synchroniser->taken_over())))) {
    const auto [share, came] = unpack<std::pair<double, std::uint64_t>>(body);
    waits.push_back(share), moves += came;
  }
  const std::vector<Fingerprint> prints = fingerprints(transport, here.processes, config.chips + 1);
  if (options.inspect_chip) {
    for (const auto& chip : here.chips) options.inspect_chip(*chip);
  }
  std::optional<SharingResult> shared;
  if (config.observe.sharing) shared = gather_sharing(transport, *here.machine, here.sharing, here.controller != nullptr);
  std::optional<SmSharingResult> shared_by_sms;
  if (config.observe.sm_sharing) shared_by_sms = gather_sm_sharing(transport, config, here.sm_sharing);
  if (!here.controller) return std::nullopt;
  RunResult result = here.controller->result();
  result.provenance.policy = here.controller->policy().digest.empty() ? "" : here.controller->policy().name;
  result.provenance.policy_digest = here.controller->policy().digest;
  result.stack = stack_of_run(*here.machine, result, here.controller->census(), here.controller->kernel_counts());
  if (auto structures = workload.structures(); !structures.empty())
    result.structures = gather_structures(std::move(structures), here.controller->structures());
  result.sharing = std::move(shared);
  result.sm_sharing = std::move(shared_by_sms);
  Digest digest;
  for (const Fingerprint& f : prints) {
    digest.add(f.digest, f.events);
    result.provenance.events += f.events;
    result.provenance.process_events.push_back(f.events);
  }
  result.digest = digest.value();
  result.provenance.host_seconds = seconds.count();
  result.provenance.windows = here.synchroniser->windows_run();
  result.provenance.wait_shares = std::move(waits);
  result.provenance.moves = moves;
  return result;
}

}  // namespace atl
