#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "core/chip/base/packet.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"
#include "core/engine/prefetch.hpp"

namespace atl {

/// First-in first-out queues of packets that share one store. A chip has thousands, one for each way that a packet may take,
/// and few hold anything: so a queue itself is three numbers, and packets lie in the places that were used last, which the
/// host's caches still have. The bound of a modelled queue is its Gate, not its storage.
class PacketQueues {
 public:
  struct Queue {
    using PlainState = void;
    std::uint32_t first = kNone, last = kNone, size = 0;
    bool empty() const { return size == 0; }
  };

  /// `note`: of the owner, kept with the packet.
  void push(Queue& q, const Packet& p, std::uint32_t note = 0) {
    if (free_ == kNone) [[unlikely]]
      grow();
    const std::uint32_t n = free_;
    free_ = link_[n].next;
    packet_[n] = p, link_[n] = {kNone, note};
    (q.size++ == 0 ? q.first : link_[q.last].next) = n;
    q.last = n;
  }
  const Packet& front(const Queue& q) const { return packet_[place(q)]; }
  Packet& front(Queue& q) { return packet_[place(q)]; }
  std::uint32_t note(const Queue& q) const { return link_[place(q)].note; }
  Packet take(Queue& q) {
    const std::uint32_t n = place(q);
    const Packet p = packet_[n];
    q.first = link_[n].next;
    give_back(q, n);
    return p;
  }
  /// Takes the first packet behind the front for which accept(packet); the others keep their order.
  template <class Accept> std::optional<Packet> take_behind(Queue& q, Accept&& accept) {
    if (q.size < 2) return std::nullopt;
    for (std::uint32_t before = q.first, n = link_[before].next; n != kNone; before = n, n = link_[n].next) {
      if (!accept(packet_[n])) continue;
      const Packet p = packet_[n];
      link_[before].next = link_[n].next;
      if (q.last == n) q.last = before;
      give_back(q, n);
      return p;
    }
    return std::nullopt;
  }
  template <class F> void for_each(const Queue& q, F&& f) const {
    for (std::uint32_t i = 0, n = q.first; i < q.size; ++i, n = link_[n].next) f(packet_[n]);
  }
  template <class F> void for_each_note(const Queue& q, F&& f) const {
    for (std::uint32_t i = 0, n = q.first; i < q.size; ++i, n = link_[n].next) f(link_[n].note);
  }

  /// Every place is in one queue or free, and queues are as long as they say. each(see) calls see(queue) for all of them.
  template <class Each> void check(Each&& each) const {
    std::vector<bool> named(link_.size());
    std::size_t found = 0;
    const auto walk = [&](std::uint32_t first) {
      Queue walked{first};
      for (std::uint32_t n = first; n != kNone; n = link_[n].next, ++walked.size, ++found) {
        require_state(n < link_.size() && !named[n]);
        named[n] = true, walked.last = n;
      }
      return walked;
    };
    each([&](const Queue& q) {
      const Queue walked = walk(q.empty() ? kNone : q.first);
      require_state(walked.size == q.size && (q.empty() || walked.last == q.last));
    });
    walk(free_);
    require_state(found == link_.size() && packet_.size() == link_.size());
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, packet_, link_, free_); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  struct Link {
    using PlainState = void;
    std::uint32_t next = kNone, note = 0;
  };
  std::uint32_t place(const Queue& q) const {
    ATOLL_ASSERT(!q.empty());
    if (q.empty()) [[unlikely]]  // without assertions it can only come from a checkpoint's lists that do not fit together
      refuse_course();
    return q.first;
  }
  /// Apart, so that push() is small enough to be part of its callers.
  [[gnu::noinline]] void grow() {
    free_ = static_cast<std::uint32_t>(link_.size());
    packet_.resize(packet_.size() + 8), link_.resize(packet_.size());
    for (std::uint32_t n = free_; n + 1 < link_.size(); ++n) link_[n].next = n + 1;
  }
  void give_back(Queue& q, std::uint32_t n) {
    --q.size;
    link_[n].next = free_, free_ = n;
  }
  std::vector<Packet> packet_;  ///< apart, so that none lies in two of the host's cache lines
  std::vector<Link> link_;      ///< of these
  std::uint32_t free_ = kNone;
};

}  // namespace atl
