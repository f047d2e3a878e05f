#include "core/control/simulation.hpp"

#include <chrono>
#include <memory>

#include "comm/agree.hpp"
#include "comm/control_message.hpp"
#include "comm/synchroniser.hpp"
#include "core/control/sharing.hpp"
#include "core/control/sm_sharing.hpp"
#include "core/control/stack.hpp"

namespace atl {
namespace {

struct Fingerprint {
  LpId lp = 0;
  std::uint64_t digest = 0, events = 0;
  template <class Archive> void serialize(Archive& a, unsigned) { a& lp& digest& events; }
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
  std::optional<Machine> machine;
  std::vector<std::unique_ptr<Chip>> chips;
  SharingLogs sharing;
  SmSharingObservers sm_sharing;
  std::unique_ptr<Controller> controller;
  std::vector<LogicalProcess*> local;
  std::optional<Synchroniser> synchroniser;
  together(transport, [&] {  // a rank that cannot build its part, say for want of memory, must not leave the others waiting
    machine.emplace(config);
    const auto edges = system_edges(config);
    for (const LpId lp : map.lps_of(static_cast<std::uint32_t>(transport.rank()))) {
      if (lp < config.chips) {
        chips.push_back(std::make_unique<Chip>(*machine, lp, edges[lp], workload));
        if (options.prepare_chip) options.prepare_chip(*chips.back());
        if (config.observe.sharing) {
          sharing.emplace_back(lp, std::make_unique<SharingLog>(config.observe.sharing_window_cycles));
          chips.back()->observe(sharing.back().second.get());
        } else if (config.observe.sm_sharing) {
          sm_sharing.push_back(std::make_unique<SmSharingObserver>(config.observe.sm_window_cycles));
          chips.back()->observe(sm_sharing.back().get());
        }
        local.push_back(chips.back().get());
      } else {
        controller = std::make_unique<Controller>(config, edges[lp], workload.kernels(), options.max_cycles);
        controller->on_progress(options.progress);
        local.push_back(controller.get());
      }
    }
    std::vector<int> rank_of;
    for (LpId lp = 0; lp <= config.chips; ++lp) rank_of.push_back(static_cast<int>(map.rank_of(lp)));
    synchroniser.emplace(transport, local, rank_of, edges);
  });

  const auto start = std::chrono::steady_clock::now();
  synchroniser->run();
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
  result.stack = stack_of_run(*machine, result, controller->census(), controller->kernel_counts());
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
