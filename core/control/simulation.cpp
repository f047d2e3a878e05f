#include "core/control/simulation.hpp"

#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>
#include <chrono>
#include <memory>
#include <sstream>

#include "comm/agree.hpp"
#include "comm/control_message.hpp"
#include "comm/synchroniser.hpp"
#include "core/control/checkpoint_meeting.hpp"
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

/// The processes of one rank with what looks on, and their way to and from a checkpoint.
struct LocalSystem {
  std::optional<Machine> machine;
  std::vector<std::unique_ptr<Chip>> chips;
  SharingLogs sharing;            ///< [local chip] if observed
  SmSharingObservers sm_sharing;  ///< [local chip] if observed
  std::unique_ptr<Controller> controller;
  std::vector<LogicalProcess*> processes;
  std::optional<Synchroniser> synchroniser;

  std::string save(LpId lp) {
    std::ostringstream out(std::ios::binary);
    boost::archive::binary_oarchive archive(out, boost::archive::no_header);
    carry_process(archive, lp, [&](auto& process) { process.save(archive); });
    auto mail = synchroniser->undelivered(lp);
    state(archive, mail);
    return std::move(out).str();
  }

  void load(LpId lp, const std::string& saved) {
    std::istringstream in(saved, std::ios::binary);
    boost::archive::binary_iarchive archive(in, boost::archive::no_header);
    carry_process(archive, lp, [&](auto& process) { process.load(archive); });
    std::vector<Mail> mail;
    state(archive, mail);
    if (in.peek() != std::istringstream::traits_type::eof())
      throw SimulationError("a checkpoint does not fit the system that it names");
    synchroniser->redeliver(lp, mail);
  }

 private:
  template <class Archive, class Carry> void carry_process(Archive& archive, LpId lp, Carry&& carry) {
    if (lp == machine->config.chips) return carry(*controller);
    for (std::size_t i = 0; i < chips.size(); ++i) {
      if (chips[i]->id() != lp) continue;
      carry(*chips[i]);
      if (!sharing.empty()) state(archive, *sharing[i].second);
      if (!sm_sharing.empty()) state(archive, *sm_sharing[i]);
    }
  }
};

}  // namespace

std::optional<RunResult> simulate(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& map,
                                  const SimulationOptions& options) {
  LocalSystem here;
  auto& [machine, chips, sharing, sm_sharing, controller, local, synchroniser] = here;
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
    if (options.resume == nullptr) return;
    synchroniser->resume_at(options.resume->boundary, options.resume->windows);
    for (const LogicalProcess* p : local) here.load(p->id(), options.resume->processes.at(p->id()));
    if (controller) controller->limit(options.max_cycles < options.resume->boundary ? kNever : options.max_cycles);
  });

  const auto start = std::chrono::steady_clock::now();
  std::optional<CheckpointMeeting> meeting;
  if (options.checkpointer != nullptr)
    meeting.emplace(
        transport, map, *options.checkpointer, [&](LpId lp) { return here.save(lp); },
        [&] { return synchroniser->windows_run(); });
  if (!synchroniser->run(meeting ? &*meeting : nullptr)) return std::nullopt;
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
