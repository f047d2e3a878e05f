#include "inputs/ptx/exec_cta.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/engine/function_name.hpp"
#include "inputs/ptx/access_check.hpp"

namespace atl::ptx::exec {
namespace {

constexpr std::int64_t kTurn = 8192;       // instructions of a warp before the next one has its turn
constexpr std::int64_t kSharedTurn = 128;  // where warps of a CTA may see each other's stores to shared memory
constexpr std::int64_t kFirstTurn = 16;    // of these, the first after a barrier, which all leave together
constexpr std::uint32_t kSteps = 32;       // turns of one instruction instead, where warps may count on each other's pace
constexpr std::int64_t kShortTurn = 64;    // where turns end at accesses of global memory as well
constexpr unsigned kIdleRounds = 4;        // of all warps, in which nothing changed
constexpr unsigned kRounds = 16;           // of all warps, before it is looked whether they get on
constexpr std::uint32_t kStuckTurns = 8;   // of a warp, in which a part of its lanes spun alone
constexpr std::uint32_t kStuckShortTurns = 512;

/// x, y or z.
unsigned way(const SpecialSlot& slot, Special first) {
  return static_cast<unsigned>(slot.special) - static_cast<unsigned>(first);
}

bool explicit_cluster(const LaunchSpec& spec) {
  return spec.cluster[0] != 0 || spec.module->functions[spec.kernel].cluster[0] != 0;
}

std::uint32_t total_shared(const LaunchSpec& spec) {
  return (shared_bytes(spec) + spec.shared_unit - 1) / spec.shared_unit * spec.shared_unit;
}

/// But for %tid.
std::uint64_t special_value(const Warp& w, const SpecialSlot& slot, unsigned lane) {
  const LaunchSpec& spec = *w.launch->spec;
  const Cta& cta = *w.cta;
  const std::array<std::uint32_t, 3>& cluster = w.launch->cluster;
  const std::uint32_t warps = (spec.block[0] * spec.block[1] * spec.block[2] + kLanes - 1) / kLanes;
  if (slot.param) return reinterpret_cast<std::uint64_t>(w.launch->params.data()) + slot.number;
  switch (slot.special) {
    case Special::ntid_x:
      return spec.block[0];
    case Special::ntid_y:
      return spec.block[1];
    case Special::ntid_z:
      return spec.block[2];
    case Special::ctaid_x:
    case Special::ctaid_y:
    case Special::ctaid_z:
      return cta.id[way(slot, Special::ctaid_x)];
    case Special::nctaid_x:
    case Special::nctaid_y:
    case Special::nctaid_z:
      return spec.grid[way(slot, Special::nctaid_x)];
    case Special::clusterid_x:
    case Special::clusterid_y:
    case Special::clusterid_z:
      return cta.id[way(slot, Special::clusterid_x)] / cluster[way(slot, Special::clusterid_x)];
    case Special::nclusterid_x:
    case Special::nclusterid_y:
    case Special::nclusterid_z:
      return spec.grid[way(slot, Special::nclusterid_x)] / cluster[way(slot, Special::nclusterid_x)];
    case Special::cluster_ctaid_x:
    case Special::cluster_ctaid_y:
    case Special::cluster_ctaid_z:
      return cta.id[way(slot, Special::cluster_ctaid_x)] % cluster[way(slot, Special::cluster_ctaid_x)];
    case Special::cluster_nctaid_x:
    case Special::cluster_nctaid_y:
    case Special::cluster_nctaid_z:
      return cluster[way(slot, Special::cluster_nctaid_x)];
    case Special::cluster_ctarank:
      return cta.rank;
    case Special::cluster_nctarank:
      return cta.cluster->ctas.size();
    case Special::is_explicit_cluster:
      return explicit_cluster(spec) ? kFullMask : 0;
    case Special::laneid:
      return lane;
    case Special::warpid:
      return w.number;
    case Special::nwarpid:
      return warps;
    case Special::smid:
      return cta.number % spec.sms;
    case Special::nsmid:
      return spec.sms;
    case Special::warp_size:
      return kLanes;
    case Special::lanemask_eq:
      return 1u << lane;
    case Special::lanemask_lt:
      return (1u << lane) - 1;
    case Special::lanemask_le:
      return (2u << lane) - 1;
    case Special::lanemask_ge:
      return ~((1u << lane) - 1);
    case Special::lanemask_gt:
      return ~((2u << lane) - 1);
    case Special::dynamic_smem_size:
      return spec.dynamic_shared;
    case Special::total_smem_size:
      return total_shared(spec);
    case Special::aggr_smem_size:
      return total_shared(spec) + spec.shared_reserved;
    case Special::reserved_smem:
    case Special::reserved_smem_1:
      return reserved_shared_offset(spec);
    case Special::envreg: {  // 1 and 2: the workspace of cooperative grid barriers
      const auto workspace = reinterpret_cast<std::uint64_t>(w.launch->grid_barrier.data());
      if (!spec.cooperative) return 0;
      return slot.number == 1 ? workspace >> 32 : slot.number == 2 ? workspace & 0xFFFFFFFFu : 0;
    }
    default:
      return 0;  // gridid, pm
  }
}

template <class T, class F> void put_lanes(Warp& w, const SpecialSlot& slot, F value) {
  auto* to = w.specials.data() + (slot.ref & kOffsetMask);
  for (unsigned lane = 0; lane < (slot.mask ? 1 : kLanes); ++lane) {
    const T v = static_cast<T>(value(lane));
    std::memcpy(to + lane * sizeof v, &v, sizeof v);
  }
}
template <class F> void put_lanes(Warp& w, const SpecialSlot& slot, F value) {
  if (slot.bytes == 1) return put_lanes<std::uint8_t>(w, slot, value);
  if (slot.bytes == 2) return put_lanes<std::uint16_t>(w, slot, value);
  if (slot.bytes == 4) return put_lanes<std::uint32_t>(w, slot, value);
  put_lanes<std::uint64_t>(w, slot, value);
}

/// Without a division for each lane: the threads of a warp follow each other.
void put_thread_ids(Warp& w, const SpecialSlot& slot) {
  const auto& block = w.launch->spec->block;
  const std::uint32_t first = w.number * kLanes;
  std::array<std::uint32_t, 3> id{first % block[0], first / block[0] % block[1], first / block[0] / block[1]};
  put_lanes(w, slot, [&, at = way(slot, Special::tid_x)](unsigned) {
    const std::uint32_t value = id[at];
    if (++id[0] == block[0]) {
      id[0] = 0;
      if (++id[1] == block[1]) id[1] = 0, ++id[2];
    }
    return value;
  });
}

/// When a warp starts, which short kernels do as often as anything else.
void fill_specials(Warp& w) {
  for (const SpecialSlot& slot : w.launch->image->specials) {
    const bool thread = !slot.param && slot.special <= Special::tid_z;
    const bool lane = !slot.param && (slot.special == Special::laneid ||
                                      (slot.special >= Special::lanemask_eq && slot.special <= Special::lanemask_gt));
    if (thread) {
      put_thread_ids(w, slot);
    } else if (lane) {
      put_lanes(w, slot, [&](unsigned l) { return special_value(w, slot, l); });
    } else {
      put_lanes(w, slot, [value = special_value(w, slot, 0)](unsigned) { return value; });
    }
  }
}

[[noreturn]] void raise(const Warp& w, const Fault& fault) {
  if (fault.kind == ExecutionError::Kind::assertion) throw ExecutionError(fault.kind, fault.what);  // it says where
  const LaunchSpec& spec = *w.launch->spec;
  const std::array<std::uint32_t, 3> thread = thread_of(w, fault.lane);
  const Code& code = *w.frames.back().code;
  const std::uint32_t line = w.pc > 0 && w.pc <= code.code.size() ? code.function->code[w.pc - 1].line : 0;
  const std::string inside = w.frames.size() > 1 ? " in " + function_name(code.function->name) : "";
  throw ExecutionError(
      fault.kind, fmt::format("kernel {}, block ({}, {}, {}), thread ({}, {}, {}){}, {}: {}",
                              function_name(w.launch->image->module->functions[w.launch->image->kernel].name), w.cta->id[0],
                              w.cta->id[1], w.cta->id[2], thread[0], thread[1], thread[2], inside,
                              spec.module->lines.place(line), fault.what));
}

void turn(Warp& w, std::int64_t instructions) {
  w.budget = instructions;
  w.suspicious = w.changed = w.stirred = false;
  try {
    run_warp(w);
  } catch (const Fault& fault) {
    raise(w, fault);  // without the last events: the one that failed may lack addresses, and no CTA will end
  }
  w.polled |= w.suspicious;
  w.cta->polled |= w.suspicious, w.cta->stirred |= w.stirred;
  w.cta->progressed |= w.changed || w.state != WarpState::ready;
}

/// On a GPU no warp is thousands of instructions ahead of the others of its CTA, and programs rely on it without knowing:
/// one that reads a word of shared memory, and writes another value there after a long loop, with no barrier between.
bool shares(const Cta& cta) { return cta.warps.size() > 1 && cta.warps.front()->launch->shared_bytes != 0; }

/// Lanes that wait for others of their own warp: on hardware each thread makes progress.
void look_for_spinning(Warp& w) {
  const bool spins = w.state == WarpState::ready && w.budget <= 0 && w.suspicious && !w.changed && w.mask != w.alive;
  w.stuck = spins ? w.stuck + 1 : 0;
  if (w.stuck < (w.launch->short_turns || shares(*w.cta) ? kStuckShortTurns : kStuckTurns)) return;
  w.stuck = 0;
  split_off(w, w.mask);
}

/// All wait: lanes that a warp-wide instruction names will not come. The first that waits goes on without them.
bool meet_alone(Cta& cta) {
  for (const auto& w : cta.warps)
    if (w->state == WarpState::at_meeting) {
      w->state = WarpState::ready;
      return w->alone = true;
    }
  return false;
}

struct RoundOutcome {
  bool any = false, all_done = true, changed = false, suspicious = false;
};

/// The turn of a warp in which threads of others, and perhaps its own, fail an assertion: each says so before the block
/// ends.
void turn(Warp& w, std::int64_t budget, std::string& failed) {
  try {
    turn(w, budget);
  } catch (const ExecutionError& e) {
    const bool assertion = e.kind() == ExecutionError::Kind::assertion;
    if (!assertion && failed.empty()) throw;
    if (assertion) failed += (failed.empty() ? "" : "\n") + std::string(e.what());
  }
}

/// One turn of each warp that is ready.
RoundOutcome run_round(Cta& cta, std::int64_t budget) {
  RoundOutcome r;
  std::string failed;
  const std::int64_t first = cta.warps.front()->launch->image->in_step ? 1 : std::min(budget, kFirstTurn);
  for (std::size_t n = 0; n < cta.warps.size(); ++n) {  // a turn may add warps
    Warp& w = *cta.warps[n];
    if (w.state == WarpState::ready) {
      const bool leaves_barrier = w.first_turns != 0;
      w.first_turns -= leaves_barrier;
      turn(w, leaves_barrier ? first : budget, failed);
      r.any = true;
      r.changed |= w.changed || w.state != WarpState::ready;
      r.suspicious |= w.suspicious;
      look_for_spinning(w);
      if (w.state != WarpState::ready) flush_events(w);
    }
    r.all_done &= w.state == WarpState::done;
  }
  if (!failed.empty()) throw ExecutionError(ExecutionError::Kind::assertion, failed);
  return r;
}

[[noreturn]] void raise_deadlock(const Cta& cta) {
  const auto stuck =
      std::find_if(cta.warps.begin(), cta.warps.end(), [](const auto& w) { return w->state == WarpState::at_barrier; });
  raise(**stuck, {ExecutionError::Kind::deadlock, static_cast<unsigned>(std::countr_zero((*stuck)->alive)),
                  "waits at a barrier at which the other threads never arrive"});
}

}  // namespace

std::array<std::uint32_t, 3> thread_of(const Warp& w, unsigned lane) {
  const std::uint32_t thread = w.number * kLanes + lane;
  const std::array<std::uint32_t, 3>& block = w.launch->spec->block;
  return {thread % block[0], thread / block[0] % block[1], thread / block[0] / block[1]};
}

std::uint32_t turns_after_barrier(const Warp& w) { return !shares(*w.cta) ? 0 : w.launch->image->in_step ? kSteps : 1; }

std::uint32_t reserved_shared_offset(const LaunchSpec& spec) { return (shared_bytes(spec) + 15) / 16 * 16; }

bool uses_reserved_shared(const Image& image) {
  return std::any_of(image.specials.begin(), image.specials.end(), [](const SpecialSlot& s) {
    return !s.param && (s.special == Special::reserved_smem || s.special == Special::reserved_smem_1);
  });
}

void start_cta(Cta& cta, Launch& launch, std::uint64_t number, const std::shared_ptr<Cluster>& cluster) {
  const LaunchSpec& spec = *launch.spec;
  cta.number = number;
  cta.id[0] = static_cast<std::uint32_t>(number % spec.grid[0]);
  cta.id[1] = static_cast<std::uint32_t>(number / spec.grid[0] % spec.grid[1]);
  cta.id[2] = static_cast<std::uint32_t>(number / spec.grid[0] / spec.grid[1]);
  cta.shared.assign(launch.shared_bytes + 16, std::byte{0});
  cta.barriers = {};
  cta.progressed = cta.stirred = cta.polled = false;
  cta.standing.forget();
  cta.view.epoch = 0, cta.view.acquired = 0;
  cta.alive = spec.block[0] * spec.block[1] * spec.block[2];
  const auto& each = launch.cluster;
  cta.rank = cta.id[0] % each[0] + each[0] * (cta.id[1] % each[1] + each[1] * (cta.id[2] % each[2]));
  if (cluster == nullptr && cta.cluster == nullptr) cta.cluster = std::make_shared<Cluster>();
  if (cluster != nullptr) cta.cluster = cluster;
  cta.cluster->ctas.resize(std::size_t{each[0]} * each[1] * each[2]);
  cta.cluster->ctas[cta.rank] = &cta;
  if (spec.check != nullptr) {
    if (cta.races == nullptr) cta.races = std::make_unique<SharedRaces>();
    cta.races->begin((cta.alive + kLanes - 1) / kLanes, launch.shared_bytes, spec.check->granule());
  }
  cta.recorded = launch.sink != nullptr && launch.sink->wants(number);
  const std::uint32_t warps = (cta.alive + kLanes - 1) / kLanes;
  cta.warps.resize(warps);
  for (std::uint32_t n = 0; n < warps; ++n) {
    if (cta.warps[n] == nullptr) cta.warps[n] = std::make_unique<Warp>();
    Warp& w = *cta.warps[n];
    w.number = w.slot = n;
    w.cta = &cta, w.launch = &launch;
    w.recorder = cta.recorded ? launch.sink : nullptr;
    w.executed = w.thread_executed = w.missed = w.repeated_polls = 0;
    w.spin.forget();
    w.alone = w.polled = w.timed = false, w.first_turns = 0;
    w.cluster_phase = 0, w.cluster_lanes = 0;
    if (w.seen_at != launch.device->memory.changes()) w.seen.fill({}), w.seen_at = launch.device->memory.changes();
    w.specials.resize(launch.image->special_bytes);
    w.bank[kConstants] = const_cast<std::byte*>(launch.image->constants.data());  // never a destination
    w.bank[kSpecials] = w.specials.data();
    w.bank[kSink] = cta.nowhere.data();
    fill_specials(w);
    const std::uint32_t threads = std::min(kLanes, cta.alive - n * kLanes);
    start_warp(w, threads == kLanes ? kFullMask : (1u << threads) - 1);
  }
}

CtaState run_cta(Cta& cta, bool patient) {
  const std::int64_t most = patient ? kTurn / 4 : kTurn, budget = shares(cta) ? kSharedTurn : most;
  const auto turns = static_cast<unsigned>(most / budget);  // of a round
  for (unsigned idle = 0, rounds = 0; idle < turns * (patient ? 1 : kIdleRounds); ++rounds) {
    if (rounds == turns * kRounds) return CtaState::moved;
    const RoundOutcome round = run_round(cta, budget);
    if (round.all_done) return CtaState::done;
    if (!round.any && waits_for_cluster(cta)) return CtaState::waiting;
    if (!round.any && meet_alone(cta)) continue;
    if (!round.any) raise_deadlock(cta);
    idle = round.suspicious && !round.changed ? idle + 1 : 0;
    if (patient && (rounds + 1) % turns == 0 && (round.changed || !round.suspicious)) return CtaState::moved;
  }
  return CtaState::waiting;
}

CtaState step_cta(Cta& cta) {
  const RoundOutcome round = run_round(cta, kShortTurn);
  if (round.all_done) return CtaState::done;
  if (!round.any && waits_for_cluster(cta)) return CtaState::waiting;
  if (!round.any && !meet_alone(cta)) raise_deadlock(cta);
  return round.suspicious && !round.changed ? CtaState::waiting : CtaState::moved;
}

void raise_livelock(const Cta& cta, bool proved, const std::string& who) {
  const auto waits =
      std::find_if(cta.warps.begin(), cta.warps.end(), [](const auto& w) { return w->state == WarpState::at_cluster; });
  if (waits != cta.warps.end())
    raise(**waits, {ExecutionError::Kind::deadlock, static_cast<unsigned>(std::countr_zero((*waits)->alive)),
                    "waits at the barrier of its cluster, at which other threads never arrive; " + who});
  auto polls = std::find_if(cta.warps.begin(), cta.warps.end(),
                            [](const auto& w) { return w->state == WarpState::ready && w->polled; });
  if (polls == cta.warps.end())  // it may wait for the others just now, where warps meet after each poll
    polls = std::find_if(cta.warps.begin(), cta.warps.end(),
                         [](const auto& w) { return w->state == WarpState::at_barrier && w->polled; });
  const Warp& w = polls != cta.warps.end() ? **polls : *cta.warps.front();
  raise(w, {ExecutionError::Kind::deadlock, static_cast<unsigned>(std::countr_zero(w.alive)),
            fmt::format("{}: nothing else goes on, in this launch or beside it; {}",
                        proved ? "polls memory that nobody changes any more"
                               : "has polled for very long, and nobody changes memory any more",
                        who)});
}

std::size_t footprint(const Launch& launch) {
  const LaunchSpec& spec = *launch.spec;
  const std::size_t warps = (spec.block[0] * spec.block[1] * spec.block[2] + kLanes - 1) / kLanes;
  return launch.shared_bytes + warps * (sizeof(Warp) + launch.image->stack_bytes + launch.image->special_bytes);
}

}  // namespace atl::ptx::exec
