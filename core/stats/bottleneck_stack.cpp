#include "core/stats/bottleneck_stack.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace atl {
namespace {

using Part = StackPart;

constexpr std::array<StackPartInfo, kStackParts> kParts{{
    {Part::issue, "issue", "issues", "a warp issues"},
    {Part::compute, "compute", "computes", "all warps wait for results within their SM: arithmetic, shared memory"},
    {Part::no_warp, "no_warp", "no warps", "a warp scheduler has no warp: too few CTAs, or the last ones run"},
    {Part::l1, "l1", "L1", "the L1's port or latency"},
    {Part::cluster, "cluster", "other L1s", "another L1 of the cluster (cluster.sharing)"},
    {Part::mshr, "mshr", "MSHRs", "too few requests can be under way: MSHRs, merge places, store credits, bypass entries"},
    {Part::page_home, "page_home", "page homes", "the controller settles who a page belongs to"},
    {Part::request, "request", "request crossbar", "ports and wires of the request crossbar"},
    {Part::l2, "l2", "L2 slices", "look-ups of L2 slices (l2.slices)"},
    {Part::slice, "slice", "LLC slices", "look-ups of LLC slices"},
    {Part::response, "response", "response crossbar", "ports and wires of the response crossbar"},
    {Part::link_out, "link_out", "links outwards", "links, on the way out of this chip"},
    {Part::link_in, "link_in", "links inwards", "links, on the way from other chips"},
    {Part::dram, "dram", "DRAM", "memory of any chip"},
    {Part::coherence, "coherence", "coherence", "invalidations, and owners of lines"},
    {Part::flush, "flush", "flush",
     "last requests, the controller's word that all chips have none, write-backs and changes of organisation: no warp runs"},
    {Part::balance, "balance", "other chips", "this chip has ended its part of the kernel, others have not"},
    {Part::launch, "launch", "launch", "from the end of a kernel to the start of the next"},
    {Part::unseen, "unseen", "unseen", "no look fell into the run: it is too short"},
}};

constexpr bool parts_stand_at_their_ids() {
  for (std::size_t i = 0; i < kStackParts; ++i)
    if (static_cast<std::size_t>(kParts[i].id) != i || kParts[i].name.empty()) return false;
  return true;
}
static_assert(parts_stand_at_their_ids());

double at(const Waits& w, Wait wait) { return static_cast<double>(w[static_cast<std::size_t>(wait)]); }

double spent(const WaitCensus& chip, Span of) { return static_cast<double>(chip.span[static_cast<std::size_t>(of)]); }

/// From when the last chip has drained until all are told so: control.latency_cycles, there and back. That chip waits for
/// nobody but the controller.
double told(std::span<const WaitCensus> chips) {
  double least = chips.empty() ? 0 : spent(chips[0], Span::waiting);
  for (const WaitCensus& c : chips) least = std::min(least, spent(c, Span::waiting));
  return least;
}

/// `amount` in proportion to `by`. False: there is nothing to go by.
bool share_out(Stack& to, double amount, const Stack& by) {
  const double whole = by.total();
  if (whole <= 0) return false;
  for (std::size_t p = 0; p < kStackParts; ++p) to.cycles[p] += amount * by.cycles[p] / whole;
  return true;
}

/// Time of a chip's requests by what they waited for. `queued`: the part of it that they stood in queues for want of
/// bandwidth, which more requests under way would only lengthen.
struct Time {
  Stack all, queued;
  double fetch = 0;  ///< not in either: at slices that wait for other chips
  double queued_share() const {
    const double whole = all.total();
    return whole > 0 ? queued.total() / whole : 0;
  }
};

class Resolver {
 public:
  Resolver(const StackMachine& m, std::span<const WaitCensus> chips) : m_(m), chips_(chips) {
    std::vector<Time> fetches;
    for (std::size_t c = 0; c < chips.size(); ++c) fetches.push_back(time(c, PacketUse::fetch));
    fetch_ = std::move(fetches);
    for (std::size_t c = 0; c < chips.size(); ++c) {
      const Time& fetch = fetch_[c];
      Time load = time(c, PacketUse::load), store = time(c, PacketUse::store);
      for (Time* t : {&load, &store}) {
        const double share = fetch.queued_share();
        if (!share_out(t->all, t->fetch, fetch.all)) t->all[Part::link_in] += t->fetch;
        share_out(t->queued, t->fetch * share, fetch.queued);
      }
      load_.push_back(load), store_.push_back(store);
    }
  }

  Stack slots(std::size_t chip) const {
    const Waits& w = chips_[chip].slots;
    Stack out;
    Time blocked;  // load-store units that the network cannot take a packet from
    for (std::size_t i = 0; i < kWaits; ++i) {
      const auto wait = static_cast<Wait>(i);
      const double amount = at(w, wait);
      if (amount == 0) continue;
      switch (wait) {
        case Wait::memory: {
          Stack by = load_[chip].all;
          by[Part::l1] += static_cast<double>(chips_[chip].l1_hits) * m_.l1_latency;
          if (!share_out(out, amount, by)) out[Part::l1] += amount;
          break;
        }
        case Wait::stores:  // those that nobody sees under way are on their way in the SM
          if (!share_out(out, amount, store_[chip].all)) out[Part::l1] += amount;
          break;
        case Wait::l1_mshr:
          limit(out, amount, load_[chip]);
          break;
        case Wait::store_credit:
          limit(out, amount, store_[chip]);
          break;
        default:
          place(blocked, chip, chip, wait, amount);
      }
    }
    return out += blocked.all;
  }

