#include <fmt/format.h>

#include <algorithm>

#include "core/chip/observe/consistency_checker.hpp"

// The data's way between slices, links and memories, as the consistency checker follows it.
namespace atl {

using namespace consistency;

void ConsistencyChecker::on_event(const Context& c, const Event& e) {
  const Packet& p = e.packet;
  if (!homes_.empty()) check_awaited(c);
  switch (e.kind) {
    case EventKind::l1_fill:
      return response(c, p);
    case EventKind::dram_done:
      if (p.kind == PacketKind::read && p.source == c.chip) fill(c, p, place(c.chip, p.slice));
      return;
    case EventKind::slice_arrive:
      if (p.kind == PacketKind::read_data && p.sectors != 0) fill(c, p, fetcher(c, p));
      return;
    case EventKind::egress_arrive:
      return leave_slice(c, p);
    default:
      return;
  }
}

/// A write-back or a notice of a write leaves its slice for another chip.
void ConsistencyChecker::leave_slice(const Context& c, const Packet& p) {
  if (p.source != c.chip) return;
  if (p.kind == PacketKind::own) {
    // A write-back behind it in the queue has ended what it tells of: later writes have a notice of their own.
    Line& l = lines_[p.line.value];
    const Copy& copy = l.llc[place(c.chip, p.slice)];
    const auto behind = std::ranges::find(copy.leaving, false, &WriteBack::departed);
    l.notices.push_back({c.chip, behind == copy.leaving.end() ? copy.data : behind->data});
  }
  if (p.kind != PacketKind::writeback) return;
  for (WriteBack& w : lines_[p.line.value].llc[fetcher(c, p)].leaving) {
    if (!std::exchange(w.departed, true)) return;
  }
}

// ---- Slices ----

/// The slice that sent `p`, or asked for it, to another one: with an L2, one of these.
Place ConsistencyChecker::fetcher(const Context& c, const Packet& p) const {
  return place(p.source, p.slice + (c.machine.has_l2 ? c.machine.llc.slices : 0));
}

ConsistencyChecker::Taken ConsistencyChecker::taken(const Context& c, std::uint32_t slice, const Packet& p) const {
  if (is_l2(c, slice) && c.machine.config.l2.writes == L2Writes::through)
    return {.allocates = false, .dirties = false, .to_memory = false};
  if (is_l2(c, slice)) return {.allocates = true, .dirties = true, .to_memory = false};
  const bool on = p.kind == PacketKind::write && p.home != c.chip;  // goes on to the home
  if (on && tracks(c) && !owners_keep_) return {.allocates = true, .dirties = false, .to_memory = false};
  if (on && c.role == LlcRole::split && c.machine.config.llc.remote_writes == RemoteWrites::through)
    return {.allocates = false, .dirties = false, .to_memory = false};
  if (c.replication.all_lines) return {.allocates = false, .dirties = false, .to_memory = true};
  return {.allocates = true, .dirties = true, .to_memory = false};
}

void ConsistencyChecker::on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome outcome) {
  check_awaited(c);
  Line& l = lines_[p.line.value];
  l.home = p.has(kFromOwner) ? static_cast<std::uint8_t>(p.token) : p.home;
  Copy& copy = l.llc[place(c.chip, slice)];
  if (p.kind == PacketKind::read) {
    if (p.source != c.chip && l.home == c.chip) add_sharer(c, l, p.source);
    if (outcome == LlcOutcome::hit) check_slice(c, slice, p.line, p.sectors, copy.data, copy.floor, "hits");
    return;
  }
  if (outcome == LlcOutcome::bypass || (p.kind != PacketKind::write && p.kind != PacketKind::writeback)) return;
  const Versions data = p.kind == PacketKind::write ? request_of(c, p).data : arrive(c, p, fetcher(c, p)).data;
  note(c, l, What::write, slice, p.sectors, data);
  const Taken t = taken(c, slice, p);
  put(c, slice, l, p, data, t.allocates, outcome == LlcOutcome::hit);
  if (t.dirties) copy.dirty |= p.sectors;
  if (t.to_memory) copy.leaving.push_back({p.sectors, false, data});
  if (p.kind == PacketKind::writeback && c.machine.has_l2) publish(l, p.sectors, data);
  if (p.kind != PacketKind::write || l.home != c.chip || is_l2(c, slice)) return;
  put_in_order(l, p.sectors, data);
  if (tracks(c)) {
    if (owners_keep_) recall(l, c.chip);
    publish(l, p.sectors, data);
    written_at_home(c, p.line, p.source);
  }
}

