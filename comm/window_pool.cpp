#include "comm/window_pool.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "comm/launcher.hpp"

namespace atl {

WindowPool::WindowPool(const std::vector<std::vector<Edge>>& edges, Cycle window, int threads, LpId fixed)
    : window_(window),
      fixed_(fixed),
      enough_processors_(threads <= processors_of_process()),
      lanes_(edges.size()),
      states_(edges.size()),
      busy_(static_cast<std::size_t>(threads)),
      sleepers_(static_cast<std::size_t>(threads)) {
  for (LpId from = 0; from < edges.size(); ++from) {
    for (const Edge& e : edges[from]) {
      lanes_[from].receivers.push_back(e.to);
      lanes_[e.to].sources.push_back({from, e.latency / window});
    }
  }
}

/// Everything that arrives before window `index` is over has been sent.
bool WindowPool::may_run(const Lane& lane, Cycle index) const {
  return std::ranges::all_of(lane.sources, [&](const Source& s) { return states_[s.from].next + s.windows > index; });
}

bool WindowPool::all_at(Cycle stop) const {
  return std::ranges::all_of(states_, [&](const State& s) { return s.next >= stop; });
}

/// After a change that others may be waiting for. They say that they wait before they look once more: either this thread
/// sees that, or they see the change. (All of these are sequentially consistent.)
void WindowPool::tell_polling() {
  if (polling_ != 0) ++changes_;
}

/// Those who sleep are woken for what they ran last, and when all is done.
void WindowPool::wake_for(LpId lp, Cycle stop) {
  if (sleeping_ == 0) return;
  const auto wake_owner = [&](LpId of) {
    Sleeper& sleeper = sleepers_[static_cast<std::size_t>(states_[of].last)];
    const Cycle index = states_[of].next;
    if (sleeper.asleep && index < stop && may_run(lanes_[of], index)) wake(sleeper);
  };
  wake_owner(lp);
  for (const LpId receiver : lanes_[lp].receivers) wake_owner(receiver);
  if (all_at(stop)) std::ranges::for_each(sleepers_, [&](Sleeper& sleeper) { wake(sleeper); });
}

/// Somebody who sleeps is woken for each process that `thread` might run and does not, being busy; but not where threads
/// outnumber processors: there each that wakes costs another one its turn.
void WindowPool::wake_others(int thread, Cycle stop) {
  if (!enough_processors_ || sleeping_ == 0) return;
  for (LpId lp = 0; lp < states_.size(); ++lp) {
    const State& s = states_[lp];
    const Cycle index = s.next;
    if (s.last != thread || lp == fixed_ || s.taken || index >= stop || !may_run(lanes_[lp], index)) continue;
    const auto asleep = std::ranges::find_if(sleepers_, [](const Sleeper& sleeper) { return sleeper.asleep.load(); });
    if (asleep == sleepers_.end()) return;
    wake(*asleep);
  }
}

/// Whoever saw the process taken may have gone to sleep since.
void WindowPool::release(LpId lp, Cycle stop) {
  states_[lp].taken = false;
  tell_polling();
  wake_for(lp, stop);
}

void WindowPool::wake(Sleeper& sleeper) {
  if (!sleeper.asleep.exchange(false)) return;
  ++sleeper.calls;
  sleeper.calls.notify_one();
}

void WindowPool::fail() {
  failed_ = true;
  tell_polling();
  std::ranges::for_each(sleepers_, [&](Sleeper& sleeper) { wake(sleeper); });
}

/// What was sent to the process goes into its box.
void WindowPool::deliver(Lane& lane) {
  {
    const std::lock_guard lock(lane.mutex);
    std::swap(lane.post, lane.reading);
  }
  std::size_t data = 0, control = 0;
  for (const Parcel& p : lane.reading.parcels) {
    for (std::uint32_t i = 0; i < p.data; ++i) lane.box->put(p.source, lane.reading.data[data++], p.boundary);
    for (std::uint32_t i = 0; i < p.control; ++i)
      lane.box->put(p.source, std::move(lane.reading.control[control++]), p.boundary);
  }
  lane.reading.clear();
}

WindowPool::Thread::Thread(std::shared_ptr<WindowPool> pool, int number, Adopt adopt)
    : pool_(std::move(pool)), number_(number), adopt_(std::move(adopt)), to_(pool_->lanes_.size()) {}

/// Nobody waits for it any more, nor runs what was its own.
WindowPool::Thread::~Thread() {
  pool_->fail();
  for (const LpId lp : own_)
    while (pool_->states_[lp].taken.exchange(true)) pause_processor();
}

void WindowPool::Thread::add(LogicalProcess& process, Mailbox& box) {
  Lane& lane = pool_->lanes_[process.id()];
  lane.process = &process, lane.box = &box, lane.adopted = number_;
  pool_->states_[process.id()].last = static_cast<std::int16_t>(number_);
  own_.push_back(process.id());
}

void WindowPool::Thread::adopt(Lane& lane) {
  if (lane.adopted == number_) return;
  adopt_(*lane.process);
  lane.adopted = number_;
}

/// The process that this thread is to run next, which is then taken; -1 if there is none just now.
int WindowPool::Thread::choose(Cycle stop) {
  for (;;) {
    // Its own first, the furthest behind of these, and of those the one that it ran last, whose state the host's caches
    // hold; of others' the one that they would come to last.
    using Rank = std::tuple<bool, Cycle, std::uint32_t>;
    Rank best;
    int found = -1;
    for (LpId lp = 0; lp < pool_->states_.size(); ++lp) {
      const State& s = pool_->states_[lp];
      const Cycle index = s.next;
      if (index >= stop || s.taken) continue;
      const int last = s.last;
      const bool others = last != number_;
      if (others && (lp == pool_->fixed_ || !pool_->busy_[static_cast<std::size_t>(last)])) continue;
      const Rank rank{others, index, others ? s.turn.load() : ~s.turn.load()};
      if ((found < 0 || rank < best) && pool_->may_run(pool_->lanes_[lp], index)) best = rank, found = static_cast<int>(lp);
    }
    if (found < 0) return -1;
    State& s = pool_->states_[static_cast<std::size_t>(found)];
    if (s.taken.exchange(true)) continue;
    // It may have been run since; but nobody changes it any more.
    if (s.next == std::get<Cycle>(best)) return found;
    pool_->release(static_cast<LpId>(found), stop);
  }
}

/// Whether there is no more to wait for: a process to run, or (-1) the windows are over, or a thread has failed.
bool WindowPool::Thread::look(Cycle stop, int& found) {
  return pool_->failed_ || pool_->all_at(stop) || (found = choose(stop)) >= 0;
}

int WindowPool::Thread::wait_for_work(Cycle stop) {
  const auto start = std::chrono::steady_clock::now();
  int found = -1;
  ++pool_->polling_;
  std::uint32_t seen = pool_->changes_ - 1;
  const bool in_time = patience_.poll([&] {
    const std::uint32_t now = pool_->changes_;
    return std::exchange(seen, now) != now && look(stop, found);
  });
  --pool_->polling_;
  if (!in_time) {
    ++pool_->sleeping_;
    Sleeper& sleeper = pool_->sleepers_[static_cast<std::size_t>(number_)];
    for (;;) {
      const std::uint32_t calls = sleeper.calls;
      sleeper.asleep = true;
      if (look(stop, found)) break;
      sleeper.calls.wait(calls);
    }
    sleeper.asleep = false;
    --pool_->sleeping_;
  }
  waited_ += std::chrono::steady_clock::now() - start;
  return found;
}

/// Hands over what a process has sent, in one piece to each receiver.
void WindowPool::Thread::send(LpId from, Outbox& sent, Cycle boundary) {
  const auto to = [&](LpId receiver) -> Mail& {
    if (to_[receiver].empty()) receivers_.push_back(receiver);
    return to_[receiver];
  };
  for (const auto& [receiver, message] : sent.data) to(receiver).data.push_back(message);
  for (auto& [receiver, message] : sent.control) to(receiver).control.push_back(std::move(message));
  sent.data.clear(), sent.control.clear();
  spare_.swap(sent.data);
  for (const LpId receiver : receivers_) {
    Mail& mail = to_[receiver];
    Lane& lane = pool_->lanes_[receiver];
    const std::lock_guard lock(lane.mutex);
    lane.post.parcels.push_back(
        {from, boundary, static_cast<std::uint32_t>(mail.data.size()), static_cast<std::uint32_t>(mail.control.size())});
    lane.post.data.insert(lane.post.data.end(), mail.data.begin(), mail.data.end());
    std::ranges::move(mail.control, std::back_inserter(lane.post.control));
    mail.clear();
  }
  receivers_.clear();
}

/// While a thread runs a process, which it has taken, others may take what it might have run instead.
struct WindowPool::Running {
  Running(WindowPool& p, int thread, LpId process, Cycle end)
      : pool(p), busy(p.busy_[static_cast<std::size_t>(thread)]), lp(process), stop(end) {
    busy = true;
    pool.tell_polling();
    pool.wake_others(thread, stop);
  }
  ~Running() {
    busy = false;
    pool.release(lp, stop);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
  WindowPool& pool;
  std::atomic<bool>& busy;
  LpId lp;
  Cycle stop;
};

void WindowPool::Thread::run_window(LpId lp) {
  Lane& lane = pool_->lanes_[lp];
  State& s = pool_->states_[lp];
  const Cycle index = s.next, end = (index + 1) * pool_->window_;
  if (s.last != number_) ++taken_over_;
  adopt(lane);
  s.last = static_cast<std::int16_t>(number_);
  s.turn = ++turns_;
  if (lane.process->outbox().data.empty()) lane.process->outbox().data.swap(spare_);
  deliver(lane);
  lane.box->take(
      index, [&](std::span<const Message> messages) { lane.process->receive(messages); },
      [&](const ControlMessage& message) { lane.process->receive(message); });
  lane.process->run_until(end);
  send(lp, lane.process->outbox(), end);
  s.next = index + 1;
}

bool WindowPool::Thread::run(Cycle first, Cycle stop, std::exception_ptr& error) {
  // Others' last windows were before `first`, too; until this thread is busy they leave its processes alone.
  for (LpId lp = 0; lp < pool_->states_.size(); ++lp) {
    if (pool_->states_[lp].last != number_) continue;
    pool_->states_[lp].next = first;
    pool_->wake_for(lp, stop);
  }
  pool_->tell_polling();
  try {
    for (int lp; !pool_->failed_;) {
      if ((lp = choose(stop)) < 0 && (lp = wait_for_work(stop)) < 0) break;
      const Running running(*pool_, number_, static_cast<LpId>(lp), stop);
      run_window(static_cast<LpId>(lp));
    }
    if (pool_->failed_) return false;
    for (const LpId lp : own_) deliver(pool_->lanes_[lp]), adopt(pool_->lanes_[lp]);
    return true;
  } catch (...) {
    error = std::current_exception();
    pool_->fail();
    return false;
  }
}

}  // namespace atl
