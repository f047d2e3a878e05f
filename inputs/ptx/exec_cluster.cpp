#include "inputs/ptx/exec_cluster.hpp"

#include <algorithm>

#include "inputs/ptx/exec_memory.hpp"

/// Thread-block clusters: addresses in each other's shared memory (mapa, getctarank) and barrier.cluster, at which threads
/// arrive and later wait (PTX ISA, "Cluster of Cooperative Thread Arrays").
namespace atl::ptx::exec {
namespace {

template <class T> void map_address(Warp& w, const Inst& i) {
  const T* address = w.at<T>(i.src[0]);
  const auto* rank = w.at<std::uint32_t>(i.src[1]);
  const std::size_t ranks = w.cta->cluster->ctas.size();
  for_active(w.active, [&](unsigned l) {
    if (rank[l] >= ranks)
      throw Fault{ExecutionError::Kind::illegal_address, l,
                  "mapa names block " + std::to_string(rank[l]) + " of a cluster of " + std::to_string(ranks)};
  });
  each_active<T>(w, i.dst[0], [&](unsigned l) {
    const std::uint64_t offset = address[l] & kOwnOffset, window = address[l] & kWindowMask;
    return static_cast<T>(window | offset | std::uint64_t{rank[l] + 1} << kRankShift);
  });
}

template <class T> void rank_of_address(Warp& w, const Inst& i) {
  const T* address = w.at<T>(i.src[0]);
  const std::uint32_t own = w.cta->rank;
  each_active<std::uint32_t>(w, i.dst[0], [&](unsigned l) {
    const std::uint64_t named = (address[l] & ~kWindowMask) >> kRankShift;
    return named == 0 ? own : static_cast<std::uint32_t>(named - 1);
  });
}

/// Parts of a warp that waited at the same instruction go on as one.
void rejoin_parts(Cta& cta) {
  for (std::size_t n = 0; n < cta.warps.size(); ++n) {
    Warp& w = *cta.warps[n];
    if (w.whole || w.state != WarpState::ready) continue;
    for (std::size_t later = n + 1; later < cta.warps.size(); ++later) {
      Warp& other = *cta.warps[later];
      if (other.number != w.number || other.state != WarpState::ready) continue;
      flush_events(other);
      merge(w, other);
    }
  }
}

/// What the others did before they arrived comes before what the warp does from now on.
void learn(Warp& w) {
  if (w.cta->races != nullptr) w.cta->races->observe(w.number);
  if (w.launch->spec->races != nullptr) w.launch->spec->races->acquire(w.cta->view);
}

void check_cluster(Cluster& cluster) {
  if (cluster.arrived == 0) return;
  std::uint32_t alive = 0;
  for (const Cta* cta : cluster.ctas) alive += cta != nullptr ? cta->alive : 0;
  if (cluster.arrived < alive) return;
  cluster.arrived = 0, ++cluster.completed;
  for (Cta* cta : cluster.ctas) {
    if (cta == nullptr) continue;
    ++cta->view.epoch;
    for (const auto& w : cta->warps)
      if (w->state == WarpState::at_cluster) w->state = WarpState::ready, learn(*w);
    rejoin_parts(*cta);
  }
}

void arrive_at_cluster(Warp& w, const Inst& i) {
  Cluster& cluster = *w.cta->cluster;
  if (w.cluster_phase != cluster.completed) w.cluster_phase = cluster.completed, w.cluster_lanes = 0;
  if ((w.cluster_lanes & w.active) != 0)
    throw Fault{ExecutionError::Kind::trap, static_cast<unsigned>(std::countr_zero(w.cluster_lanes & w.active)),
                "arrives a second time at the barrier of its cluster without having waited"};
  w.cluster_lanes |= w.active;
  if (w.cta->races != nullptr) w.cta->races->publish(w.number);
  if (i.option != 0) show_fence(w, true);
  cluster.arrived += static_cast<std::uint32_t>(std::popcount(w.active));
  w.change();
  check_cluster(cluster);
}

void wait_for_cluster(Warp& w, const Inst&) {
  const Cluster& cluster = *w.cta->cluster;
  if (w.cluster_phase != cluster.completed) return learn(w);
  if ((w.active & ~w.cluster_lanes) != 0)
    throw Fault{ExecutionError::Kind::trap, static_cast<unsigned>(std::countr_zero(w.active & ~w.cluster_lanes)),
                "waits at the barrier of its cluster without having arrived"};
  if (w.active != w.alive) split_off(w, w.active);
  w.state = WarpState::at_cluster;
  w.budget = 0;
}

}  // namespace

Cta* shared_owner(const Warp& w, std::uint64_t offset) {
  const std::uint64_t named = offset >> kRankShift;
  if (named == 0) return w.cta;
  const auto& ctas = w.cta->cluster->ctas;
  return named <= ctas.size() ? ctas[named - 1] : nullptr;
}

void leave_cluster(Warp& w, std::uint32_t lanes) {
  Cluster& cluster = *w.cta->cluster;
  if (w.cluster_phase == cluster.completed) {
    cluster.arrived -= static_cast<std::uint32_t>(std::popcount(w.cluster_lanes & lanes));
    w.cluster_lanes &= ~lanes;
  }
  check_cluster(cluster);
}

bool waits_for_cluster(const Cta& cta) {
  return std::any_of(cta.warps.begin(), cta.warps.end(), [](const auto& w) { return w->state == WarpState::at_cluster; });
}

bool decode_cluster(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const bool wide = size_of(in.type) == 8;
  switch (in.op) {
    case Op::mapa:
      out.run = wide ? &map_address<std::uint64_t> : &map_address<std::uint32_t>;
      d.take(0, in.type), d.take(1, Type::u32), d.give(0, in.type);
      return wide || size_of(in.type) == 4;
    case Op::getctarank:
      out.run = wide ? &rank_of_address<std::uint64_t> : &rank_of_address<std::uint32_t>;
      d.take(0, in.type), d.give(0, Type::u32);
      return wide || size_of(in.type) == 4;
    case Op::bar:
      if (in.scope != Scope::cluster) return false;
      out.run = in.mode == Mode::wait ? &wait_for_cluster : &arrive_at_cluster;
      out.option = in.order != Order::relaxed;
      return in.mode == Mode::wait || in.mode == Mode::arrive;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
