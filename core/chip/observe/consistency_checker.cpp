#include "core/chip/observe/consistency_checker.hpp"

#include <fmt/format.h>

#include <algorithm>

// The program's side of the consistency checker: what SMs store and may expect, and their L1s.
namespace atl {

using namespace consistency;

namespace {

/// An SM presents at most one line per cycle: this names its request while it is under way.
std::uint64_t id_of(const Packet& p) { return std::uint64_t{p.source} << 48 | std::uint64_t{p.sm} << 32 | p.born; }

/// Is there one place, the home's slice, where all stores to a line take their order?
bool home_orders(const SystemConfig& c) {
  if (row_of(c.llc.replication).all_lines) return false;
  if (c.l2.present()) return c.l2.writes == L2Writes::through;
  const ProtocolRow& protocol = row_of(c.coherence.protocol);
  if (protocol.home.present || !protocol.llc_keeps_remote) return true;
  const Roles roles = row_of(c.llc.organisation).traits.roles;
  return !roles.has(LlcRole::sm_side) && (!roles.has(LlcRole::split) || c.llc.remote_writes == RemoteWrites::through);
}

}  // namespace

// ---- The program ----

void ConsistencyChecker::begin(const Context& c) {
  const SystemConfig& config = c.machine.config;
  line_bytes_ = config.line_bytes, llc_slices_ = config.llc.slices;
  home_orders_ = home_orders(config);
  passed_by_ = row_of(config.llc.replication).all_lines;
  owners_keep_ = c.machine.full_map;
  exact_sharers_ = !row_of(config.coherence.protocol).home.common_sharers;
  kernel_.resize(config.chips);
  homes_.resize(config.chips);
}

void ConsistencyChecker::on_kernel_start(const Context& c, std::uint64_t kernel) {
  if (kernel_.empty()) begin(c);
  const bool first = kernel_[c.chip] == kernel ? false : std::ranges::max(kernel_) < kernel;
  kernel_[c.chip] = kernel;
  if (first) check_copies();
}

void ConsistencyChecker::store(Line& l, unsigned sector, Versions& v, Agent writer, std::uint64_t kernel, bool atomic) {
  Sector& s = l.sector[sector];
  if (s.latest == 0 || s.kernel != kernel) {
    s.settled = s.racy ? 0 : s.latest;
    s.kernel = kernel, s.writer = writer, s.racy = false;
  }
  v[sector] = order_.create();
  if (home_orders_) {
    s.writer = writer;
    return;
  }
  s.racy |= atomic || s.writer != writer;
  if (owners_keep_) {  // a line has one owner, who may write on until it hears of the next
    for (Sector& other : l.sector) {
      const bool same_chip = !other.racy && chip_of(other.writer) == chip_of(writer);
      if (other.latest == 0 || other.kernel != kernel || same_chip) continue;
      s.racy = other.racy = true;
    }
  }
  order_.place(s.latest = v[sector]);
}

/// A write has reached the place where a line's stores take their order.
void ConsistencyChecker::put_in_order(Line& l, std::uint8_t sectors, const Versions& data) {
  if (!home_orders_) return;
  each(sectors, [&](unsigned s) { order_.place(l.sector[s].latest = data[s]); });
  publish(l, sectors, data);
}

void ConsistencyChecker::publish(Line& l, std::uint8_t sectors, const Versions& data) {
  raise(l, l.published, sectors, data);
}

Reader& ConsistencyChecker::reader_of(const Context& c, Line& l, std::uint32_t sm) {
  Reader& r = l.readers[agent(c.chip, sm)];
  if (r.kernel != kernel_[c.chip] + 1) r = {.kernel = kernel_[c.chip] + 1};
  return r;
}

Versions ConsistencyChecker::floors(const Context& c, Line& l, std::uint32_t sm, std::uint8_t sectors, bool through_llc) {
  Versions v{};
  const Reader& r = reader_of(c, l, sm);
  each(sectors, [&](unsigned i) {
    const Sector& s = l.sector[i];
    v[i] = s.kernel == kernel_[c.chip] ? s.settled : s.racy ? 0 : s.latest;
    if (s.racy) return;
    v[i] = order_.newer_of(v[i], r.stored[i]);
    if (through_llc) v[i] = order_.newer_of(v[i], r.seen[i]);
  });
  return v;
}

void ConsistencyChecker::on_request(const Context& c, const Packet& p) {
  Line& l = lines_[p.line.value];
  Request& r = l.requests[id_of(p)] = {};
  if (p.kind == PacketKind::read) {
    r.floor = floors(c, l, p.sm, p.sectors, true);
    r.fills_l1 = !p.has(kDirect);
    return note(c, l, What::send_read, p.sm, p.sectors, r.floor);
  }
  const bool atomic = p.kind == PacketKind::atomic;
  const Agent self = agent(c.chip, p.sm);
  Versions& l1 = l.l1[self];
  Reader& reader = reader_of(c, l, p.sm);
  each(p.sectors, [&](unsigned s) {
    store(l, s, r.data, self, kernel_[c.chip], atomic);
    // An atomic passes the SM's caches by, and what the SM reads before it is answered may be older.
    if (!atomic) reader.stored[s] = r.data[s];
    l1[s] = atomic ? kUnknown : r.data[s];
    for (auto it = l.requests.lower_bound(std::uint64_t{self} << 32); it != l.requests.end() && it->first >> 32 == self;
         ++it)
      if (it->second.fills_l1) it->second.newer[s] = l1[s];
  });
  note(c, l, atomic ? What::atomic : What::store, p.sm, p.sectors, r.data);
}

void ConsistencyChecker::check_read(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors,
                                    const Versions& data, const Versions& floor) {
  const Line& l = lines_[line.value];
  each(sectors, [&](unsigned s) {
    const bool known = data[s] != kUnknown && !l.sector[s].racy;
    ++(known ? counts_.checked : counts_.unchecked);
  });
  expect(c, sm, line, sectors, data, floor);
}

void ConsistencyChecker::expect(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors,
                                const Versions& data, const Versions& floor) const {
  const Line& l = lines_.at(line.value);
  each(sectors, [&](unsigned s) {
    const Sector& w = l.sector[s];
    const Version expected = w.racy ? w.settled : floor[s];  // others may have begun to write it since
    if (!order_.older(data[s], expected)) return;
    fail(fmt::format("cycle {}: SM {} of chip {} read version {} of sector {}, but version {} was visible to it; the last "
                     "store, version {}, is of SM {} of chip {} in kernel {}",
                     c.now(), sm, c.chip, data[s], s, expected, w.latest, w.writer & 0xFFFF, w.writer >> 16, w.kernel),
         line);
  });
}

// ---- L1 ----

void ConsistencyChecker::on_l1_load(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors,
                                    L1Outcome outcome) {
  Line& l = lines_[line.value];
  const Versions floor = floors(c, l, sm, sectors, false);
  if (outcome != L1Outcome::hit) {
    l.loads.push_back({agent(c.chip, sm), sectors, floor});
    return;
  }
  const Versions& data = l.l1[agent(c.chip, sm)];
  note(c, l, What::l1_hit, sm, sectors, data);
  check_read(c, sm, line, sectors, data, floor);
}

/// What an L1 of the cluster answers may be as old as a hit.
void ConsistencyChecker::on_cluster_request(const Context& c, const Packet& p) {
  Line& l = lines_[p.line.value];
  Request& r = l.requests[id_of(p)] = {};
  r.floor = floors(c, l, p.sm, p.sectors, false);
  r.fills_l1 = !p.has(kDirect);
  note(c, l, What::send_read, p.sm, p.sectors, r.floor);
}

/// What the owner's L1 holds now is what the neighbour will be given.
void ConsistencyChecker::on_cluster_answer(const Context& c, std::uint32_t owner, const Packet& p) {
  Line& l = lines_[p.line.value];
  const Versions& data = l.l1[agent(c.chip, owner)];
  note(c, l, What::l1_answer, owner, p.sectors, data);
  Request& r = request_of(c, p);
  r.data = data, r.neighbour = true;
}

/// What the SM stored since it asked is taken to be merged into the line that comes.
void ConsistencyChecker::response(const Context& c, const Packet& p) {
  Line& l = lines_[p.line.value];
  const Request r = request_of(c, p);
  l.requests.erase(id_of(p));
  if (p.kind != PacketKind::read_data) return;
  note(c, l, What::answer, p.sm, p.sectors, r.data);
  Versions& seen = reader_of(c, l, p.sm).seen;
  if (!r.neighbour) raise(l, seen, p.sectors, r.data);
  if (p.has(kDirect)) return check_read(c, p.sm, p.line, p.sectors, r.data, r.floor);
  expect(c, p.sm, p.line, p.sectors, r.data, r.floor);
  Versions& l1 = l.l1[agent(c.chip, p.sm)];
  each(p.sectors, [&](unsigned s) {
    l1[s] = order_.merge(r.data[s], r.newer[s]);
    counts_.l1_merged += l1[s] != r.data[s];
  });
  serve_loads(c, l, p);
}

/// The loads that waited for this answer. Sectors that they found in the L1 are looked at when all the others have come.
void ConsistencyChecker::serve_loads(const Context& c, Line& l, const Packet& p) {
  const Agent reader = agent(c.chip, p.sm);
  const Versions& l1 = l.l1[reader];
  bool all = true;
  for (auto it = l.requests.lower_bound(std::uint64_t{reader} << 32); it != l.requests.end() && it->first >> 32 == reader;
       ++it)
    all = all && !it->second.fills_l1;
  for (Load& load : l.loads) {
    if (load.reader != reader) continue;
    const auto now = static_cast<std::uint8_t>(load.sectors & (all ? 0xFF : p.sectors));
    load.sectors &= static_cast<std::uint8_t>(~now);
    check_read(c, p.sm, p.line, now, l1, load.floor);
  }
  std::erase_if(l.loads, [](const Load& load) { return load.sectors == 0; });
}

Request& ConsistencyChecker::request_of(const Context& c, const Packet& p) {
  auto& requests = lines_[p.line.value].requests;
  const auto it = requests.find(id_of(p));
  if (it == requests.end())
    fail(fmt::format("cycle {}: a request or answer that SM {} of chip {} did not ask for", c.now(), p.sm, p.source),
         p.line);
  return it->second;
}

}  // namespace atl
