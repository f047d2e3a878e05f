#include "core/chip/consistency_checker.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engine/error.hpp"

namespace atl {
namespace {

template <class Do> void each(std::uint8_t sectors, Do&& action) {
  for (unsigned s = 0; s < 8; ++s) {
    if ((sectors >> s & 1) != 0) action(s);
  }
}

/// An SM presents at most one line per cycle: this names its request while it is under way.
std::uint64_t id_of(const Packet& p) { return std::uint64_t{p.source} << 48 | std::uint64_t{p.sm} << 32 | p.born; }

}  // namespace

// ---- The program ----

void ConsistencyChecker::on_kernel_start(const Context& c, std::uint64_t kernel) {
  kernel_.resize(c.machine.config.chips);
  kernel_[c.chip] = kernel;
  line_bytes_ = c.machine.config.line_bytes;
}

void ConsistencyChecker::store(Sector& s, Agent writer, std::uint64_t kernel, bool atomic) {
  if (s.latest == 0 || s.kernel != kernel) {
    s.settled = s.racy ? 0 : s.latest;
    s.kernel = kernel, s.writer = writer, s.racy = false;
  }
  s.racy |= atomic || s.writer != writer;
  s.latest = ++last_;
}

ConsistencyChecker::Versions ConsistencyChecker::floors(const Context& c, const Line& l, std::uint32_t sm,
                                                        std::uint8_t sectors) const {
  Versions v{};
  each(sectors, [&](unsigned i) {
    const Sector& s = l.sector[i];
    const bool own = s.writer == agent(c.chip, sm) && !s.racy, earlier = s.kernel != kernel_[c.chip] && !s.racy;
    v[i] = own || earlier ? s.latest : s.kernel == kernel_[c.chip] ? s.settled : 0;
  });
  return v;
}

void ConsistencyChecker::on_request(const Context& c, const Packet& p) {
  Line& l = lines_[p.line.value];
  Request& r = l.requests[id_of(p)] = {};
  if (p.kind == PacketKind::read) {
    r.floor = floors(c, l, p.sm, p.sectors);
    r.fills_l1 = !p.has(kDirect);
    return note(c, l, What::send_read, p.sm, p.sectors, r.floor);
  }
  const bool atomic = p.kind == PacketKind::atomic;
  Versions& l1 = l.l1[agent(c.chip, p.sm)];
  each(p.sectors, [&](unsigned s) {
    store(l.sector[s], agent(c.chip, p.sm), kernel_[c.chip], atomic);
    r.data[s] = l1[s] = l.sector[s].latest;
    for (auto& [id, other] : l.requests) {
      if (id >> 32 == agent(c.chip, p.sm) && other.fills_l1) other.newer[s] = r.data[s];
    }
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
    if (data[s] >= floor[s]) return;
    const Sector& w = l.sector[s];
    fail(fmt::format("cycle {}: SM {} of chip {} read version {} of sector {}, but version {} was visible to it; the last "
                     "store, version {}, is of SM {} of chip {} in kernel {}",
                     c.now(), sm, c.chip, data[s], s, floor[s], w.latest, w.writer & 0xFFFF, w.writer >> 16, w.kernel + 1),
         line);
  });
}

// ---- L1 ----

void ConsistencyChecker::on_l1_load(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors,
                                    L1Cache::Outcome outcome) {
  Line& l = lines_[line.value];
  if (outcome != L1Cache::Outcome::hit) {
    l.loads.push_back({agent(c.chip, sm), sectors, floors(c, l, sm, sectors)});
    return;
  }
  const Versions& data = l.l1[agent(c.chip, sm)];
  note(c, l, What::l1_hit, sm, sectors, data);
  check_read(c, sm, line, sectors, data, floors(c, l, sm, sectors));
}

/// What the SM stored since it asked is taken to be merged into the line that comes.
void ConsistencyChecker::response(const Context& c, const Packet& p) {
  Line& l = lines_[p.line.value];
  const Request r = request_of(c, p);
  l.requests.erase(id_of(p));
  if (p.kind != PacketKind::read_data) return;
  note(c, l, What::answer, p.sm, p.sectors, r.data);
  if (p.has(kDirect)) return check_read(c, p.sm, p.line, p.sectors, r.data, r.floor);
  expect(c, p.sm, p.line, p.sectors, r.data, r.floor);
  Versions& l1 = l.l1[agent(c.chip, p.sm)];
  each(p.sectors, [&](unsigned s) {
    counts_.l1_merged += r.newer[s] > r.data[s];
    l1[s] = r.newer[s] != 0 ? r.newer[s] : r.data[s];
  });
  serve_loads(c, l, p);
}

/// The loads that waited for this answer. Sectors that they found in the L1 are looked at when all the others have come.
void ConsistencyChecker::serve_loads(const Context& c, Line& l, const Packet& p) {
  const Agent reader = agent(c.chip, p.sm);
  const Versions& l1 = l.l1[reader];
  const bool all = std::ranges::none_of(
      l.requests, [&](const auto& entry) { return entry.first >> 32 == reader && entry.second.fills_l1; });
  for (Load& load : l.loads) {
    if (load.reader != reader) continue;
    const auto now = static_cast<std::uint8_t>(load.sectors & (all ? 0xFF : p.sectors));
    load.sectors &= static_cast<std::uint8_t>(~now);
    check_read(c, p.sm, p.line, now, l1, load.floor);
  }
  std::erase_if(l.loads, [](const Load& load) { return load.sectors == 0; });
}

// ---- Slices ----

void ConsistencyChecker::on_event(const Context& c, const Event& e) {
  const Packet& p = e.packet;
  switch (e.kind) {
    case EventKind::l1_fill:
      return response(c, p);
    case EventKind::dram_done:
      if (p.kind == PacketKind::read && p.source == c.chip) fill(c, p);
      return;
    case EventKind::slice_arrive:
      if (p.kind == PacketKind::read_data) fill(c, p);
      return;
    case EventKind::egress_arrive:
      if (p.kind != PacketKind::writeback) return;
      for (WriteBack& w : lines_[p.line.value].llc[c.chip].leaving) {
        if (!std::exchange(w.departed, true)) return;
      }
      return;
    default:
      return;
  }
}

void ConsistencyChecker::on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome outcome) {
  Line& l = lines_[p.line.value];
  l.home = p.home;
  if (outcome == LlcOutcome::bypass || (p.kind != PacketKind::write && p.kind != PacketKind::writeback)) return;
  const bool goes_on = p.kind == PacketKind::write && p.home != c.chip;  // through the slice, to the home
  const bool both = goes_on && c.machine.home_directory;
  const bool through =
      both || (goes_on && c.role == LlcRole::split && c.machine.config.llc.remote_writes == RemoteWrites::through);
  const Versions data = p.kind == PacketKind::write ? request_of(c, p).data : arrive(c, p).data;
  note(c, l, What::write, slice, p.sectors, data);
  put(c, l, p, data, !through || both, outcome == LlcOutcome::hit);
  if (!through) l.llc[c.chip].dirty |= p.sectors;
}

