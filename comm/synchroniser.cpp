#include "comm/synchroniser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "comm/collective_errors.hpp"
#include "comm/hand_over.hpp"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;  // read twice per batch: 50 ns of a window's tens of microseconds

}  // namespace

Synchroniser::Synchroniser(Transport& transport, const std::vector<LogicalProcess*>& local, const std::vector<int>& rank_of,
                           const std::vector<std::vector<Edge>>& edges, const Sharing* sharing)
    : transport_(transport), plan_(plan_batches(rank_of, edges)), local_index_(rank_of.size(), -1), away_(rank_of.size()) {
  window_ = kNever;
  for (std::size_t from = 0; from < edges.size(); ++from) {
    for (const Edge& e : edges[from]) {
      if (e.latency == 0) {
        throw InputError("link",
                         fmt::format("the edge from process {} to {} has no latency: there is no lookahead", from, e.to));
      }
      window_ = std::min(window_, e.latency);
    }
  }
  if (window_ == kNever) window_ = 1024;  // nobody talks to anybody
  for (LogicalProcess* p : local) {
    local_index_[p->id()] = static_cast<int>(local_.size());
    std::vector<LpId> sources;
    for (std::size_t from = 0; from < edges.size(); ++from) {
      for (const Edge& e : edges[from]) {
        if (e.to == p->id()) sources.push_back(static_cast<LpId>(from));
      }
    }
    if (sharing != nullptr || spare_.empty()) spare_.emplace_back();
    local_.push_back({p, {std::move(sources), window_, spare_.back()}});
  }
  if (sharing == nullptr) {
    make_groups(rank_of);
    return;
  }
  auto pool =
      share(transport, [&] { return std::make_shared<WindowPool>(edges, window_, transport.size(), sharing->fixed); });
  shared_ = std::make_unique<WindowPool::Thread>(std::move(pool), transport.rank(), sharing->adopt);
  for (Local& l : local_) shared_->add(*l.process, l.box);
  transport.all_gather({});  // nobody begins before all are there
}

/// Groups take their turn in the order of their first pairs, on every rank: mostly, what one sends early the other needs
/// early. Where it does not, nobody waits for ever: a group waits for batches of the window before, and to send until the
/// batch before the last one was taken, which it was before the other group sent the batch that this one has received.
void Synchroniser::make_groups(const std::vector<int>& rank_of) {
  const auto in = [&](const BatchPlan::Pair& pair, LpId group) { return pair.a == group || pair.b == group; };
  std::vector<std::pair<std::size_t, LpId>> turns;  // first pair, group
  for (const Local& l : local_) {
    const LpId group = plan_.group[l.process->id()];
    if (group != l.process->id()) continue;
    std::size_t first = 0;
    while (first < plan_.pairs.size() && !in(plan_.pairs[first], group)) ++first;
    turns.emplace_back(first, group);
  }
  std::sort(turns.begin(), turns.end());
  for (const auto& turn : turns) {
    const LpId group = turn.second;
    Group& g = groups_.emplace_back();
    for (Local& l : local_) {
      if (plan_.group[l.process->id()] == group) g.members.push_back(&l);
    }
    for (std::size_t i = 0; i < plan_.pairs.size(); ++i) {
      const BatchPlan::Pair& pair = plan_.pairs[i];
      if (!in(pair, group)) continue;
      const LpId there = pair.a == group ? pair.b : pair.a;
      g.pairs.push_back({there, pair.latency / window_, transport_.open(rank_of[there], static_cast<int>(i))});
    }
  }
}

Mailbox& Synchroniser::box(LpId to) { return local_[static_cast<std::size_t>(local_index_[to])].box; }

void Synchroniser::deliver(Local& l, Cycle index) {
  l.box.take(
      index, [&](std::span<const Message> messages) { l.process->receive(messages); },
      [&](const ControlMessage& message) { l.process->receive(message); });
}

/// Moves what a process sent to the mailboxes of local ones, and into the batches of the groups where other receivers live.
void Synchroniser::collect(Group& g, Local& l, Cycle boundary) {
  const LpId from = l.process->id();
  Outbox& sent = l.process->outbox();
  const auto away = [&](LpId to) -> Mail& {
    Mail& mail = away_[to];
    if (mail.empty()) away_to_.push_back(to);
    return mail;
  };
  for (const auto& [to, message] : sent.data)
    local_index_[to] >= 0 ? box(to).put(from, message, boundary) : away(to).data.push_back(message);
  for (auto& [to, message] : sent.control) {
    local_index_[to] >= 0 ? box(to).put(from, std::move(message), boundary) : away(to).control.push_back(std::move(message));
  }
  sent.data.clear(), sent.control.clear();
  sent_.swap(sent.data);
  for (const LpId to : away_to_) {
    Pair& pair = *std::find_if(g.pairs.begin(), g.pairs.end(), [&](const Pair& p) { return p.there == plan_.group[to]; });
    encode(away_[to], from, to, pair.send);
    away_[to].clear();
  }
  away_to_.clear();
}

