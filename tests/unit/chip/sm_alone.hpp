#pragma once
#include "alone.hpp"
#include "core/chip/sm/sm.hpp"

namespace atl::test {

/// From the SM to the look-up of a slice: 29 cycles past the L1, 5 through the crossbar, 53 of the slice, after those that
/// the request takes to pass the port at 32 bytes per cycle: 1 for a header of 8, 5 for a line of 136.
inline constexpr Cycle kToLookUp = 29 + 5 + 53;
inline constexpr Cycle kLoad = 1 + kToLookUp + 100;

struct StoreCycles : ChipObserver {
  Cycles cycles;
  std::vector<std::uint64_t> lines;
  void on_l1_store(const Context& c, std::uint32_t, LineAddr line) override {
    cycles.push_back(c.now()), lines.push_back(line.value * 128);
  }
};

/// One SM with its cluster's request port; the slices are played, whose answers reach the SM after 100 cycles. Runs the CTAs
/// of one kernel; stores are the marks by which a test sees when a warp came where.
struct SmAlone : Alone {
  explicit SmAlone(const SystemConfig& config, std::uint32_t warps_per_cta = 1, std::uint32_t ctas = 1)
      : Alone(config), sm(c, requests, 0) {
    c.observer = &stores;
    work.kernel(ctas, warps_per_cta);
  }
  Program& warp(std::uint32_t warp = 0, std::uint64_t cta = 0) { return work.warp(cta, warp); }
  /// The CTAs start in cycle 0, so that their first ops issue in cycle 1.
  void run(Cycle end = 2000) {
    if (!begun) {
      begun = true;
      sm.begin_kernel(work.kernels()[0].warps());
      for (std::uint64_t cta = 0; cta < work.kernels()[0].ctas(); ++cta) {
        work.load_cta(0, cta, sm.next_program());
        sm.start_cta(cta);
      }
    }
    Alone::run(end, [this](const Event& e) {
      switch (e.kind) {
        case EventKind::warp_ready:
          return sm.on_warp_ready(e.sub), true;
        case EventKind::issue:
          return sm.on_issue(e.sub), true;
        case EventKind::access_done:
          return sm.on_access_done(e.sub, e.packet.token), true;
        case EventKind::lsu:
          return e.sub == kHitsOnly ? sm.catch_up() : sm.on_load_store_unit(), true;
        case EventKind::l1_fill:
          return sm.on_response(e.packet, false), true;
        case EventKind::request_port:
          return requests.on_port(e.index), true;
        case EventKind::resume:
          return sm.on_credit(), true;
        case EventKind::slice_arrive:
          answer(e);
          return false;
        default:
          return false;
      }
    });
  }
  void answer(const Event& e) {
    slices[e.index].gate(LlcSlice::kFromSms).release();
    Packet p = e.packet;
    p.kind = response_to(p.kind);
    c.schedule(c.now() + 100, EventKind::l1_fill, 0, 0, p);
  }
  /// When the last warp of a CTA has ended.
  Cycles ends() const { return cycles(EventKind::dispatch); }
  ScriptedWorkload work;
  StoreCycles stores;
  Sm sm;
  bool begun = false;
};

}  // namespace atl::test