/// A write reaches a slice. One that finds its line under way is taken to be merged by the MSHR into what it holds, which
/// may be all that is left of a line replaced meanwhile, and into what comes.
void ConsistencyChecker::put(const Context& c, std::uint32_t slice, Line& l, const Packet& p, const Versions& data,
                             bool allocates, bool hit) {
  const Place here = place(c.chip, slice);
  bool coming = false;
  for (Fetch& f : l.fetches) {
    if (f.slice != here) continue;
    coming = true;
    each(p.sectors & f.sectors, [&](unsigned s) { f.newer[s] = data[s]; });
    f.written |= p.sectors & f.sectors;
  }
  Copy& copy = l.llc[here];
  raise(l, copy.floor, p.sectors, data);
  if (!allocates && !hit && !coming) return;
  // A whole line becomes valid by a write to a part of it: what the rest would hold had it been read is not known here.
  const bool sectored = is_l2(c, slice) ? c.machine.config.l2.sectored : c.machine.config.llc.sectored;
  if (!hit && !sectored) copy.data.fill(kUnknown);
  each(p.sectors, [&](unsigned s) { copy.data[s] = data[s]; });
}

void ConsistencyChecker::on_llc_fetch(const Context& c, std::uint32_t slice, const Packet& below) {
  Line& l = lines_[below.line.value];
  const Copy& copy = l.llc[place(c.chip, slice)];
  Fetch f{.slice = place(c.chip, slice), .sectors = below.sectors, .entry = below.entry, .floor = copy.floor};
  raise(l, f.floor, f.sectors, l.published);
  for (const WriteBack& w : copy.leaving) {
    if (w.departed) continue;
    each(w.sectors & f.sectors, [&](unsigned s) { f.newer[s] = w.data[s]; });
  }
  note(c, l, What::fetch, slice, f.sectors, f.newer);
  l.fetches.push_back(f);
}

void ConsistencyChecker::fill(const Context& c, const Packet& p, Place slice) {
  Line& l = lines_[p.line.value];
  const Fetch f = fetch_of(c, p, slice);
  if (!f.answered) fail(fmt::format("cycle {}: a fill of chip {} without data", c.now(), c.chip), p.line);
  std::erase_if(l.fetches,
                [&](const Fetch& x) { return x.slice == f.slice && x.entry == f.entry && x.sectors == f.sectors; });
  Copy& copy = l.llc[f.slice];
  const auto clean = static_cast<std::uint8_t>(p.sectors & ~copy.dirty);
  each(clean, [&](unsigned s) {
    copy.data[s] = order_.merge(f.data[s], f.newer[s]);
    if (copy.data[s] != f.data[s]) ++((f.written >> s & 1) != 0 ? counts_.merged : counts_.forwarded);
  });
  note(c, l, What::fill, slice & 0xFFFF, p.sectors, copy.data);
  check_slice(c, slice & 0xFFFF, p.line, clean, copy.data, f.floor, "takes");
  raise(l, copy.floor, clean, copy.data);
}

void ConsistencyChecker::check_slice(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t sectors,
                                     const Versions& data, const Versions& floor, const char* does) {
  const Line& l = lines_[line.value];
  each(sectors, [&](unsigned s) {
    if (l.sector[s].racy) return;
    ++counts_.slices;
    if (!order_.older(data[s], floor[s])) return;
    fail(fmt::format("cycle {}: slice {} of chip {} {} version {} of sector {}, but it must know of version {}", c.now(),
                     slice, c.chip, does, data[s], s, floor[s]),
         line);
  });
}

/// `floor` is not below `data` from now on, where their order is known.
void ConsistencyChecker::raise(const Line& l, Versions& floor, std::uint8_t sectors, const Versions& data) const {
  each(sectors, [&](unsigned s) {
    if (!l.sector[s].racy) floor[s] = order_.newer_of(floor[s], data[s]);
  });
}

void ConsistencyChecker::on_llc_answer(const Context& c, std::uint32_t slice, const Packet& p) {
  Line& l = lines_[p.line.value];
  Copy& copy = l.llc[place(c.chip, slice)];
  switch (p.kind) {
    case PacketKind::atomic: {
      const Request& r = request_of(c, p);
      each(p.sectors, [&](unsigned s) { copy.data[s] = r.data[s]; });
      copy.dirty |= p.sectors;
      raise(l, copy.floor, p.sectors, r.data);
      put_in_order(l, p.sectors, r.data);
      if (!tracks(c)) return;
      if (owners_keep_) recall(l, c.chip);
      check_awaited(c);
      check_ended(c, p.line, c.chip);
      return;
    }
    case PacketKind::read:
      if (p.has(kFromOwner)) bring_home(l, copy);  // the answer is taken not to overtake what goes home
      if (!p.has(kToSlice)) {
        request_of(c, p).data = copy.data;
      } else if (Fetch& f = fetch_of(c, p, fetcher(c, p)); !std::exchange(f.answered, true)) {
        f.data = copy.data;  // otherwise it passed by, and memory has answered
      }
      return;
    case PacketKind::own:
      return take_notice(c, p);
    default:
      return;
  }
}