void Synchroniser::send_batches(Group& g, Cycle boundary, bool all) {
  if (g.pairs.empty()) return;
  const auto start = Clock::now();
  for (Pair& p : g.pairs) {
    if (!all && (boundary / window_) % p.period != 0) continue;
    p.stream->send(p.send);
    p.send.clear();
    p.under_way = true;
  }
  waited_ += Clock::now() - start;
}

/// What other ranks sent to the group before `boundary`.
void Synchroniser::receive_batches(Group& g, Cycle boundary, std::exception_ptr& error) {
  for (Pair& p : g.pairs) {
    if (!p.under_way) continue;
    const auto start = Clock::now();
    p.stream->receive(batch_);
    waited_ += Clock::now() - start;
    p.under_way = false;
    try {
      std::size_t offset = 0;
      LpId from = 0, to = 0;
      while (decode(batch_, offset, from, to, scratch_)) box(to).put(from, scratch_, boundary);
    } catch (...) {
      if (!error) error = std::current_exception();
    }
  }
}

Cycle Synchroniser::least_of_all(Cycle mine) {
  if (transport_.size() == 1) return mine;
  const auto start = Clock::now();
  const Cycle all = transport_.all_min(mine);
  waited_ += Clock::now() - start;
  return all;
}

Cycle Synchroniser::earliest() const {
  Cycle first = kNever;
  for (const Local& l : local_) {
    first = std::min({first, l.process->next_event(), l.box.earliest()});
  }
  return first;
}

bool Synchroniser::busy_soon(Cycle end) const {
  return std::any_of(local_.begin(), local_.end(), [&](const Local& l) { return l.process->next_event() < end; });
}

/// A rank that fails goes on swapping empty batches until all ranks meet, so that nobody waits for it in vain.
void Synchroniser::run_window(Cycle index, Cycle end, bool all, std::exception_ptr& error) {
  for (Group& g : groups_) {
    receive_batches(g, index * window_, error);
    if (!error) {
      try {
        for (std::size_t i = 0; i < g.members.size(); ++i) {
          // To and fro: what ran last in one window runs first in the next, while the host's caches hold its state.
          Local& l = *g.members[index % 2 == 0 ? i : g.members.size() - 1 - i];
          if (l.process->outbox().data.empty()) l.process->outbox().data.swap(sent_);
          deliver(l, index);
          l.process->run_until(end);
          collect(g, l, end);
        }
      } catch (...) {
        error = std::current_exception();
      }
    }
    send_batches(g, end, all);
  }
}

std::vector<Mail> Synchroniser::undelivered(LpId to) {
  return local_[static_cast<std::size_t>(local_index_[to])].box.undelivered();
}

void Synchroniser::resume_at(Cycle boundary, std::uint64_t windows) {
  if (boundary % window_ != 0)
    throw SimulationError(fmt::format("no window of {} cycles begins at cycle {}", window_, boundary));
  index_ = boundary / window_, windows_run_ = windows;
  for (Local& l : local_) l.box.restart(index_);
}

void Synchroniser::redeliver(LpId to, std::vector<Mail>& mail) {
  Mailbox& to_fill = box(to);
  const std::vector<LpId>& sources = to_fill.sources();
  if (mail.size() != sources.size())
    throw SimulationError(fmt::format("process {} has {} sources and not {}", to, sources.size(), mail.size()));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    for (const Message& m : mail[i].data) require_state(m.source == sources[i]);
    for (const ControlMessage& m : mail[i].control) require_state(m.source == sources[i]);
    to_fill.put(sources[i], mail[i], index_ * window_);
  }
}

bool Synchroniser::run(Meeting* meeting) {
  const bool alone = transport_.size() == 1;
  std::exception_ptr error;
  for (;;) {
    // The schedule of jumps is a function of the window number, so that all ranks meet there.
    const Cycle turn = (index_ / kSkipWindows + 1) * kSkipWindows, next_index = shared_ ? turn : index_ + 1;
    const Cycle end = next_index * window_;
    const bool in_turn = next_index == turn, meet = alone || in_turn;
    bool failed = false;
    if (shared_)
      failed = !shared_->run(index_, turn, error);
    else
      run_window(index_, end, meet, error);
    windows_run_ += next_index - index_;
    index_ = next_index;
    if (alone && !error && !(in_turn && meeting != nullptr) && busy_soon(end + window_)) continue;
    if (!meet) continue;
    for (Group& g : groups_) receive_batches(g, end, error);
    failed = failed || error;
    // A request takes the place of the earliest event, of which none is that early any more: without one it costs nothing.
    const bool may_request = meeting != nullptr && end > Meeting::kRequests;
    const std::uint32_t mine = may_request && !failed ? meeting->request() : 0;
    Cycle next = least_of_all(failed ? kFailed : mine != 0 ? mine : earliest());
    if (next == kFailed) throw_if_any_failed(transport_, error);
    std::uint32_t request = 0;
    if (may_request && next <= Meeting::kRequests) {
      request = static_cast<std::uint32_t>(next);
      next = least_of_all(earliest());
    }
    if (next == kNever) return true;
    index_ = std::max(index_, next / window_);
    const Cycle next_turn = (index_ / kSkipWindows + 1) * kSkipWindows;
    if (meeting != nullptr && !meeting->meet(index_ * window_, next_turn * window_, request)) return false;
  }
}

}  // namespace atl