 private:
  /// Where requests queue, the queue is the limit; where they do not, their number is.
  static void limit(Stack& out, double amount, const Time& of) {
    const double queued = amount * of.queued_share();
    share_out(out, queued, of.queued);
    out[Part::mshr] += amount - queued;
  }

  /// Part of the time of a chip's memory reads that is more than the memory's latency (Little's law gives the mean).
  double memory_queued(std::size_t chip) const {
    const auto time = static_cast<double>(chips_[chip].memory_owes);
    const double least = static_cast<double>(chips_[chip].memory_reads) * m_.memory_latency;
    return time > least ? 1 - least / time : 0;
  }

  static void queue(Time& t, Part part, double amount) { t.all[part] += amount, t.queued[part] += amount; }

  /// `amount` of what chip `of` asked for waits in chip `in`.
  void place(Time& t, std::size_t of, std::size_t in, Wait wait, double amount, bool through_credit = false) const {
    const Part link = of == in && !through_credit ? Part::link_out : Part::link_in;
    switch (wait) {
      case Wait::no_warp:
        t.all[Part::no_warp] += amount;
        return;
      case Wait::compute:
        t.all[Part::compute] += amount;
        return;
      case Wait::l1:
        return queue(t, Part::l1, amount);
      case Wait::cluster:
        return queue(t, Part::cluster, amount);
      case Wait::page_home:
        t.all[Part::page_home] += amount;
        return;
      case Wait::request:
        return queue(t, Part::request, amount);
      case Wait::l2:
        return queue(t, Part::l2, amount);
      case Wait::slice:
        return queue(t, Part::slice, amount);
      case Wait::response:
        return queue(t, Part::response, amount);
      case Wait::coherence:
        return queue(t, Part::coherence, amount);
      case Wait::link:
        return queue(t, link, amount);
      case Wait::dram:
        t.all[Part::dram] += amount;
        t.queued[Part::dram] += amount * memory_queued(in);
        return;
      case Wait::llc_mshr:
        return slice_full(t, in, amount);
      case Wait::fetch:
        t.fetch += amount;
        return;
      case Wait::request_credit:
      case Wait::response_credit: {
        if (through_credit) return queue(t, link, amount);
        return blocked(t, of, in, wait == Wait::request_credit ? 0 : 1, link, amount);
      }
      case Wait::memory:
      case Wait::stores:
      case Wait::l1_mshr:
      case Wait::store_credit:
      case Wait::count_:
        return;  // issue slots wait for these, packets never
    }
  }

  /// A slice's MSHRs are held by reads of memory and by fetches from other chips; as for L1s, they are the limit only as far
  /// as neither of these queues.
  void slice_full(Time& t, std::size_t in, double amount) const {
    double memory = 0, fetches = 0;
    for (const auto& of : chips_[in].packets) {
      memory += at(of[static_cast<std::size_t>(PacketUse::load)], Wait::dram);
      fetches += at(of[static_cast<std::size_t>(PacketUse::load)], Wait::fetch);
    }
    const double fetched = fetches > 0 && in < fetch_.size() ? amount * fetches / (memory + fetches) : 0;
    const double queued = (amount - fetched) * memory_queued(in);
    queue(t, Part::dram, queued);
    double fetch_queued = 0;
    if (fetched > 0) {
      fetch_queued = fetched * fetch_[in].queued_share();
      share_out(t.all, fetch_queued, fetch_[in].queued);
      share_out(t.queued, fetch_queued, fetch_[in].queued);
    }
    t.all[Part::mshr] += amount - queued - fetch_queued;
  }

  /// The next chips' buffers are full: it is what the packets in there wait for that is waited for.
  void blocked(Time& t, std::size_t of, std::size_t in, std::size_t responses, Part link, double amount) const {
    double whole = 0;
    for (const std::size_t n : m_.neighbours[in]) {
      const Waits& w = chips_[n].arrived[responses];
      whole += static_cast<double>(std::reduce(w.begin(), w.end()));
    }
    if (whole == 0) return queue(t, link, amount);
    for (const std::size_t n : m_.neighbours[in]) {
      for (std::size_t i = 0; i < kWaits; ++i) {
        const auto wait = static_cast<Wait>(i);
        const double part = at(chips_[n].arrived[responses], wait);
        if (part == 0) continue;
        if (wait == Wait::link) {
          queue(t, link, amount * part / whole);
        } else {
          place(t, of, n, wait, amount * part / whole, true);
        }
      }
    }
  }

