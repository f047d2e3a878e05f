#include "core/chip/chip_halves.hpp"

#include <algorithm>

#include "core/chip/chip.hpp"

// A chip run by two threads: one has the cores (SMs with their L1s, and the ports by which they ask), the other the uncore
// (slices, memory, and the ports by which these answer).
//
// From a core to the uncore a request takes at least the latencies of L1, crossbar and slice; that is the lookahead. Back
// nothing may take time: a slice's credit is there at once. So the uncore goes ahead, up to the lookahead, and the cores
// follow: in every cycle they know all that the uncore did in it, and do what they have to do in between. The order is that
// of one thread to the last event, by stamps (base/half.hpp), and so is the digest, which the cores' thread keeps.
//
// What concerns both halves at once (control messages, samples, epochs, looks, the end of a kernel) is done while they are
// together: one thread takes events of both in turn.
namespace atl {
namespace {

constexpr Cycle kShortest = 32;               ///< fewer cycles are not worth the meeting of two threads
constexpr Cycle kStep = 16;                   ///< the uncore waits until it may go on for so long
constexpr Cycle kLookAgain = 256;             ///< where a kernel was nearly over: to look at all warps takes as long
constexpr std::size_t kMostCrossings = 1024;  ///< at most, of one event

struct OtherFailed {};

/// A call, with the event in memory: inlined, gcc keeps some fields as bytes on the stack and loads them as words, for which
/// the host waits until all that was stored before is in its cache, what goes to the other thread included.
[[gnu::noinline]] std::uint64_t hash_in_memory(Cycle at, const Event& e) { return hash_of(at, e); }

}  // namespace

bool of_uncore(const Event& e) {
  switch (e.kind) {
    case EventKind::response_port:
    case EventKind::response_arrive:
    case EventKind::slice_arrive:
    case EventKind::slice:
    case EventKind::slice_out:
    case EventKind::slice_write:
    case EventKind::slice_flush:
    case EventKind::slice_acks:
    case EventKind::dram_pick:
    case EventKind::dram_done:
      return true;
    case EventKind::resume: {
      const auto who = static_cast<WaiterKind>(e.packet.token);
      return who == WaiterKind::slice_queue || who == WaiterKind::slice_out || who == WaiterKind::slice_write;
    }
    default:
      return false;
  }
}

ChipHalves::ChipHalves(Cycle l, bool always_two, Workload& workload)
    : always(always_two),
      lookahead(l),
      cores(EventKind::slice_arrive),
      uncore(EventKind::l1_fill),
      handled(std::size_t{1} << 12),
      ahead(workload) {
  uncore_stamper.number = 1;
  cores.other = &uncore, cores.into = &arrivals;
  uncore.other = &cores, uncore.into = &cores.queue;
  between(0);
}

void ChipHalves::between(Cycle boundary) {
  core_stamper.parent = boundary == 0 ? 0 : (boundary - 1) << Stamp::kPlaceBits | Stamp::kLastPlace;
  cores.by = uncore.by = &core_stamper;
}

void ChipHalves::together_at(Cycle at) {
  together.push_back(at);
  std::push_heap(together.begin(), together.end(), std::greater<>{});
}

void ChipHalves::set_apart(bool apart) {
  cores.apart = uncore.apart = apart;
  cores.by = &core_stamper, uncore.by = apart ? &uncore_stamper : &core_stamper;
}

bool Chip::can_halve(const Machine& machine) { return machine.config.chips == 1 && machine.port_to_slice >= 2 * kStep; }

// ---- Together ----

void Chip::run_halves(Cycle end) {
  ChipHalves& h = *halves_;
  for (;;) {
    h.reached = std::max(h.reached, next_event());
    if (h.reached >= end) break;
    if (!h.always && !h.faster.second(events())) {
      run_whole(std::min(end, h.reached + kLookAgain));
      continue;
    }
    if (!parted()) part_halves();
    const Cycle apart = apart_until(h.reached, end);
    if (apart >= h.reached + kShortest) {
      run_apart(apart);
    } else {
      run_together(std::min(end, h.reached + kShortest));
    }
  }
  h.reached = end;
  if (parted()) h.between(end);
}

void Chip::run_whole(Cycle end) {
  if (parted()) join_halves();
  c_.queue.run_until(
      end,
      [this](Cycle at, const Event& e) {
        uncore_->queue.set_now(at);
        on_event(at, e);
      },
      [this](const Event& next) { prefetch(next); });
  halves_->reached = end;
}

void Chip::run_together(Cycle end) {
  ChipHalves& h = *halves_;
  const auto hint = [this](const StampedEvent& next) { prefetch(next.event); };
  for (Cycle at = h.next(); at < end; at = h.next()) {
    c_.queue.set_now(at), uncore_->queue.set_now(at);
    h.cores.queue.begin_cycle(at), h.uncore.queue.begin_cycle(at), h.arrivals.begin_cycle(at);
    for (std::uint64_t place = 0;;) {
      const StampedEvent *core = h.cores.queue.first(), *own = h.uncore.queue.first(), *sent = h.arrivals.first();
      const bool arrival = sent != nullptr && (own == nullptr || before(sent->stamp, own->stamp));
      const StampedEvent* other = arrival ? sent : own;
      if (core == nullptr && other == nullptr) break;
      const bool uncore = other != nullptr && (core == nullptr || before(other->stamp, core->stamp));
      Stamper& by = uncore ? h.uncore_stamper : h.core_stamper;
      by.handling(at, place);
      place += uncore;
      h.cores.by = h.uncore.by = &by;
      on_event(at, (!uncore ? h.cores.queue : arrival ? h.arrivals : h.uncore.queue).take(hint).event);
    }
    h.cores.queue.end_cycle(), h.uncore.queue.end_cycle(), h.arrivals.end_cycle();
    while (!h.together.empty() && h.together.front() <= at) {
      std::pop_heap(h.together.begin(), h.together.end(), std::greater<>{});
      h.together.pop_back();
    }
  }
  h.reached = end;
}

/// Up to where nothing concerns both halves, unless the kernel ends: at most to `end`.
Cycle Chip::apart_until(Cycle from, Cycle end) {
  if (phase_ != Phase::running || change_ != Change::none || c_.paused || c_.profiler.watches(c_.role)) return from;
  if (!halves_->together.empty()) end = std::min(end, halves_->together.front());
  if (end < from + kShortest || from < apart_from_) return from;
  if (kernel_lasts(from, kShortest)) return end;
  apart_from_ = from + kLookAgain;
  return from;
}

/// A kernel cannot end before its CTAs are placed, one in a cycle, nor before each warp has issued its ops.
bool Chip::kernel_lasts(Cycle now, Cycle cycles) {
  if (kernel_lasts_until_ >= now + cycles) return true;
  constexpr Cycle kEnough = 1024;
  Cycle most = to_run_ - dispatched_;
  if (most != 0) --most;
  if (most < cycles) most = std::max(most, sms_[last_sm_].least_time_left(last_warp_, kEnough));
  for (std::uint32_t sm = 0; sm < sms_.size() && most < 2 * cycles; ++sm) {
    if (sms_[sm].empty()) continue;
    for (std::uint32_t warp = 0; warp < sms_[sm].warps(); ++warp) {
      const Cycle left = sms_[sm].least_time_left(warp, kEnough);
      if (left > most) most = left, last_sm_ = sm, last_warp_ = warp;
    }
  }
  kernel_lasts_until_ = now + most;
  return most >= cycles;
}

// ---- Apart ----

void Chip::run_apart(Cycle end) {
  ChipHalves& h = *halves_;
  h.set_apart(true);
  h.uncore_at = h.reached;
  h.granted = h.reached;
  h.end = end;
  h.failed = false, h.uncore_over = false;
  h.thread.start([this, &h] {
    try {
      run_uncore();
      h.uncore_over.store(true, std::memory_order_release);
    } catch (const OtherFailed&) {  // the cores' thread has its own error
    } catch (...) {
      h.error = std::current_exception();
      h.failed = true;
    }
  });
  std::exception_ptr error;
  try {
    run_cores(end);
  } catch (const OtherFailed&) {
  } catch (...) {
    error = std::current_exception();
    h.failed = true;
  }
  h.thread.wait();
  if (error) std::rethrow_exception(error);
  if (h.error) std::rethrow_exception(std::exchange(h.error, nullptr));
  h.set_apart(false);
  take_arrivals();
  h.cycles_apart += h.end - h.reached;
  h.reached = h.end;
  if (phase_ != Phase::running) throw SimulationError("a kernel has ended while the halves of its chip were apart");
}

/// What the cores sent arrives later than in the cycle that the uncore is at.
void Chip::take_arrivals() {
  ChipHalves& h = *halves_;
  for (const Crossing* c = h.cores.out.first(); c != nullptr; c = h.cores.out.first()) {
    h.arrivals.emplace(c->at, c->event, c->stamp);
    h.cores.out.take();
  }
  h.cores.out.give_back();
}

/// The uncore's thread, until the cores have taken enough of what it sent. They take nothing of a cycle that is not over:
/// if that is all there is, it needs more room.
void Chip::wait_for_cores() {
  ChipHalves& h = *halves_;
  const auto room = [&h] { return h.uncore.out.room(kMostCrossings) && h.handled.room(1); };
  for (ShortWait w; !room(); w.pause()) {
    if (h.failed) throw OtherFailed{};
    if (h.handled.all_given_back() && h.uncore.out.all_given_back() && !room()) {
      if (!h.uncore.out.room(kMostCrossings)) h.uncore.out.grow();
      if (!h.handled.room(1)) h.handled.grow();
    }
    take_arrivals();  // the cores may wait for room, too
  }
}

/// The cores' thread, likewise. If the uncore's has done all it may, nobody else takes what is sent to it.
void Chip::wait_for_uncore() {
  ChipHalves& h = *halves_;
  h.cores.out.publish();
  for (ShortWait w; !h.cores.out.room(kMostCrossings); w.pause()) {
    if (h.failed) throw OtherFailed{};
    if (h.uncore_over.load(std::memory_order_acquire)) take_arrivals();
  }
}

void Chip::run_cores(Cycle end) {
  ChipHalves& h = *halves_;
  HalfQueue& queue = h.cores.queue;
  const auto hint = [this](const StampedEvent& next) { prefetch(next.event); };
  Cycle granted = h.reached;         // to the uncore: what is sent to it from now on arrives then or later
  for (Cycle known = h.reached;;) {  // all that the uncore did before is known
    const ChipHalves::Handled* u = h.handled.first();
    const Cycle at = std::min(queue.next(), u != nullptr ? u->at() : kNever);
    h.cores.out.publish();
    const Cycle reached = std::min(at, known);
    if (granted < end && granted < reached + h.lookahead) {
      if (!kernel_lasts(reached, kShortest)) {  // no further than the uncore may have gone
        apart_from_ = granted + kLookAgain;
        h.end.store(end = granted, std::memory_order_release);
      }
      granted = std::max(granted, std::min({reached + h.lookahead, kernel_lasts_until_, end}));
      h.granted.store(granted, std::memory_order_release);
    }
    if (at >= known) {
      if (known >= end) return;
      const Cycle before = known;
      for (ShortWait w; known == before; known = h.uncore_at.load(std::memory_order_acquire)) {
        if (h.failed) throw OtherFailed{};
        h.ahead.work();
        w.pause();
      }
      continue;
    }
    c_.queue.set_now(at);
    queue.begin_cycle(at);
    for (std::uint64_t place = 0;;) {
      const StampedEvent* own = queue.first();
      u = h.handled.first();
      if (u != nullptr && u->at() != at) u = nullptr;
      if (own == nullptr && u == nullptr) break;
      if (u != nullptr && (own == nullptr || before(u->stamp, own->stamp))) {
        digest_.add(u->hash);
        for (std::uint64_t n = u->crossings(); n > 0; --n) {
          const Crossing& c = *h.uncore.out.first();
          if (c.at != kNever) {
            queue.emplace(c.at, c.event, c.stamp);
          } else if (const auto w = c.gate()->release()) {
            h.cores.resume(*w, c.stamp);
          }
          h.uncore.out.take();
        }
        ++place;
        h.handled.take();
      } else {
        if (!h.cores.out.room(kMostCrossings)) [[unlikely]]
          wait_for_uncore();
        const Event e = queue.take(hint).event;
        h.core_stamper.handling(at, place);
        digest_.add(hash_in_memory(at, e));
        handle(e);
      }
    }
    queue.end_cycle();
    h.handled.give_back(), h.uncore.out.give_back();
  }
}

void Chip::run_uncore() {
  ChipHalves& h = *halves_;
  HalfQueue& queue = h.uncore.queue;
  const auto hint = [this](const StampedEvent& next) { prefetch(next.event); };
  for (Cycle granted = h.granted.load(std::memory_order_acquire);;) {
    take_arrivals();
    for (;;) {
      const Cycle at = std::min(queue.next(), h.arrivals.next());
      h.uncore.out.publish(), h.handled.publish();
      h.uncore_at.store(std::min(at, granted), std::memory_order_release);
      if (at >= granted) break;
      uncore_->queue.set_now(at);
      queue.begin_cycle(at), h.arrivals.begin_cycle(at);
      for (std::uint64_t place = 0;;) {
        const StampedEvent *own = queue.first(), *sent = h.arrivals.first();
        if (own == nullptr && sent == nullptr) break;
        if (!h.uncore.out.room(kMostCrossings) || !h.handled.room(1)) [[unlikely]]
          wait_for_cores();
        const bool arrival = sent != nullptr && (own == nullptr || before(sent->stamp, own->stamp));
        const Stamp stamp = (arrival ? sent : own)->stamp;
        const Event e = (arrival ? h.arrivals : queue).take(hint).event;
        h.uncore_stamper.handling(at, place++);
        h.uncore.crossed = 0;
        const std::uint64_t hash = hash_in_memory(at, e);
        handle(e);
        h.handled.push({stamp, hash, at << ChipHalves::Handled::kCrossingBits | h.uncore.crossed});
      }
      queue.end_cycle(), h.arrivals.end_cycle();
    }
    const Cycle before = granted;
    for (ShortWait w; granted < std::min(before + kStep, h.end.load(std::memory_order_acquire)); w.pause()) {
      if (h.failed) throw OtherFailed{};
      take_arrivals();  // the cores may wait for room
      h.ahead.work();
      granted = h.granted.load(std::memory_order_acquire);
    }
    if (granted == before) return;
  }
}

// ---- One chip again ----

void Chip::add_up_counters() {
  for (Sm& s : sms_) s.catch_up();
  if (!uncore_) return;
  c_.count += uncore_->count;
  uncore_->count = {};
}

void Chip::tell_uncore() {
  if (!uncore_) return;
  uncore_->role = c_.role, uncore_->local_ways = c_.local_ways, uncore_->replication = c_.replication;
}

/// The uncore has these, and a checkpoint looks for them in c_.
void Chip::swap_profiles() {
  if (!uncore_) return;
  std::swap(c_.degrees, uncore_->degrees);
  std::swap(c_.profiler, uncore_->profiler);
  std::swap(c_.profiler.counts.local, uncore_->profiler.counts.local);
  std::swap(c_.profiler.counts.remote, uncore_->profiler.counts.remote);
  // Both halves count, and of a checkpoint one has been read.
  const bool on = c_.profiler.on() || uncore_->profiler.on();
  c_.profiler.set_on(on), uncore_->profiler.set_on(on);
}

/// All events are in c_.queue, in their order: so one thread works alone, and so a checkpoint has them.
void Chip::join_halves() {
  ChipHalves& h = *halves_;
  std::vector<std::pair<Cycle, StampedEvent>> all;
  const auto add = [&](Cycle at, const StampedEvent& e) { all.emplace_back(at, e); };
  h.cores.queue.drain(add), h.uncore.queue.drain(add), h.arrivals.drain(add);
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : before(a.second.stamp, b.second.stamp);
  });
  for (const auto& [at, e] : all) c_.queue.push(at, e.event);
  c_.queue.set_handled(h.handled_events());
  c_.half = nullptr, uncore_->half = &h.uncore;
  h.uncore.whole = &c_.queue;
}

void Chip::part_halves() {
  ChipHalves& h = *halves_;
  h.clear(), h.uncore.whole = nullptr;
  h.core_stamper.handled = c_.queue.handled(), h.uncore_stamper.handled = 0;
  uncore_->queue.set_now(c_.queue.now());
  for (HalfQueue* q : {&h.cores.queue, &h.uncore.queue, &h.arrivals}) q->set_now(c_.queue.now());
  h.between(0);  // after all that is there
  c_.queue.drain([&](Cycle at, const Event& e) {
    (of_uncore(e) ? h.uncore.queue : h.cores.queue).emplace(at, e, Stamp{h.core_stamper.number += 2, 0});
    if (e.kind == EventKind::control || e.kind == EventKind::sample || e.kind == EventKind::epoch) h.together_at(at);
  });
  if (ctas_) h.ahead.begin(kernel_, *ctas_, dispatched_);
  c_.half = &h.cores, uncore_->half = &h.uncore;
}

}  // namespace atl
