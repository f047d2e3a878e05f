#include "run.hpp"

namespace atl {
namespace {

using namespace test;

TEST_CASE("a store to a page that has just got its home does not pass an earlier one to its line") {
  SystemConfig c = tiny(2);
  c.partition.placement = Placement::first_touch;
  c.noc.queue_packets = 1, c.noc.cluster_gbps = 1;  // what waited for the home then waits for the port, one by one
  ScriptedWorkload w;
  w.kernel(2);
  constexpr std::uint64_t kPage = 0x10000, kLast = kPage + 15 * 128;
  for (std::uint64_t a = kPage; a <= kLast; a += 128) w.warp(0).store(a);
  w.warp(0).pause(static_cast<std::uint16_t>(2 * c.control.latency_cycles + 200)).store(kLast);
  struct ArrivalLog : ChipObserver {
    std::vector<std::uint32_t> born;
    void on_llc_lookup(const Context&, std::uint32_t, const Packet& p, LlcOutcome) override {
      if (p.line.value == kLast / 128) born.push_back(p.born);
    }
  } log;
  run(c, w, &log);
  REQUIRE(log.born.size() == 2);
  CHECK(log.born[0] + 2000 < log.born[1]);
}

}  // namespace
}  // namespace atl