  /// What chip `of` asked for, wherever it is: found in queues and MSHRs, the rest on its way.
  Time time(std::size_t of, PacketUse use) const {
    const auto u = static_cast<std::size_t>(use);
    Time t;
    double found = 0;
    for (std::size_t in = 0; in < chips_.size(); ++in) {
      const Waits& w = chips_[in].packets[of][u];
      found += static_cast<double>(std::reduce(w.begin(), w.end()));
      for (std::size_t i = 0; i < kWaits; ++i) place(t, of, in, static_cast<Wait>(i), at(w, static_cast<Wait>(i)));
    }
    const double flight = std::max(0.0, static_cast<double>(chips_[of].outstanding[u]) - found);
    share_out(t.all, flight, use == PacketUse::fetch ? fetch_way(of) : way(of));
    return t;
  }

  /// Unloaded times of an average request of the chip.
  Stack way(std::size_t chip) const {
    const WaitCensus& c = chips_[chip];
    const auto requests = static_cast<double>(c.local + c.remote), loads = static_cast<double>(c.outstanding[0]);
    if (requests == 0 || loads == 0) return m_.local;
    const double leave = static_cast<double>(c.remote) / requests * static_cast<double>(c.outstanding_at_home) / loads;
    Stack out = m_.local;
    for (std::size_t p = 0; p < kStackParts; ++p) out.cycles[p] += leave * m_.remote.cycles[p];
    return out;
  }

  /// ... of an average fetch of its slices: those of an L2 go to the own chip's LLC, too.
  Stack fetch_way(std::size_t chip) const {
    const WaitCensus& c = chips_[chip];
    const auto requests = static_cast<double>(c.local + c.remote);
    if (m_.fetch_near.total() <= 0 || requests == 0) return m_.fetch;
    Stack out;
    for (std::size_t p = 0; p < kStackParts; ++p)
      out.cycles[p] =
          (static_cast<double>(c.local) * m_.fetch_near.cycles[p] + static_cast<double>(c.remote) * m_.fetch.cycles[p]) /
          requests;
    return out;
  }

  const StackMachine& m_;
  std::span<const WaitCensus> chips_;
  std::vector<Time> fetch_, load_, store_;
};

}  // namespace

std::span<const StackPartInfo, kStackParts> stack_parts() { return kParts; }

double Stack::total() const { return std::reduce(cycles.begin(), cycles.end()); }

Stack& Stack::operator+=(const Stack& other) {
  for (std::size_t p = 0; p < kStackParts; ++p) cycles[p] += other.cycles[p];
  return *this;
}

void bound_mshrs(Stack& stack, double running, StackPart busiest, double use) {
  const double beyond = stack[Part::mshr] - running * std::clamp(1 - use, 0.0, 1.0);
  if (beyond <= 0) return;
  stack[Part::mshr] -= beyond;
  stack[busiest] += beyond;
}

void fill_unseen(StackResult& stack) {
  const std::size_t chips = stack.empty() ? 0 : stack[0].size();
  for (std::size_t c = 0; c < chips; ++c) {
    Stack seen;
    for (const auto& kernel : stack) seen += kernel[c];
    for (const Part p : {Part::issue, Part::coherence, Part::flush, Part::balance, Part::launch, Part::unseen}) seen[p] = 0;
    for (auto& kernel : stack) {
      const double unseen = std::exchange(kernel[c][Part::unseen], 0);
      if (!share_out(kernel[c], unseen, seen)) kernel[c][Part::unseen] = unseen;
    }
  }
}

std::vector<Stack> bottleneck_stack(const StackMachine& machine, const KernelSpan& span, std::span<const WaitCensus> chips) {
  const Resolver resolver(machine, chips);
  const double by_controller = told(chips);
  std::vector<Stack> out;
  for (std::size_t c = 0; c < chips.size(); ++c) {
    Stack s;
    auto left = static_cast<double>(span.finished - std::min(span.launched, span.finished));
    // In order, and never beyond the kernel's end: a run that is stopped reports a little late.
    const auto take = [&](double cycles) { return cycles = std::clamp(cycles, 0.0, left), left -= cycles, cycles; };
    s[Part::launch] = take(static_cast<double>(span.started) - static_cast<double>(span.launched));
    const double running = take(spent(chips[c], Span::running));
    s[Part::flush] = take(spent(chips[c], Span::changing) + spent(chips[c], Span::draining) + by_controller +
                          spent(chips[c], Span::flushing));
    s[Part::coherence] = take(spent(chips[c], Span::invalidating));
    s[Part::balance] = left;  // the rest of waiting, and idle until the last chip is done
    s[Part::issue] = std::min(running, static_cast<double>(chips[c].issued) / machine.issue_slots);
    if (const double rest = running - s[Part::issue]; rest > 0 && !share_out(s, rest, resolver.slots(c)))
      s[Part::unseen] += rest;
    out.push_back(s);
  }
  return out;
}

std::size_t chips_with_stacks(const StackResult& stacks) {
  std::vector<bool> found;
  for (const auto& chips : stacks) {
    found.resize(chips.size());
    for (std::size_t c = 0; c < chips.size(); ++c) found[c] = found[c] || chips[c].total() > 0;
  }
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ranges::count(found, true)));
}

}  // namespace atl
