#include "core/chip/sm/cluster_sharing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "core/chip/noc/request_network.hpp"
#include "core/chip/sm/sm.hpp"

namespace atl {

ClusterSharing::ClusterSharing(Context& c, RequestNetwork& network)
    : c_(c),
      network_(network),
      config_(c.machine.config.cluster),
      shares_(config_.sharing == ClusterShare::colab),
      oracle_(c.machine.config.observe.neighbours && c.machine.config.l1.enabled),
      sms_(c.machine.config.noc.sms_per_cluster) {
  const SystemConfig& config = c.machine.config;
  if (watches()) member_.resize(config.sm.count);
  if (!shares_) return;
  table_.assign(c.machine.clusters, OwnershipTable(config.l1.index, OwnershipTableShape::of(config)));
  waiting_.resize(c.machine.clusters), next_look_.resize(c.machine.clusters);
  written_.resize(c.machine.clusters * kWriteStamps);
  for (Member& m : member_) m.departures.resize(config_.response_buffer), m.reads.reserve(config.l1.mshrs);
}

void ClusterSharing::connect(std::vector<Sm>& sms) {
  all_sms_ = &sms;
  if (!watches()) return;
  for (Sm& sm : sms) sm.join(*this);
}

/// Nothing is under way at a kernel's start: whatever is in here holds an MSHR of its SM.
void ClusterSharing::begin_kernel() {
  if (config_.keep_table) return;
  for (OwnershipTable& t : table_) t.clear();
}

// ---- Requester ----

void ClusterSharing::on_miss(const Packet& p, bool taken) {
  if (shares_ && !taken) ++c_.count[Counter::cluster_input_full];
  if (!oracle_) return;
  if (another_has(p)) {
    ++c_.count[Counter::cluster_held];
  } else if (another_asked(p)) {
    ++c_.count[Counter::cluster_pending];
  }
}

bool ClusterSharing::another_has(const Packet& p) const {
  const std::uint32_t first = p.sm / sms_ * sms_;
  for (std::uint32_t sm = first; sm < first + sms_; ++sm) {
    if (sm != p.sm && (*all_sms_)[sm].l1().has(p.line, p.sectors)) return true;
  }
  return false;
}

bool ClusterSharing::another_asked(const Packet& p) const {
  const std::uint32_t first = p.sm / sms_ * sms_;
  for (std::uint32_t sm = first; sm < first + sms_; ++sm) {
    if (sm != p.sm && (*all_sms_)[sm].l1().pending(p.line)) return true;
  }
  return false;
}

void ClusterSharing::take(const Packet& p) {
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_cluster_request(c_, p);
  const std::uint32_t cluster = cluster_of(p.sm);
  ++waiting_[cluster];
  member_[p.sm].reads.push_back(p.line);
  const Cycle start = std::max(c_.now(), next_look_[cluster]);
  next_look_[cluster] = start + 1;
  c_.schedule(start + config_.table_latency_cycles, EventKind::cluster_table, cluster, 0, p);
}

bool ClusterSharing::holds(std::uint32_t sm, LineAddr line) const {
  if (!shares_) return false;
  const auto& reads = member_[sm].reads;
  return std::find(reads.begin(), reads.end(), line) != reads.end();
}

void ClusterSharing::forget(const Packet& p) {
  auto& reads = member_[p.sm].reads;
  const auto read = std::find(reads.begin(), reads.end(), p.line);
  require_course(read != reads.end());
  *read = reads.back();
  reads.pop_back();
}

void ClusterSharing::on_write(std::uint32_t sm, LineAddr line, bool stays) {
  if (!shares_) return;
  const std::uint32_t cluster = cluster_of(sm);
  table_[cluster].erase(line, stays ? static_cast<std::uint8_t>(sm % sms_) : OwnershipTable::kNobody);
  stamp(cluster, line) = c_.now() + 1;
}

/// Sectors that may be older than a store of the cluster must not be found; nor sectors that join a line which was here
/// before, since these may be.
void ClusterSharing::on_fill(const Packet& p, bool is_new) {
  if (!shares_) return;
  const std::uint32_t cluster = cluster_of(p.sm);
  const Cycle asked = c_.now() - (static_cast<std::uint32_t>(c_.now()) - p.born);
  if (stamp(cluster, p.line) > asked) return table_[cluster].erase(p.line);
  if (is_new) table_[cluster].put(p.line, static_cast<std::uint8_t>(p.sm % sms_));
}

void ClusterSharing::on_arrival(const Packet& p) { forget(p); }

// ---- Table ----

void ClusterSharing::on_table(std::uint32_t cluster, const Packet& p) {
  ++c_.count[Counter::cluster_lookups];
  const std::uint8_t found = table_[cluster].find(p.line);
  const std::uint32_t owner = cluster * sms_ + found;
  if (found == OwnershipTable::kNobody || owner == p.sm) {
    ++c_.count[found == OwnershipTable::kNobody ? Counter::cluster_table_misses : Counter::cluster_own_entries];
    if (oracle_ && another_has(p)) ++c_.count[Counter::cluster_false_negatives];
    return to_network({p, kInput});
  }
  ++c_.count[Counter::cluster_table_hits];
  Member& m = member_[owner];
  if (m.places == config_.access_queue) {
    ++c_.count[Counter::cluster_access_full];
    return to_network({p, kInput});
  }
  --waiting_[cluster];
  ++m.places;
  m.access.push(p);
  (*all_sms_)[owner].on_neighbour();
}

/// Keeps its place while it waits for a credit of the request port. Each lines up for itself: a load-store unit that finds
/// the input queue full lines up behind them.
void ClusterSharing::to_network(Leaving l) {
  Gate* gate = network_.gate_for(l.p);
  if (gate != nullptr && !gate->acquire()) {
    l.gate = gate;
    std::uint32_t place = static_cast<std::uint32_t>(leaving_.size());
    if (free_leaving_.empty()) {
      leaving_.push_back(l);
    } else {
      place = free_leaving_.back();
      free_leaving_.pop_back();
      leaving_[place] = l;
    }
    return gate->wait({WaiterKind::cluster, static_cast<std::uint8_t>(place >> 16), static_cast<std::uint16_t>(place)});
  }
  leave(l);
}

/// A credit came. It is of no use if the read has to stay behind another request that waited for its page's home.
void ClusterSharing::on_credit(std::uint32_t place) {
  const Leaving l = leaving_[place];
  free_leaving_.push_back(place);
  Gate* gate = network_.gate_for(leaving_[place].p);
  if (gate == l.gate) return leave(l);
  c_.release(*l.gate);
  to_network({l.p, l.queue});
}

void ClusterSharing::leave(const Leaving& l) {
  --(l.queue == kInput ? waiting_[cluster_of(l.p.sm)] : member_[l.queue].places);
  forget(l.p);
  network_.request(l.p);
  (*all_sms_)[l.p.sm].on_read_gone();
}

// ---- Owner ----

Cycle ClusterSharing::room_from(std::uint32_t sm) const {
  const Member& m = member_[sm];
  const Cycle departs = m.departures[m.next_departure], latency = c_.machine.config.l1.latency_cycles;
  return departs > latency ? departs - latency : 0;
}

void ClusterSharing::call_at(std::uint32_t sm, Cycle at) {
  c_.call_once(member_[sm].timed, at, EventKind::cluster_access, sm);
}

void ClusterSharing::on_access(std::uint32_t sm) {
  member_[sm].timed = false;
  (*all_sms_)[sm].serve_neighbours();
}

/// What is found leaves after the L1's latency through the owner's port and the requester's, when both are free. The
/// requester's own look-up, which came first, is charged at the end, as the network charges it after its port.
void ClusterSharing::look_up(std::uint32_t sm) {
  Member& owner = member_[sm];
  const Packet p = owner.access.take();
  L1Cache& l1 = (*all_sms_)[sm].l1();
  const Cycle latency = c_.machine.config.l1.latency_cycles, known = c_.now() + latency;
  if (!l1.has(p.line, p.sectors)) {
    ++c_.count[Counter::cluster_false_positives];
    return c_.schedule(known, EventKind::cluster_miss, sm, 0, p);
  }
  if (config_.owner_lru) l1.use(p.line);
  if (c_.observer != nullptr) [[unlikely]]
    c_.observer->on_cluster_answer(c_, sm, p);
  const std::uint32_t bytes = 32 * static_cast<std::uint32_t>(std::popcount(p.sectors));
  ++c_.count[Counter::cluster_served];
  c_.count[Counter::cluster_bytes] += bytes;
  --owner.places;
  Cycle& in_free = member_[p.sm].in_free;
  const Cycle done = std::max({known, owner.out_free, in_free}) + (bytes + config_.port_bytes - 1) / config_.port_bytes;
  owner.out_free = in_free = owner.departures[owner.next_departure] = done;
  owner.next_departure = owner.next_departure + 1 < owner.departures.size() ? owner.next_departure + 1 : 0;
  Packet answer = p;
  answer.kind = PacketKind::read_data;
  c_.schedule(done + latency, EventKind::l1_fill, p.sm, 1, answer);
}

// ---- Rest ----

bool ClusterSharing::idle() const {
  return std::all_of(waiting_.begin(), waiting_.end(), [](std::uint32_t n) { return n == 0; }) &&
         std::all_of(member_.begin(), member_.end(),
                     [](const Member& m) { return m.access.empty() && m.places == 0 && m.reads.empty(); }) &&
         free_leaving_.size() == leaving_.size();
}

std::string ClusterSharing::describe_stall() const {
  std::string text;
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    if (waiting_[i] != 0) text += fmt::format("cluster {}: {} reads in the ownership table's queue\n", i, waiting_[i]);
  }
  for (std::size_t i = 0; i < member_.size(); ++i) {
    const Member& m = member_[i];
    if (m.places != 0)
      text += fmt::format("SM {}: {} reads of neighbours, {} wait for its L1\n", i, m.places, m.access.size());
  }
  if (const auto n = leaving_.size() - free_leaving_.size(); n != 0)
    text += fmt::format("ownership tables: {} reads wait for their cluster's request port\n", n);
  return text;
}

}  // namespace atl
