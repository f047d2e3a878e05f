#pragma once
#include <vector>

#include "core/chip/context.hpp"
#include "core/chip/fifo.hpp"
#include "partition/page_placement.hpp"

namespace atl {

/// Page homes as one chip knows them. A page that nobody has touched yet is reported to the controller, which settles
/// who was first; until the answer comes, requests to the page wait here (each still holds its SM's MSHR or store
/// credit, so their number is bounded).
class Mmu {
 public:
  explicit Mmu(Context& c) : c_(c), placement_(c.machine.config), single_(c.machine.config.chips == 1) {}

  /// Home chip of the line's page, or kUnknownHome.
  std::uint8_t home(LineAddr line) const {
    if (single_) return 0;
    const PageAddr page = c_.machine.page_of(line);
    const std::uint8_t h = placement_.home(page);
    return h != kUnknownHome ? h : cache_.find(page);
  }

  /// Keeps `p` until its page has a home. The first request to a page makes it a touch.
  void park(const Packet& p);
  /// The controller's answer: calls again(packet) for the requests that waited, in the order of coming.
  template <class Again> void learn(PageAddr page, std::uint8_t home, Again&& again) {
    cache_.insert(page, home);
    for (std::size_t i = 0; i < pages_.size(); ++i) {
      if (pages_[i].page != page) continue;
      Fifo<Packet> requests;
      std::swap(requests, pages_[i].requests);
      if (i + 1 < pages_.size()) std::swap(pages_[i], pages_.back());
      pages_.pop_back();
      while (!requests.empty()) {
        Packet p = requests.take();
        p.home = home;
        again(p);
      }
      return;
    }
  }

  /// Touches from before `end` that were not taken yet, for the controller.
  std::vector<FirstTouch::Touch> take_touches_before(Cycle end);
  std::size_t parked_pages() const { return pages_.size(); }

 private:
  struct Parked {
    PageAddr page;
    Fifo<Packet> requests;
  };
  void time_report();
  Context& c_;
  StaticPlacement placement_;
  PageHomeCache cache_;
  bool single_;
  std::vector<Parked> pages_;
  std::vector<FirstTouch::Touch> touches_;
};

}  // namespace atl
