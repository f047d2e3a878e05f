#include "core/control/simulation.hpp"

#include <chrono>

#include "comm/collective_errors.hpp"
#include "comm/control_message.hpp"
#include "core/control/checkpoint_meeting.hpp"
#include "core/control/local_system.hpp"
#include "core/control/stack.hpp"

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

}  // namespace

std::optional<RunResult> simulate(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& map,
                                  const SimulationOptions& options) {
  LocalSystem here;
  auto& [machine, chips, sharing, sm_sharing, controller, local, kernels, synchroniser] = here;
  run_collectively(transport,
                   [&] {  // a rank that cannot build its part, say for want of memory, must not leave the others waiting
                     here.build(transport, config, workload, map, options);
                     if (options.resume != nullptr) here.load(*options.resume, options.max_cycles);
                   });

  const auto start = std::chrono::steady_clock::now();
  std::optional<CheckpointMeeting> meeting;
  if (options.checkpointer != nullptr)
    meeting.emplace(
        transport, map, *options.checkpointer, [&](LpId lp) { return here.save(lp); },
        [&] { return synchroniser->windows_run(); },
        [&](Cycle boundary) {
          if (controller) controller->limit(boundary);
        });
  if (!synchroniser->run(meeting ? &*meeting : nullptr)) return std::nullopt;
  run_collectively(transport, [&] {
    if (controller && !controller->done())
      throw SimulationError(
          "nothing is left to do, and the last kernel has not ended: the run went on from a state that none "
          "comes to");
  });
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;

  std::vector<double> waits;
  for (const std::string& body : transport.all_gather(pack(synchroniser->seconds_waited() / seconds.count())))
    waits.push_back(unpack<double>(body));
  const std::vector<Fingerprint> prints = fingerprints(transport, local, config.chips + 1);
  if (options.inspect_chip) {
    for (const auto& chip : chips) options.inspect_chip(*chip);
  }
  std::optional<SharingResult> shared;
  if (config.observe.sharing) shared = gather_sharing(transport, *machine, sharing, controller != nullptr);
  std::optional<SmSharingResult> shared_by_sms;
  if (config.observe.sm_sharing) shared_by_sms = gather_sm_sharing(transport, config, sm_sharing);
  if (!controller) return std::nullopt;
  RunResult result = controller->result();
  result.provenance.policy = controller->policy().digest.empty() ? "" : controller->policy().name;
  result.provenance.policy_digest = controller->policy().digest;
  result.stack = stack_of_run(*machine, result, controller->census(), controller->kernel_counts());
  if (auto structures = workload.structures(); !structures.empty())
    result.structures = gather_structures(std::move(structures), controller->structures());
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
  result.provenance.windows = synchroniser->windows_run();
  result.provenance.wait_shares = std::move(waits);
  return result;
}

}  // namespace atl
