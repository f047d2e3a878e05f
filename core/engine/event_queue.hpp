#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"
#include "core/engine/prefetch.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// Pending events of one logical process, in the order (cycle, order of scheduling).
///
/// A wheel of one bucket per cycle holds the near future: pooled nodes in FIFO lists, so scheduling and taking cost a few
/// nanoseconds and never allocate once the pool has grown. Later events wait in a heap. They move into the wheel when
/// handled time comes near them, which depends on the handled events alone and never on how time is cut into windows:
/// that keeps the order, and so every result, independent of the parallel layout.
template <class Event> class EventQueue {
  static_assert(std::is_trivially_copyable_v<Event>);

 public:
  static constexpr unsigned kWheelBits = 12;
  static constexpr Cycle kWheel = Cycle{1} << kWheelBits;

  EventQueue() { bucket_.fill({kNil, kNil}); }

  /// Schedules `event` at `at`, which must not lie before now().
  void push(Cycle at, const Event& event) { emplace(at, event); }
  /// Schedules Event{parts...}, made where it is kept: to copy one that has just been put together the host would have to
  /// wait, since it cannot load in one piece what is still being stored in several.
  template <class... Parts> void emplace(Cycle at, const Parts&... parts) {
    ATOLL_ASSERT(at >= now_);
    if (at - now_ < kWheel) {
      push_wheel(at, parts...);
    } else {
      far_.push_back({at, far_sequence_++, Event{parts...}});
      std::push_heap(far_.begin(), far_.end(), Later{});
    }
  }

  /// Schedules the one event that comes before all others of its cycle, whenever they were scheduled.
  void push_first(Cycle at, const Event& event) {
    ATOLL_ASSERT(at >= now_);
    if (at - now_ >= kWheel) {
      far_.push_back({at, 0, event});
      return std::push_heap(far_.begin(), far_.end(), Later{});
    }
    auto& b = bucket_[at & kMask];
    const Bucket others = b;
    b.head = kNil;
    push_wheel(at, event);
    if (others.head != kNil) nodes_[b.head].next = others.head, b.tail = others.tail;
  }

  /// Cycle of the earliest pending event, kNever if there is none.
  Cycle next() const {
    const Cycle near = next_in_wheel();
    return far_.empty() ? near : std::min(near, far_.front().at);
  }

  /// Cycle of the event being handled, or handled last.
  Cycle now() const { return now_; }
  bool empty() const { return pending_ == 0 && far_.empty(); }
  std::uint64_t handled() const { return handled_; }

  void clear() {
    bucket_.fill({kNil, kNil});
    occupied_.fill(0);
    nodes_.clear(), far_.clear(), free_.clear();
    pending_ = 0;
  }

  /// Handles all events before `end`: calls handle(cycle, event); the handler may push. `hint(event)` is called for an
  /// event some places ahead, so that the owner can prefetch what it will touch while others are handled.
  template <class Handler, class Hint> void run_until(Cycle end, Handler&& handle, Hint&& hint) {
    for (std::uint32_t early = kNil;;) {  // first node of the cycle to come, once it was hinted
      const Cycle at = next();
      if (at >= end) return;
      come_to(at);
      auto& b = bucket_[at & kMask];
      if (const std::uint32_t first = bucket_[(at + 1) & kMask].head; first != kNil) prefetch_address(&nodes_[first]);
      // The last node that was hinted, and how many of them are not yet handled.
      std::uint32_t hinted = early, distance = early != kNil && early == b.head;
      early = kNil;
      while (b.head != kNil) {
        const std::uint32_t n = b.head;
        for (; distance < kHints; ++distance) {
          const std::uint32_t next = distance == 0 ? n : nodes_[hinted].next;
          if (next == kNil) {
            if (early == kNil && (early = bucket_[(at + 1) & kMask].head) != kNil) hint_at(early, hint);
            break;
          }
          hint_at(hinted = next, hint);
        }
        --distance;
        const Event event = nodes_[n].event;
        b.head = nodes_[n].next;
        free_.push_back(n);
        --pending_, ++handled_;
        handle(at, event);
      }
      occupied_[(at & kMask) >> 6] &= ~(std::uint64_t{1} << (at & 63));
    }
  }
  template <class Handler> void run_until(Cycle end, Handler&& handle) {
    run_until(end, std::forward<Handler>(handle), [](const Event&) {});
  }

  // For an owner that takes events of several queues in turn: a cycle begins, its events are looked at and taken one by one,
  // and it ends when there are none left. Events may be scheduled for the cycle meanwhile.
  void begin_cycle(Cycle at) {
    ATOLL_ASSERT(at >= now_ && at <= next());
    come_to(at);
    hinted_ = kNil, distance_ = 0;
    if (const std::uint32_t first = bucket_[(at + 1) & kMask].head; first != kNil) prefetch_address(&nodes_[first]);
  }
  /// The cycle's first event; nullptr if there is none.
  const Event* first() const {
    const std::uint32_t n = bucket_[now_ & kMask].head;
    return n == kNil ? nullptr : &nodes_[n].event;
  }
  /// Takes the cycle's first event; `hint` as in run_until().
  template <class Hint> Event take(Hint&& hint) {
    Bucket& b = bucket_[now_ & kMask];
    const std::uint32_t n = b.head;
    for (; distance_ < kHints; ++distance_) {
      const std::uint32_t next = distance_ == 0 ? n : nodes_[hinted_].next;
      if (next == kNil) break;
      hint_at(hinted_ = next, hint);
    }
    --distance_;
    const Event event = nodes_[n].event;
    b.head = nodes_[n].next;
    free_.push_back(n);
    --pending_, ++handled_;
    return event;
  }
  void end_cycle() { occupied_[(now_ & kMask) >> 6] &= ~(std::uint64_t{1} << (now_ & 63)); }

  /// For an owner that keeps its events elsewhere for a while: what time it is, and how many were handled.
  void set_now(Cycle now) { now_ = now; }
  void set_handled(std::uint64_t handled) { handled_ = handled; }
  /// Takes all events, in their order: calls f(cycle, event).
  template <class F> void drain(F&& f) {
    for (Cycle i = 0; i < kWheel; ++i)
      for (std::uint32_t n = bucket_[(now_ + i) & kMask].head; n != kNil; n = nodes_[n].next) f(now_ + i, nodes_[n].event);
    std::sort_heap(far_.begin(), far_.end(), Later{});
    for (auto e = far_.rbegin(); e != far_.rend(); ++e) f(e->at, e->event);
    clear();
  }

  /// Calls f(cycle, event) for every pending event, in no order.
  template <class F> void for_each(F&& f) const {
    for (Cycle i = 0; i < kWheel; ++i)
      for (std::uint32_t n = bucket_[(now_ + i) & kMask].head; n != kNil; n = nodes_[n].next) f(now_ + i, nodes_[n].event);
    for (const Far& e : far_) f(e.at, e.event);
  }
  /// Every node is in one list or free, and lists are as long as they say.
  void check_state() const {
    std::vector<bool> named = require_places(free_, nodes_.size());
    std::size_t found = 0;
    for (Cycle i = 0; i < kWheel; ++i) {
      const Bucket& b = bucket_[i];
      require_state((occupied_[i >> 6] >> (i & 63) & 1) == (b.head != kNil));
      for (std::uint32_t n = b.head; n != kNil; n = nodes_[n].next) {
        require_state(n < nodes_.size() && !named[n] && (n == b.tail) == (nodes_[n].next == kNil));
        named[n] = true, ++found;
      }
    }
    require_state(found == pending_ && found + free_.size() == nodes_.size() &&
                  std::is_heap(far_.begin(), far_.end(), Later{}));
    for (const Far& e : far_) require_state(e.at >= now_ && e.sequence < far_sequence_);
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, bucket_, occupied_, nodes_, far_, free_, pending_, handled_, far_sequence_, now_);
  }

 private:
  static constexpr std::uint32_t kNil = ~std::uint32_t{0};
  static constexpr Cycle kMask = kWheel - 1;
  static constexpr std::size_t kWords = kWheel / 64;
  static constexpr std::uint32_t kHints = 3;  ///< events that are hinted and not yet handled: 2 to 8 are equally good
  static constexpr std::size_t kSoon = 4;     ///< free nodes asked for before they are taken
  /// One cache line of the host.
  struct alignas(64) Node {
    Event event;
    std::uint32_t next;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, event, next); }
  };
  struct Bucket {
    using PlainState = void;
    std::uint32_t head, tail;
  };
  struct Far {
    Cycle at;
    std::uint64_t sequence;
    Event event;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, at, sequence, event); }
  };
  struct Later {
    bool operator()(const Far& a, const Far& b) const { return a.at != b.at ? a.at > b.at : a.sequence > b.sequence; }
  };

  /// Now is `at`: what was far away and is near from here enters the wheel.
  void come_to(Cycle at) {
    now_ = at;
    while (!far_.empty() && far_.front().at - now_ < kWheel) {
      std::pop_heap(far_.begin(), far_.end(), Later{});
      push_wheel(far_.back().at, far_.back().event);
      far_.pop_back();
    }
  }
  template <class... Parts> void push_wheel(Cycle at, const Parts&... parts) {
    std::uint32_t n;
    if (free_.empty()) {
      n = static_cast<std::uint32_t>(nodes_.size());
      nodes_.push_back({Event{parts...}, kNil});
    } else {
      n = free_.back();
      free_.pop_back();
      if (free_.size() >= kSoon) prefetch_address(&nodes_[*(free_.end() - kSoon)]);
      ::new (static_cast<void*>(&nodes_[n].event)) Event{parts...};
      nodes_[n].next = kNil;
    }
    ++pending_;
    auto& b = bucket_[at & kMask];
    if (b.head == kNil) {
      b.head = n;
      occupied_[(at & kMask) >> 6] |= std::uint64_t{1} << (at & 63);
    } else {
      nodes_[b.tail].next = n;
    }
    b.tail = n;
  }

  /// The node behind is asked for as well: the list is a chain of loads.
  template <class Hint> void hint_at(std::uint32_t n, Hint& hint) const {
    const Node& node = nodes_[n];
    if (node.next != kNil) prefetch_address(&nodes_[node.next]);
    hint(node.event);
  }

  /// The wheel covers [now, now + kWheel): the first occupied bucket going round from now.
  Cycle next_in_wheel() const {
    if (pending_ == 0) return kNever;
    const Cycle start = now_ & kMask;
    const std::size_t first = start >> 6;
    std::uint64_t word = occupied_[first] & (~std::uint64_t{0} << (start & 63));
    for (std::size_t i = 0; i <= kWords; ++i) {
      if (word != 0) {
        const Cycle slot = ((first + i) % kWords) * 64 + static_cast<Cycle>(std::countr_zero(word));
        return now_ + ((slot - start) & kMask);
      }
      word = occupied_[(first + i + 1) % kWords];
    }
    return kNever;
  }

  std::array<Bucket, kWheel> bucket_;
  std::array<std::uint64_t, kWords> occupied_{};
  std::vector<Node> nodes_;
  std::vector<Far> far_;
  std::vector<std::uint32_t> free_;  ///< nodes; the last is the one used last, which the host's caches still hold
  std::size_t pending_ = 0;
  std::uint64_t handled_ = 0, far_sequence_ = 1;
  Cycle now_ = 0;
  std::uint32_t hinted_ = kNil, distance_ = 0;  ///< begin_cycle(): the last node hinted, and those hinted and not taken
};

}  // namespace atl
