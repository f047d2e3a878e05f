#include "comm/synchroniser.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

#include "comm/agree.hpp"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;  // read twice per batch: 50 ns of a window's tens of microseconds

}  // namespace

Synchroniser::Synchroniser(Transport& transport, std::vector<LogicalProcess*> local, std::vector<int> rank_of,
                           const std::vector<std::vector<Edge>>& edges)
    : transport_(transport),
      rank_of_(std::move(rank_of)),
      local_index_(rank_of_.size(), -1),
      neighbour_of_rank_(static_cast<std::size_t>(transport.size()), -1) {
  window_ = kNever;
  std::vector<Cycle> shared(static_cast<std::size_t>(transport.size()), kNever);
  for (std::size_t from = 0; from < edges.size(); ++from) {
    for (const Edge& e : edges[from]) {
      if (e.latency == 0) {
        throw InputError("link",
                         fmt::format("the edge from process {} to {} has no latency: there is no lookahead", from, e.to));
      }
      window_ = std::min(window_, e.latency);
      const int a = rank_of_[from], b = rank_of_[e.to];
      if (a == b) continue;
      if (a == transport.rank())
        shared[static_cast<std::size_t>(b)] = std::min(shared[static_cast<std::size_t>(b)], e.latency);
      if (b == transport.rank())
        shared[static_cast<std::size_t>(a)] = std::min(shared[static_cast<std::size_t>(a)], e.latency);
    }
  }
  if (window_ == kNever) window_ = 1024;  // nobody talks to anybody
  for (std::size_t r = 0; r < shared.size(); ++r) {
    if (shared[r] == kNever) continue;
    neighbour_of_rank_[r] = static_cast<int>(neighbours_.size());
    neighbours_.push_back({{static_cast<int>(r), {}, {}}, shared[r] / window_});
  }
  for (LogicalProcess* p : local) {
    local_index_[p->id()] = static_cast<int>(local_.size());
    Local& l = local_.emplace_back(Local{p, {}});
    for (std::size_t from = 0; from < edges.size(); ++from) {
      for (const Edge& e : edges[from]) {
        if (e.to == p->id()) l.boxes.emplace_back(static_cast<LpId>(from), window_);
      }
    }
  }
}

Mailbox& Synchroniser::box(LpId to, LpId from) {
  for (Mailbox& b : local_[static_cast<std::size_t>(local_index_[to])].boxes) {
    if (b.source() == from) return b;
  }
  throw SimulationError(fmt::format("process {} has no edge to process {}", from, to));
}

void Synchroniser::deliver(Cycle index) {
  for (Local& l : local_) {
    for (Mailbox& b : l.boxes) {
      const Mail& mail = b.take(index);
      if (!mail.data.empty()) l.process->receive(mail.data);
      for (const ControlMessage& c : mail.control) l.process->receive(c);
    }
  }
}

/// Moves what the local processes sent to its mailbox, or into the batch of the rank where the receiver lives.
void Synchroniser::collect(Cycle boundary) {
  for (Local& l : local_) {
    for (Edge& e : l.process->edges()) {
      if (e.outbox.empty()) continue;
      if (local_index_[e.to] >= 0) {
        box(e.to, l.process->id()).put(e.outbox, boundary);
      } else {
        auto& n = neighbours_[static_cast<std::size_t>(neighbour_of_rank_[static_cast<std::size_t>(rank_of_[e.to])])];
        encode(e.outbox, l.process->id(), e.to, n.peer.send);
        e.outbox.clear();
      }
    }
  }
}

void Synchroniser::swap_batches(Cycle boundary, bool all) {
  due_.clear();
  for (Neighbour& n : neighbours_) {
    if (all || (boundary / window_) % n.period == 0) due_.push_back(&n.peer);
  }
  if (due_.empty()) return;
  const auto start = Clock::now();
  transport_.exchange(due_);
  waited_ += Clock::now() - start;
  for (Transport::Peer* p : due_) p->send.clear();  // before anything below can throw: a batch is never sent twice
  for (Transport::Peer* p : due_) {
    std::size_t offset = 0;
    LpId from = 0, to = 0;
    while (decode(p->receive, offset, from, to, scratch_)) box(to, from).put(scratch_, boundary);
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
    first = std::min(first, l.process->next_event());
    for (const Mailbox& b : l.boxes) first = std::min(first, b.earliest());
  }
  return first;
}

bool Synchroniser::busy_soon(Cycle end) const {
  return std::any_of(local_.begin(), local_.end(), [&](const Local& l) { return l.process->next_event() < end; });
}

void Synchroniser::step(Cycle index, Cycle end) {
  deliver(index);
  for (Local& l : local_) l.process->run_until(end);
  collect(end);
}

std::vector<Mail> Synchroniser::undelivered(LpId to) {
  std::vector<Mail> all;
  for (const Mailbox& b : local_[static_cast<std::size_t>(local_index_[to])].boxes) all.push_back(b.undelivered());
  return all;
}

void Synchroniser::resume_at(Cycle boundary, std::uint64_t windows) {
  if (boundary % window_ != 0)
    throw SimulationError(fmt::format("no window of {} cycles begins at cycle {}", window_, boundary));
  index_ = boundary / window_, windows_run_ = windows;
  for (Local& l : local_) {
    for (Mailbox& b : l.boxes) b.restart(index_);
  }
}

void Synchroniser::redeliver(LpId to, std::vector<Mail>& mail) {
  auto& boxes = local_[static_cast<std::size_t>(local_index_[to])].boxes;
  if (mail.size() != boxes.size())
    throw SimulationError(fmt::format("process {} has {} sources and not {}", to, boxes.size(), mail.size()));
  for (std::size_t i = 0; i < boxes.size(); ++i) boxes[i].put(mail[i], index_ * window_);
}

bool Synchroniser::run(Meeting* meeting) {
  const bool alone = transport_.size() == 1;
  std::exception_ptr error;
  for (;;) {
    const Cycle end = (index_ + 1) * window_;
    // A rank that fails goes on swapping empty batches until all ranks meet, so that nobody waits for it in vain.
    if (!error) {
      try {
        step(index_, end);
      } catch (...) {
        error = std::current_exception();
      }
    }
    ++index_, ++windows_run_;
    // The schedule of jumps is a function of the window number, so that all ranks meet there.
    const bool in_turn = index_ % kSkipWindows == 0;
    if (alone && !error && !(in_turn && meeting != nullptr) && busy_soon(end + window_)) continue;
    const bool meet = alone || in_turn;
    if (!alone) {
      try {
        swap_batches(end, meet);
      } catch (...) {
        if (!error) error = std::current_exception();
      }
    }
    if (!meet) continue;
    // A wish takes the place of the earliest event, of which none is that early any more: without one it costs nothing.
    const bool may_wish = meeting != nullptr && end > Meeting::kWishes;
    const std::uint32_t mine = may_wish && !error ? meeting->wish() : 0;
    Cycle next = least_of_all(error ? kFailed : mine != 0 ? mine : earliest());
    if (next == kFailed) agree(transport_, error);
    std::uint32_t wish = 0;
    if (may_wish && next <= Meeting::kWishes) {
      wish = static_cast<std::uint32_t>(next);
      next = least_of_all(earliest());
    }
    if (next == kNever) return true;
    index_ = std::max(index_, next / window_);
    const Cycle next_turn = (index_ / kSkipWindows + 1) * kSkipWindows;
    if (meeting != nullptr && !meeting->hold(index_ * window_, next_turn * window_, wish)) return false;
  }
}

}  // namespace atl