/// A write reaches a slice. One that finds its line under way is taken to be merged by the MSHR into what it holds, which
/// may be all that is left of a line replaced meanwhile, and into what comes.
void ConsistencyChecker::put(const Context& c, Line& l, const Packet& p, const Versions& data, bool allocates, bool hit) {
  bool coming = false;
  for (Fetch& f : l.fetches) {
    if (f.chip != c.chip) continue;
    coming = true;
    each(p.sectors & f.sectors, [&](unsigned s) { f.newer[s] = data[s]; });
    f.written |= p.sectors & f.sectors;
  }
  if (!allocates && !hit && !coming) return;
  Copy& copy = l.llc[c.chip];
  // A whole line becomes valid by a write to a part of it: what the rest would hold had it been read is not known here.
  if (!hit && !c.machine.config.llc.sectored) copy.data.fill(kUnknown);
  each(p.sectors, [&](unsigned s) { copy.data[s] = data[s]; });
}

void ConsistencyChecker::on_llc_fetch(const Context& c, std::uint32_t slice, const Packet& below) {
  Line& l = lines_[below.line.value];
  Fetch f{.chip = c.chip, .sectors = below.sectors, .entry = below.entry};
  for (const WriteBack& w : l.llc[c.chip].leaving) {
    if (w.departed) continue;
    each(w.sectors & f.sectors, [&](unsigned s) { f.newer[s] = w.data[s]; });
  }
  note(c, l, What::fetch, slice, f.sectors, f.newer);
  l.fetches.push_back(f);
}

