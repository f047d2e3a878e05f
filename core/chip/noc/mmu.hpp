#pragma once
#include <vector>

#include "core/chip/base/mshr.hpp"
#include "core/chip/base/state_check.hpp"
#include "core/chip/context.hpp"
#include "core/engine/archive.hpp"
#include "partition/page_placement.hpp"

namespace atl {

/// Page homes as one chip knows them. A page that nobody has touched yet is reported to the controller, which settles
/// who was first; until the answer comes, requests to the page wait here (each still holds its SM's MSHR or store
/// credit, so their number is bounded).
class Mmu {
 public:
  explicit Mmu(Context& c);

  /// Home chip of the line's page, or kUnknownHome.
  std::uint8_t home(LineAddr line) const {
    if (single_) return 0;
    const PageAddr page = c_.machine.page_of(line);
    const std::uint8_t h = has_devices_ ? c_.machine.devices.home(page) : placement_.home(page);
    return h != kUnknownHome ? h : cache_.find(page);
  }

  /// Keeps `p` until its page has a home. The first request to a page makes it a touch.
  void park(const Packet& p);
  /// The controller's answer: calls again(packet) for the requests that waited, in the order of coming.
  template <class Again> void learn(PageAddr page, std::uint8_t home, Again&& again) {
    cache_.insert(page, home);
    const std::uint32_t e = parked_.find({page.value});
    if (e == parked_.kNone) return;
    parked_.release_waiters(e, [&](Packet p) {
      p.home = home;
      again(p);
      return true;
    });
    parked_.close(e);
  }
  /// What learn() will touch first, and what it will find there.
  void prefetch_answer(PageAddr page) const { cache_.prefetch(page), parked_.prefetch(LineAddr{page.value}); }
  void prefetch_parked(PageAddr page) const {
    if (const std::uint32_t e = parked_.find({page.value}); e != parked_.kNone) parked_.prefetch(e);
  }
  /// The first request that waits for the page; nullptr if none does.
  const Packet* parked(PageAddr page) const {
    const std::uint32_t e = parked_.find({page.value});
    return e == parked_.kNone || !parked_[e].has_front ? nullptr : &parked_[e].front;
  }
  void prefetch(LineAddr line) const {
    const PageAddr page = c_.machine.page_of(line);
    cache_.prefetch(page);
    if (parked_.entries() > kParkedPages) parked_.prefetch(LineAddr{page.value});  // many wait, and this one may have to
  }

  /// Touches from before `end` that were not taken yet, for the controller.
  std::vector<FirstTouch::Touch> take_touches_before(Cycle end);
  template <class See> void for_each_parked(See&& see) const {
    parked_.for_each([&](const auto&, auto&& for_each_waiter) { for_each_waiter(see); });
  }
  std::size_t parked_pages() const { return parked_.in_use(); }
  void check(const StateCheck& s) const;  // state_check.cpp
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, cache_, parked_, touches_); }

 private:
  /// Pages that wait for their home; the table grows when more do.
  static constexpr std::uint32_t kParkedPages = 256;
  void time_report();
  Context& c_;
  StaticPlacement placement_;
  PageHomeCache cache_;
  bool single_, has_devices_;
  MshrFile<Packet, std::uint32_t> parked_;  ///< requests by page, which takes the part of the line
  std::vector<FirstTouch::Touch> touches_;
};

}  // namespace atl
