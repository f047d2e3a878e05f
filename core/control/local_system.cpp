#include "core/control/local_system.hpp"

#include <fmt/format.h>

#include "core/engine/archive_bytes.hpp"

namespace atl {

void LocalSystem::build(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& map,
                        const SimulationOptions& options) {
  machine.emplace(config, DeviceHomes(config, workload.devices()));
  kernels = workload.kernels().size();
  const auto edges = system_edges(config);
  const bool observed = config.observe.sharing || config.observe.sm_sharing || options.prepare_chip;
  const ChipThreads threads = observed ? ChipThreads{} : options.chip_threads;
  for (const LpId lp : map.lps_of(static_cast<std::uint32_t>(transport.rank()))) {
    if (lp < config.chips) {
      chips.push_back(std::make_unique<Chip>(*machine, lp, edges[lp], workload, threads));
      if (options.prepare_chip) options.prepare_chip(*chips.back());
      if (options.watched) chips.back()->show_looks();
      if (config.observe.sharing) {
        sharing.emplace_back(lp, std::make_unique<SharingLog>(config.observe.sharing_window_cycles));
        chips.back()->observe(sharing.back().second.get());
      } else if (config.observe.sm_sharing) {
        sm_sharing.push_back(std::make_unique<SmSharingObserver>(config.observe.sm_window_cycles));
        chips.back()->observe(sm_sharing.back().get());
      }
      processes.push_back(chips.back().get());
    } else {
      controller = std::make_unique<Controller>(*machine, edges[lp], workload.kernels(), options.max_cycles,
                                                options.policy(config), options.sampler, &workload);
      controller->on_progress(options.progress);
      if (options.watched) controller->on_live_sample(options.live);
      processes.push_back(controller.get());
    }
  }
  std::vector<int> rank_of;
  for (LpId lp = 0; lp <= config.chips; ++lp) rank_of.push_back(static_cast<int>(map.rank_of(lp)));
  synchroniser.emplace(transport, processes, rank_of, edges);
}

template <class Archive, class Carry> void LocalSystem::carry_process(Archive& archive, LpId lp, Carry&& carry) {
  if (lp == machine->config.chips) return carry(*controller);
  for (std::size_t i = 0; i < chips.size(); ++i) {
    if (chips[i]->id() != lp) continue;
    carry(*chips[i]);
    if (!sharing.empty()) state(archive, *sharing[i].second);
    if (!sm_sharing.empty()) state(archive, *sm_sharing[i]);
  }
}

std::string LocalSystem::save(LpId lp) {
  return bytes_of_state([&](SaveArchive& archive) {
    carry_process(archive, lp, [&](auto& process) { process.save(archive); });
    auto mail = synchroniser->undelivered(lp);
    state(archive, mail);
  });
}

void LocalSystem::load(LpId lp, const std::string& saved, Cycle boundary) {
  std::vector<Mail> mail;
  load_state(saved, [&](LoadArchive& archive) {
    carry_process(archive, lp, [&](auto& process) { process.load(archive, boundary); });
    state(archive, mail);
  });
  for (std::size_t i = 0; i < chips.size(); ++i) {
    if (chips[i]->id() != lp) continue;
    chips[i]->check(mail);
    if (!sharing.empty()) sharing[i].second->check(boundary);
    if (!sm_sharing.empty()) sm_sharing[i]->check(kernels);
  }
  for (const Mail& from : mail)
    for (const ControlMessage& m : from.control) require_state(m.source <= machine->config.chips && m.source != lp);
  synchroniser->redeliver(lp, mail);
}

void LocalSystem::load(const SystemState& from, Cycle max_cycles) {
  try {
    if (from.processes.size() != machine->config.chips + 1) refuse_checkpoint();
    synchroniser->resume_at(from.boundary, from.windows);
    for (const LogicalProcess* p : processes) load(p->id(), from.processes[p->id()], from.boundary);
  } catch (const SimulationError& e) {
    throw InputError(from.file, fmt::format("cannot be gone on from: {}; resume an older checkpoint of the run", e.what()));
  }
  if (controller) controller->limit(max_cycles < from.boundary ? kNever : max_cycles);
}

}  // namespace atl