void ConsistencyChecker::fill(const Context& c, const Packet& p) {
  Line& l = lines_[p.line.value];
  const Fetch f = fetch_of(c, p);
  if (!f.answered) fail(fmt::format("cycle {}: a fill of chip {} without data", c.now(), c.chip), p.line);
  std::erase_if(l.fetches, [&](const Fetch& x) { return x.chip == f.chip && x.entry == f.entry && x.sectors == f.sectors; });
  Copy& copy = l.llc[c.chip];
  each(p.sectors & ~copy.dirty, [&](unsigned s) {
    copy.data[s] = f.newer[s] != 0 ? f.newer[s] : f.data[s];
    if (copy.data[s] != f.data[s]) ++((f.written >> s & 1) != 0 ? counts_.merged : counts_.forwarded);
  });
  note(c, l, What::fill, p.slice, p.sectors, copy.data);
}

void ConsistencyChecker::on_llc_answer(const Context& c, std::uint32_t, const Packet& p) {
  Line& l = lines_[p.line.value];
  Copy& copy = l.llc[c.chip];
  if (p.kind == PacketKind::atomic) {
    const Request& r = request_of(c, p);
    each(p.sectors, [&](unsigned s) { copy.data[s] = r.data[s]; });
    copy.dirty |= p.sectors;
  } else if (p.kind == PacketKind::read && !p.has(kToSlice)) {
    request_of(c, p).data = copy.data;
  } else if (p.kind == PacketKind::read) {
    Fetch& f = fetch_of(c, p);
    if (!std::exchange(f.answered, true)) f.data = copy.data;  // otherwise it passed by, and memory has answered
  }
}

void ConsistencyChecker::on_llc_leave(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t dirty) {
  Line& l = lines_[line.value];
  Copy& copy = l.llc[c.chip];
  copy.dirty = 0;
  if (dirty == 0) return;
  copy.leaving.push_back({dirty, false, copy.data});
  // Sectors written in part, the rest of which is under way: what comes finds them in the write buffer.
  for (Fetch& f : l.fetches) {
    if (f.chip == c.chip) each(dirty & f.sectors, [&](unsigned s) { f.newer[s] = copy.data[s]; });
  }
  note(c, l, What::write_back, slice, dirty, copy.data);
}

/// The write-back `p` is where it was sent: those of a chip's line stay in order.
ConsistencyChecker::WriteBack ConsistencyChecker::arrive(const Context& c, const Packet& p) {
  std::deque<WriteBack>& leaving = lines_[p.line.value].llc[p.source].leaving;
  if (leaving.empty() || leaving.front().sectors != p.sectors)
    fail(fmt::format("cycle {}: a write-back that chip {} did not send, or not in this order", c.now(), p.source), p.line);
  const WriteBack w = leaving.front();
  leaving.pop_front();
  return w;
}

// ---- Memory ----

