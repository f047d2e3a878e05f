#include <array>

#include "alone.hpp"

// The request crossbar of one of two chips: the test is the SMs, the controller and the slices.
namespace atl::request_network_alone_test {
namespace {

using namespace test;

struct Bench : Alone {
  explicit Bench(const SystemConfig& config) : Alone(config) {}

  static Packet read(std::uint64_t address) { return {.line = LineAddr{address / 128}}; }
  /// An SM's request, with the credit that it needs.
  void request(Packet p) {
    Gate* gate = requests.gate_for(p);
    if (gate != nullptr) REQUIRE(gate->acquire());
    requests.request(p);
  }
  void run(Cycle end) {
    Alone::run(end, [this](const Event& e) {
      if (e.kind == EventKind::request_port) return requests.on_port(e.index), true;
      if (e.kind != EventKind::resume) return false;
      e.packet.token == static_cast<std::uint32_t>(WaiterKind::mmu) ? requests.on_mmu_credit(e.index, e.sub)
                                                                    : requests.on_credit(e.index, e.sub);
      return true;
    });
  }
};

TEST_CASE("credits of one cycle let in as many of the requests that waited for their page's home, and none is left") {
  SystemConfig config = tiny(2);
  config.llc.slices = 1;
  config.noc.queue_packets = 2;
  config.noc.cluster_gbps = 100'000;  // two packets pass the port in a cycle
  config.partition.placement = Placement::first_touch;
  Bench b(config);
  const std::array<PageAddr, 2> page{b.machine.page_of(LineAddr{0}), b.machine.page_of(LineAddr{1u << 16})};
  REQUIRE(page[0] != page[1]);
  Gate& slice = b.slices[0].gate(LlcSlice::kFromSms);
  const std::uint32_t places = take_all(slice);
  REQUIRE(places > 5);
  b.at(1, [&] {
    b.requests.learn(page[0], 0);
    for (const std::uint64_t k : {0, 1}) b.request(Bench::read(128 * k));
    for (const std::uint64_t k : {0, 1, 2}) b.request(Bench::read(128 * ((1u << 16) + k)));
    CHECK(b.c.count[Counter::requests_local] == 2);  // both places of the port's queue
    b.requests.learn(page[1], 0);
    CHECK(b.c.count[Counter::requests_local] == 2);
  });
  b.at(10, [&] { b.c.release(slice), b.c.release(slice); });
  b.at(11, [&] { CHECK(b.c.count[Counter::requests_local] == 4); });
  b.at(20, [&] {
    for (std::uint32_t k = 2; k < places; ++k) b.c.release(slice);
  });
  b.run(200);
  CHECK(b.c.count[Counter::requests_local] == 5);
  CHECK(b.cycles(EventKind::slice_arrive).size() == 5);
  CHECK(b.requests.credits_home());
}

}  // namespace
}  // namespace atl::request_network_alone_test