void ConsistencyChecker::on_llc_leave(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t dirty) {
  Line& l = lines_[line.value];
  Copy& copy = l.llc[place(c.chip, slice)];
  copy.dirty = 0;
  if (dirty == 0) return;
  copy.leaving.push_back({dirty, false, copy.data});
  // Sectors written in part, the rest of which is under way: what comes finds them in the write buffer.
  for (Fetch& f : l.fetches) {
    if (f.slice == place(c.chip, slice)) each(dirty & f.sectors, [&](unsigned s) { f.newer[s] = copy.data[s]; });
  }
  note(c, l, What::write_back, slice, dirty, copy.data);
}

/// The write-back `p` is where it was sent: those of a slice's line stay in order.
WriteBack ConsistencyChecker::arrive(const Context& c, const Packet& p, Place from) {
  std::deque<WriteBack>& leaving = lines_[p.line.value].llc[from].leaving;
  if (leaving.empty() || leaving.front().sectors != p.sectors)
    fail(fmt::format("cycle {}: a write-back that chip {} did not send, or not in this order", c.now(), p.source), p.line);
  const WriteBack w = leaving.front();
  leaving.pop_front();
  return w;
}

Fetch& ConsistencyChecker::fetch_of(const Context& c, const Packet& p, Place slice) {
  for (Fetch& f : lines_[p.line.value].fetches) {
    if (f.slice == slice && f.entry == p.entry && f.sectors == p.sectors) return f;
  }
  fail(fmt::format("cycle {}: a read or fill for slice {} of chip {} that did not ask for it", c.now(), p.slice, p.source),
       p.line);
}

// ---- Memory ----

/// The controller is taken to keep the order of a line's requests as it accepts them.
void ConsistencyChecker::on_memory(const Context& c, std::uint32_t channel, const Packet& p) {
  Line& l = lines_[p.line.value];
  if (p.kind == PacketKind::writeback) {
    const WriteBack w = arrive(c, p, place(p.source, p.slice));
    each(p.sectors, [&](unsigned s) {
      // An owner's that has been recalled may come after those of the next.
      const bool late = owners_keep_ && order_.older(w.data[s], l.memory[s]);
      if (!late) l.memory[s] = w.data[s];
    });
    if (!passed_by_) publish(l, p.sectors, w.data);
    return note(c, l, What::memory_write, channel, p.sectors, w.data);
  }
  Fetch& f = fetch_of(c, p, place(p.source, p.slice));
  f.answered = true, f.data = l.memory;
  if (owners_keep_ && p.source != c.chip) forward(c, l, f);
  note(c, l, What::memory_read, channel, p.sectors, f.data);
}

/// full_map: another chip's read has gone past the home's tags after a part of it was dropped there, which may still wait in
/// the write buffer.
void ConsistencyChecker::forward(const Context& c, const Line& l, Fetch& f) {
  const auto home = l.llc.find(place(c.chip, f.slice & 0xFFFF));
  if (home == l.llc.end()) return;
  for (const WriteBack& w : home->second.leaving) {
    each(w.sectors & f.sectors, [&](unsigned s) {
      counts_.forwarded += f.data[s] != w.data[s];
      f.data[s] = w.data[s];
    });
  }
}

void ConsistencyChecker::check_final_image() const {
  std::vector<std::uint64_t> order;
  for (const auto& [line, l] : lines_) order.push_back(line);
  std::ranges::sort(order);  // the message is the same for the same run
  for (const std::uint64_t line : order) {
    const Line& l = lines_.at(line);
    Versions image = l.memory;
    std::uint8_t known = 0, held = 0;
    for (unsigned s = 0; s < kSectors; ++s) known |= static_cast<std::uint8_t>(!l.sector[s].racy << s);
    for (const auto& [where, copy] : l.llc) {
      const std::uint32_t chip = chip_of(where);
      const bool elsewhere = chip != l.home || (where & 0xFFFF) >= llc_slices_;
      if (elsewhere && !owners_keep_ && ((copy.dirty & known) != 0 || !copy.leaving.empty()))
        fail(fmt::format("after the run chip {} still holds dirty sectors of a line of chip {}", chip, l.home), {line});
      if ((held & copy.dirty & known) != 0) fail(fmt::format("after the run several slices hold dirty sectors"), {line});
      held |= copy.dirty;
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

}  // namespace atl
