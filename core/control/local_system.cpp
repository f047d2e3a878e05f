#include "core/control/local_system.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "comm/hand_over.hpp"
#include "core/engine/archive_bytes.hpp"

namespace atl {

void LocalSystem::build(Transport& transport, const SystemConfig& config, Workload& workload, const RankMap& first,
                        const SimulationOptions& options) {
  map = first;
  machine = std::make_shared<const Machine>(config, DeviceHomes(config, workload.devices()));
  kernels = workload.kernels().size();
  const auto edges = system_edges(config);
  const bool observed = config.observe.sharing || config.observe.sm_sharing || options.prepare_chip;
  const ChipThreads threads = observed ? ChipThreads{} : options.chip_threads;
  for (const LpId lp : map->lps_of(static_cast<std::uint32_t>(transport.rank()))) {
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
    } else {
      controller = std::make_unique<Controller>(*machine, edges[lp], workload.kernels(), options.max_cycles,
                                                options.policy(config), options.sampler, &workload);
      controller->on_progress(options.progress);
      if (options.watched) controller->on_live_sample(options.live);
    }
  }
  if (options.share_chips)
    sharing_.emplace(Synchroniser::Sharing{
        [&workload](LogicalProcess& process) { static_cast<Chip&>(process).read_from(workload); }, config.chips});
}

void LocalSystem::synchronise(Transport& transport) {
  processes.clear();
  for (const auto& chip : chips) processes.push_back(chip.get());
  if (controller) processes.push_back(controller.get());
  std::vector<int> rank_of;
  for (LpId lp = 0; lp < map->lps(); ++lp) rank_of.push_back(static_cast<int>(map->rank_of(lp)));
  synchroniser.emplace(transport, processes, rank_of, system_edges(machine->config), sharing_ ? &*sharing_ : nullptr);
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

std::string LocalSystem::save(LpId lp, Cycle boundary) {
  return bytes_of_state([&](SaveArchive& archive) {
    carry_process(archive, lp, [&](auto& process) {
      process.run_until(boundary);  // of windows that were skipped, looks are still to be taken
      process.save(archive);
    });
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

MovingChip LocalSystem::take_out(LpId lp) {
  const auto found = std::ranges::find(chips, lp, [](const auto& chip) { return chip->id(); });
  const auto place = found - chips.begin();
  MovingChip guest{machine, std::move(*found), nullptr, nullptr, synchroniser->undelivered(lp)};
  for (const auto& theirs : machines_of_guests)
    if (theirs.get() == &guest.chip->context().machine) guest.machine = theirs;
  chips.erase(found);
  if (!sharing.empty()) {
    guest.sharing = std::move(sharing[static_cast<std::size_t>(place)].second);
    sharing.erase(sharing.begin() + place);
  }
  if (!sm_sharing.empty()) {
    guest.sm_sharing = std::move(sm_sharing[static_cast<std::size_t>(place)]);
    sm_sharing.erase(sm_sharing.begin() + place);
  }
  return guest;
}

void LocalSystem::bring_in(MovingChip&& guest, Workload& workload) {
  guest.chip->read_from(workload);
  if (std::ranges::find(machines_of_guests, guest.machine) == machines_of_guests.end())
    machines_of_guests.push_back(std::move(guest.machine));
  const LpId lp = guest.chip->id();
  const auto place = std::ranges::find_if(chips, [&](const auto& chip) { return chip->id() > lp; }) - chips.begin();
  chips.insert(chips.begin() + place, std::move(guest.chip));
  if (guest.sharing) sharing.insert(sharing.begin() + place, {lp, std::move(guest.sharing)});
  if (guest.sm_sharing) sm_sharing.insert(sm_sharing.begin() + place, std::move(guest.sm_sharing));
  ++moves;
}

void LocalSystem::move_chips(Transport& transport, Workload& workload, RankMap next, Cycle boundary) {
  constexpr int kStream = Transport::kStreams - 2;  // the synchroniser numbers its own from 0, a checkpoint has the last
  const auto me = static_cast<std::uint32_t>(transport.rank());
  const auto each_move = [&](auto&& f) {
    for (LpId lp = 0; lp < map->lps(); ++lp)
      if (map->rank_of(lp) != next.rank_of(lp)) f(lp, map->rank_of(lp), next.rank_of(lp));
  };
  std::map<LpId, std::vector<Mail>> mail;
  for (const LogicalProcess* p : processes)
    if (next.rank_of(p->id()) == me) mail[p->id()] = synchroniser->undelivered(p->id());
  each_move([&](LpId lp, std::uint32_t from, std::uint32_t to) {
    if (from != me) return;
    const auto stream = transport.open(static_cast<int>(to), kStream);
    hand_over(*stream, std::make_unique<MovingChip>(take_out(lp)));
  });
  each_move([&](LpId lp, std::uint32_t from, std::uint32_t to) {
    if (to != me) return;
    const auto stream = transport.open(static_cast<int>(from), kStream);
    const auto guest = take_over<MovingChip>(*stream);
    mail[lp] = std::move(guest->mail);
    bring_in(std::move(*guest), workload);
  });
  const std::uint64_t windows = synchroniser->windows_run();
  seconds_waited += synchroniser->seconds_waited();
  map = std::move(next);
  synchronise(transport);
  synchroniser->resume_at(boundary, windows);
  for (auto& [lp, kept] : mail) synchroniser->redeliver(lp, kept);
}

}  // namespace atl
