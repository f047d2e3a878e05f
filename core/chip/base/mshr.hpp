#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "core/chip/base/line_index.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"
#include "core/engine/error.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// Miss-status holding registers: the lines under way from below, each with a list of those who wait for it.
/// A fixed pool with a hash index by line; `Waiter` is what the owner needs to answer one request.
template <class Waiter, class Index = std::uint16_t> class MshrFile {
 public:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Entry {
    using PlainState = void;
    LineAddr line;
    std::uint8_t pending = 0;      ///< sectors asked for and not yet here
    std::uint8_t arrived = 0;      ///< sectors that came since the entry was opened
    bool has_front = false;        ///< `front` is a waiter
    bool void_on_arrival = false;  ///< the line has changed meanwhile: it answers those who wait, and does not stay
    std::uint32_t waiting = 0;
    std::uint32_t first = kNone, last = kNone;  ///< waiters after `front`, in order of coming
    Waiter front{};                             ///< most lines have one waiter only: it needs no list node
  };

  MshrFile() = default;
  MshrFile(std::uint32_t entries, std::uint32_t merges) : merges_(merges), index_(entries), entry_(entries) {
    for (std::uint32_t i = entries; i-- > 0;) free_.push_back(i);
  }

  bool full() const { return free_.empty(); }
  std::uint32_t in_use() const { return static_cast<std::uint32_t>(entry_.size() - free_.size()); }
  bool can_merge(std::uint32_t e) const { return entry_[e].waiting < merges_; }
  Entry& operator[](std::uint32_t e) { return entry_[e]; }
  const Entry& operator[](std::uint32_t e) const { return entry_[e]; }

  void prefetch(LineAddr line) const { index_.prefetch(line); }
  void prefetch(std::uint32_t e) const { prefetch_address(&entry_[e]); }
  std::uint32_t find(LineAddr line) const { return index_.find(line, line_of()); }
  /// Opens an entry. Beyond the pool's size it grows; who models a finite file asks full() first. Throws SimulationError
  /// where the index cannot number more.
  std::uint32_t open(LineAddr line) {
    ATOLL_ASSERT(find(line) == kNone);
    if (free_.empty()) grow();
    const std::uint32_t e = free_.back();
    free_.pop_back();
    entry_[e] = {};
    entry_[e].line = line;
    index_.insert(line, e);
    return e;
  }
  void add_waiter(std::uint32_t e, const Waiter& w) {
    Entry& entry = entry_[e];
    if (entry.waiting++ == 0) {
      entry.front = w, entry.has_front = true;
      return;
    }
    std::uint32_t n;
    if (free_nodes_.empty()) {
      n = static_cast<std::uint32_t>(node_.size());
      node_.push_back({w, kNone});
    } else {
      n = free_nodes_.back();
      free_nodes_.pop_back();
      node_[n] = {w, kNone};
    }
    (entry.first == kNone ? entry.first : node_[entry.last].next) = n;
    entry.last = n;
  }
  /// Takes those waiters for whom done(waiter) holds out of the list, in order.
  template <class Done> void release_waiters(std::uint32_t e, Done&& done) {
    Entry& entry = entry_[e];
    if (entry.has_front && done(entry.front)) {
      entry.has_front = false;
      --entry.waiting;
    }
    if (entry.first == kNone) return;
    std::uint32_t* link = &entry.first;
    entry.last = kNone;
    while (*link != kNone) {
      const std::uint32_t n = *link;
      if (done(node_[n].waiter)) {
        *link = node_[n].next;
        free_nodes_.push_back(n);
        --entry.waiting;
      } else {
        entry.last = n;
        link = &node_[n].next;
      }
    }
  }
  /// Calls see(entry, for_each_waiter) for every open entry, in no order that means anything; for_each_waiter(f) calls
  /// f(waiter).
  template <class See> void for_each(See&& see) const {
    if (in_use() == 0) return;
    index_.for_each([&](std::uint32_t e) {
      const Entry& entry = entry_[e];
      see(entry, [&](auto&& f) {
        if (entry.has_front) f(entry.front);
        for (std::uint32_t n = entry.first; n != kNone; n = node_[n].next) f(node_[n].waiter);
      });
    });
  }
  void close(std::uint32_t e) {
    ATOLL_ASSERT(find(entry_[e].line) == e);
    ATOLL_ASSERT(entry_[e].first == kNone);
    index_.erase(entry_[e].line, e);
    free_.push_back(e);
  }

  std::uint32_t entries() const { return static_cast<std::uint32_t>(entry_.size()); }
  /// Entries are free or found by their lines, and each waits with a list of its own.
  void check_state() const {
    require_state(index_.fits(entry_.size()));
    std::vector<bool> named = require_places(free_, entry_.size()), nodes = require_places(free_nodes_, node_.size());
    std::size_t open = 0, waiting = free_nodes_.size();
    index_.for_each([&](std::uint32_t e) {
      require_state(e < entry_.size() && !named[e]);
      named[e] = true, ++open;
    });
    require_state(open + free_.size() == entry_.size());
    index_.for_each([&](std::uint32_t e) {
      const Entry& entry = entry_[e];
      require_state(is_bool(entry.has_front) && is_bool(entry.void_on_arrival));
      require_state(find(entry.line) == e && (entry.first == kNone) == (entry.last == kNone));
      std::uint32_t length = entry.has_front;
      for (std::uint32_t n = entry.first; n != kNone; n = node_[n].next, ++length, ++waiting) {
        require_state(n < node_.size() && !nodes[n] && (n == entry.last) == (node_[n].next == kNone));
        nodes[n] = true;
      }
      require_state(length == entry.waiting);
    });
    require_state(waiting == node_.size());
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, entry_, free_, index_, node_, free_nodes_); }

 private:
  struct Node {
    Waiter waiter;
    std::uint32_t next;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, waiter, next); }
  };
  auto line_of() const {
    return [this](std::uint32_t e) { return entry_[e].line; };
  }
  void grow() {
    const auto used = static_cast<std::uint32_t>(entry_.size());
    if (2 * std::uint64_t{used} > LineIndex<Index>::kMostEntries)
      throw SimulationError("more than " + std::to_string(used) +
                            " lines are missing in one place at a time: take a lower l1.pending_stores, or fewer SMs");
    entry_.resize(std::size_t{used} * 2);
    index_ = LineIndex<Index>(entry_.size());
    for (std::uint32_t e = 0; e < used; ++e) index_.insert(entry_[e].line, e);
    for (auto e = static_cast<std::uint32_t>(entry_.size()); e-- > used;) free_.push_back(e);
  }

  std::uint32_t merges_ = 1;
  LineIndex<Index> index_;
  std::vector<Entry> entry_;
  std::vector<std::uint32_t> free_;
  std::vector<Node> node_;
  std::vector<std::uint32_t> free_nodes_;
};

}  // namespace atl