/// The controller is taken to keep the order of a line's requests as it accepts them.
void ConsistencyChecker::on_memory(const Context& c, std::uint32_t channel, const Packet& p) {
  Line& l = lines_[p.line.value];
  if (p.kind == PacketKind::writeback) {
    const WriteBack w = arrive(c, p);
    each(p.sectors, [&](unsigned s) { l.memory[s] = w.data[s]; });
    return note(c, l, What::memory_write, channel, p.sectors, w.data);
  }
  Fetch& f = fetch_of(c, p);
  f.answered = true, f.data = l.memory;
  note(c, l, What::memory_read, channel, p.sectors, l.memory);
}

void ConsistencyChecker::check_final_image() const {
  std::vector<std::uint64_t> order;
  for (const auto& [line, l] : lines_) order.push_back(line);
  std::ranges::sort(order);  // the message is the same for the same run
  for (const std::uint64_t line : order) {
    const Line& l = lines_.at(line);
    Versions image = l.memory;
    std::uint8_t known = 0;
    for (unsigned s = 0; s < kSectors; ++s) known |= static_cast<std::uint8_t>(!l.sector[s].racy << s);
    for (const auto& entry : l.llc) {
      const auto chip = entry.first;
      const Copy& copy = entry.second;
      if (chip != l.home && ((copy.dirty & known) != 0 || !copy.leaving.empty()))
        fail(fmt::format("after the run chip {} still holds dirty sectors of a line of chip {}", chip, l.home), {line});
      for (const WriteBack& w : copy.leaving) each(w.sectors, [&](unsigned s) { image[s] = w.data[s]; });
      each(copy.dirty, [&](unsigned s) { image[s] = copy.data[s]; });
    }
    each(known, [&](unsigned s) {
      if (image[s] != l.sector[s].latest)
        fail(
            fmt::format("after the run memory holds version {} of sector {} instead of {}", image[s], s, l.sector[s].latest),
            {line});
    });
  }
}

// ---- Records ----

ConsistencyChecker::Fetch& ConsistencyChecker::fetch_of(const Context& c, const Packet& p) {
  for (Fetch& f : lines_[p.line.value].fetches) {
    if (f.chip == p.source && f.entry == p.entry && f.sectors == p.sectors) return f;
  }
  fail(fmt::format("cycle {}: a read or fill for a slice of chip {} that did not ask for it", c.now(), p.source), p.line);
}

ConsistencyChecker::Request& ConsistencyChecker::request_of(const Context& c, const Packet& p) {
  auto& requests = lines_[p.line.value].requests;
  const auto it = requests.find(id_of(p));
  if (it == requests.end())
    fail(fmt::format("cycle {}: a request or answer that SM {} of chip {} did not ask for", c.now(), p.sm, p.source),
         p.line);
  return it->second;
}

void ConsistencyChecker::note(const Context& c, Line& l, What what, std::uint32_t unit, std::uint8_t sectors,
                              const Versions& data) {
  constexpr std::size_t kKept = 10;
  if (l.notes.size() == kKept) l.notes.pop_front();
  l.notes.push_back({c.now(), what, c.chip, sectors, unit, data});
}

void ConsistencyChecker::fail(const std::string& what, LineAddr line) const {
  static constexpr std::array kNames{"SM {} stores",
                                     "SM {} adds to",
                                     "SM {} asks for, visible to it",
                                     "L1 of SM {} holds",
                                     "SM {} is given",
                                     "slice {} is written",
                                     "slice {} writes back",
                                     "slice {} asks for, newer ones of its own",
                                     "slice {} takes",
                                     "channel {} reads",
                                     "channel {} writes"};
  std::string text = fmt::format("line {:#x}: {}; its last events:", line.value * line_bytes_, what);
  for (const Note& n : lines_.at(line.value).notes) {
    text += fmt::format("\n  cycle {}, chip {}: {}", n.cycle, n.chip,
                        fmt::format(fmt::runtime(kNames[static_cast<std::size_t>(n.what)]), n.unit));
    each(n.sectors,
         [&](unsigned s) { text += n.data[s] == kUnknown ? fmt::format(" {}:?", s) : fmt::format(" {}:{}", s, n.data[s]); });
  }
  throw SimulationError(text);
}

}  // namespace atl
