#include "alone.hpp"

// The links of one chip alone: the test is the crossbars, the slices and the chips at the other ends.
namespace atl::links_alone_test {
namespace {

using namespace test;

constexpr std::uint32_t kRequest = 0, kResponse = 1;

/// 16 bytes per cycle and 61 cycles to the next chip, credits at multiples of 4; 48 bytes per cycle into the chip.
struct Bench : Alone {
  explicit Bench(const SystemConfig& config, std::uint8_t chip = 0) : Alone(config, chip), topology(config.link, 4, chip) {}

  /// A line of 136 bytes, even, so that on a ring it goes up where both ways are equally long.
  Packet line(std::uint8_t source, std::uint8_t home, std::uint32_t token = 0) const {
    return {.line = {64}, .token = token, .source = source, .home = home, .kind = PacketKind::write, .sectors = 0xF};
  }
  void send(Cycle at, const Packet& p) {
    const std::uint32_t channel = links.channel_for(p);
    REQUIRE(links.out_gate(channel).acquire());
    c.schedule(at, EventKind::egress_arrive, channel, 0, p);
  }
  /// The channel from this neighbour.
  std::uint32_t from(std::uint32_t neighbour, std::uint32_t message_class = kRequest, bool past_dateline = false) const {
    for (std::uint32_t i = 0; i < topology.channels().size(); ++i) {
      const Channel& ch = topology.channels()[i];
      if (ch.neighbour == neighbour && ch.message_class == message_class && (ch.stage == 1) == past_dateline) return i;
    }
    return ~0u;
  }
  void arrive(Cycle at, std::uint32_t channel, const Packet& p) { c.schedule(at, EventKind::ingress_arrive, channel, 0, p); }
  void credit(Cycle at, std::uint32_t channel, std::uint32_t number) {
    Packet p;
    p.token = number;
    c.schedule(at, EventKind::credits_arrive, channel, 0, p);
  }
  void run(Cycle end = 1000) {
    Alone::run(end, [this](const Event& e) {
      switch (e.kind) {
        case EventKind::egress_arrive:
          return links.on_egress_arrive(e.index, e.packet), true;
        case EventKind::egress:
          return links.on_egress(e.index), true;
        case EventKind::ingress_arrive:
          return links.on_ingress_arrive(e.index, e.packet), true;
        case EventKind::ingress:
          return links.on_ingress(e.index), true;
        case EventKind::credits_arrive:
          return links.on_credits(e.index, e.packet.token), true;
        case EventKind::credits_send:
          return links.on_send_credits(), true;
        case EventKind::resume:
          return links.on_credit(e.index), true;
        default:
          return false;
      }
    });
  }
  std::vector<Message> to(std::uint32_t neighbour) const {
    std::vector<Message> all;
    for (const auto& [to, message] : outbox.data)
      if (to == neighbour) all.push_back(message);
    return all;
  }
  Cycles arrivals(std::uint32_t neighbour) const {
    Cycles all;
    for (const Message& m : to(neighbour)) all.push_back(m.arrival);
    return all;
  }
  Tokens tokens_to(std::uint32_t neighbour) const {
    Tokens all;
    for (const Message& m : to(neighbour)) all.push_back(m.as<Packet>().token);
    return all;
  }
  ChipTopology topology;
};

SystemConfig four(Topology topology) {
  SystemConfig config = tiny(4);
  config.link.topology = topology;
  return config;
}

TEST_CASE("links of a graph have their own bandwidth and latency, credits included") {
  SystemConfig config = four(Topology::graph);
  config.link.edges = "0-1 1-2 2-3 0-3:8/32@20";
  Bench b(config);
  for (std::uint32_t i = 0; i < 2; ++i) b.send(10, b.line(0, 1, i)), b.send(10, b.line(0, 3, i));
  b.run();
  CHECK(b.arrivals(1) == Cycles{10 + 9 + 61, 10 + 17 + 61});
  CHECK(b.arrivals(3) == Cycles{10 + 17 + 20, 10 + 34 + 20});
}

TEST_CASE("lines of 136 bytes leave a port of 16 bytes per cycle every 8.5 cycles and arrive 61 cycles later") {
  Bench b(four(Topology::ring));
  for (std::uint32_t i = 0; i < 4; ++i) b.send(10, b.line(0, 1, i));
  b.run();
  CHECK(b.arrivals(1) == Cycles{10 + 9 + 61, 10 + 17 + 61, 10 + 26 + 61, 10 + 34 + 61});
  CHECK(b.tokens_to(1) == Tokens{0, 1, 2, 3});
  CHECK(b.c.count[Counter::link_bytes] == 4 * 136);
  CHECK(b.c.count[Counter::link_packets] == 4);
  CHECK(b.to(3).empty());
}

TEST_CASE("in slots of 64 bytes a line takes three and a header one, which the crossbars behind the link do not see") {
  SystemConfig config = four(Topology::ring);
  config.link.slot_bytes = 64;
  Bench b(config);
  Packet header = b.line(0, 1, 1);
  header.kind = PacketKind::read, header.flags = kToSlice;
  b.send(10, b.line(0, 1, 0));
  b.send(10, header);
  b.send(10, b.line(0, 1, 2));
  b.arrive(300, b.from(3), b.line(3, 0, 3));
  b.run();
  CHECK(b.cycles(EventKind::slice_arrive) == Cycles{303 + 5 + 53});
  CHECK(b.arrivals(1) == Cycles{10 + 12 + 61, 10 + 16 + 61, 10 + 28 + 61});
  CHECK(b.c.count[Counter::link_bytes] == 192 + 64 + 192);
  CHECK(b.c.count[Counter::link_packets] == 3);
  CHECK(b.c.count[Counter::link_received_bytes] == 192);
  CHECK(b.c.count[Counter::noc_link_bytes] == 8 + 136);
}

TEST_CASE("as if each port were as busy as the busiest: of links of 8 and 32 GB/s the narrow one, with less") {
  SystemConfig config = four(Topology::graph);
  config.link.edges = "0-1:32 1-2:32 2-3:32 0-3:8/32";  // from 3 to 0 by 32 GB/s
  Bench b(config);
  Packet header = b.line(0, 3, 1);
  header.kind = PacketKind::read, header.flags = kToSlice;  // 8 bytes
  constexpr int headers = 5;
  b.send(10, b.line(0, 1, 0));  // 136 bytes at 32 GB/s take 4.25 ns, 40 at 8 take 5
  for (int i = 0; i < headers; ++i) b.send(10, header);
  b.arrive(300, b.from(3), b.line(3, 0, 3));
  b.run();
  for (int looks = 0; looks < 2; ++looks) {  // nothing is counted twice
    b.links.count_busiest();
    CHECK(b.c.count[Counter::link_busiest_bytes] == 8 * headers / 8.0 * 40);
    CHECK(b.c.count[Counter::link_busiest_received_bytes] == 2 * 136);
  }
}

TEST_CASE("a full link is no more than full, however short the periods in which it is looked at") {
  SystemConfig config = four(Topology::full);
  config.link.bandwidth_gbps = 1;  // a line takes 136 cycles
  Bench b(config);
  for (const std::uint8_t chip : {1, 2, 3, 1, 2, 3, 1, 2, 3, 1}) b.send(10, b.line(0, chip));
  for (Cycle at = 10; at < 700; at += 10) {
    b.run(at);
    b.links.count_busiest();
    REQUIRE(b.c.count[Counter::link_busiest_bytes] <= 3 * b.c.now());
  }
  b.c.queue.set_now(1000);
  b.links.count_busiest();
  CHECK(b.c.count[Counter::link_busiest_bytes] == 3 * 4 * 136);
}

TEST_CASE("behind a switch slots are also what an arriving message takes of the port: ten cycles each of 160 bytes") {
  SystemConfig config = four(Topology::switched);
  config.link.slot_bytes = 160;
  Bench b(config);
  for (const std::uint8_t chip : {1, 2, 3}) b.arrive(100, b.from(chip), b.line(chip, 0, chip));
  b.run();
  CHECK(b.cycles(EventKind::slice_arrive) == Cycles{110 + 5 + 53, 120 + 5 + 53, 130 + 5 + 53});
  CHECK(b.c.count[Counter::link_received_bytes] == 3 * 160);
}

TEST_CASE("chips enter behind a switch in turn, one whose packets come just as the port gets free as well") {
  Bench b(four(Topology::switched));
  for (std::uint32_t i = 0; i < 4; ++i)
    for (const std::uint8_t chip : {2, 3}) b.arrive(100, b.from(chip), b.line(chip, 0, 10 * chip + i));
  // 136 bytes, 16 in a cycle: the port is free for the next at 108, 117, 125, 134.
  for (std::uint32_t i = 0; i < 4; ++i) b.arrive(108 + (17 * i + 1) / 2, b.from(1), b.line(1, 0, 10 + i));
  b.run();
  CHECK(b.tokens(EventKind::slice_arrive) == Tokens{20, 30, 10, 21, 31, 11, 22, 32, 12, 23, 33, 13});
}

TEST_CASE("what comes over a link enters at the port's bandwidth: 250 GB/s, or the link's if that is more") {
  const auto enter = [](Topology topology, double link, double port) {
    SystemConfig config = four(topology);
    config.link.bandwidth_gbps = link, config.noc.link_port_gbps = port;
    Bench b(config);
    for (int i = 0; i < 3; ++i) b.arrive(100, b.from(3), b.line(3, 0));
    b.run();
    return b.cycles(EventKind::slice_arrive);
  };
  constexpr Cycle kRest = 5 + 53;  // on to the slice
  CHECK(enter(Topology::ring, 16, 0) == Cycles{101 + kRest, 102 + kRest, 102 + kRest});
  CHECK(enter(Topology::ring, 500, 0) == Cycles{101 + kRest, 101 + kRest, 101 + kRest});
  CHECK(enter(Topology::ring, 500, 8) == Cycles{117 + kRest, 134 + kRest, 151 + kRest});
  CHECK(enter(Topology::switched, 16, 0) == Cycles{109 + kRest, 117 + kRest, 126 + kRest});
  CHECK(enter(Topology::switched, 16, 8) == Cycles{117 + kRest, 134 + kRest, 151 + kRest});
}

TEST_CASE("what comes over a link enters at the bandwidth of its own direction, and not of the other") {
  SystemConfig config = four(Topology::graph);
  config.link.edges = "0-1:1000/2 0-2 1-3", config.noc.link_port_gbps = 0;
  const auto enter = [&](std::uint8_t chip) {
    Bench b(config, chip);
    for (int i = 0; i < 8; ++i) b.arrive(100, b.from(1 - chip), b.line(1 - chip, chip));
    b.run();
    return b.cycles(EventKind::slice_arrive).back();
  };
  constexpr Cycle kRest = 5 + 53;      // on to the slice
  CHECK(enter(1) == 100 + 2 + kRest);  // 8 lines of 136 bytes, 1000 in a cycle
  CHECK(enter(0) == 100 + 5 + kRest);  // 250, as a link of 2 has no wider port
}

TEST_CASE("an invalidation that another one's message names takes nothing of a link, and is no packet of its own") {
  Bench b(four(Topology::ring));
  Packet one = b.line(0, 1, 0);
  one.kind = PacketKind::invalidate, one.flags = kToSlice;
  Packet rides = one;
  rides.flags |= kRides, rides.token = 1;
  b.send(10, one);
  b.send(10, rides);
  b.send(10, b.line(0, 1, 2));
  b.run();
  CHECK(b.tokens_to(1) == Tokens{0, 1, 2});
  CHECK(b.arrivals(1) == Cycles{11 + 61, 11 + 61, 19 + 61});  // 8 bytes in half a cycle, and 136 behind them
  CHECK(b.c.count[Counter::link_packets] == 2);
  CHECK(b.c.count[Counter::link_bytes] == 8 + 136);
  CHECK(b.c.count[Counter::coherence_invalidation_bytes] == 8);
}

TEST_CASE("with two buffers at the other end the third packet leaves when a credit comes, the fourth with the next") {
  SystemConfig config = four(Topology::ring);
  config.link.buffer_packets = 2;
  Bench b(config);
  for (std::uint32_t i = 0; i < 4; ++i) b.send(0, b.line(0, 1, i));
  b.credit(300, b.from(1), 1);
  b.credit(400, b.from(1), 1);
  b.run(300);
  CHECK(b.arrivals(1) == Cycles{9 + 61, 17 + 61});
  b.run();
  CHECK(b.arrivals(1) == Cycles{9 + 61, 17 + 61, 309 + 61, 409 + 61});
  CHECK_FALSE(b.links.credits_home());
  b.credit(1000, b.from(1), 2);
  b.run(1001);
  CHECK(b.links.credits_home());
}

TEST_CASE("responses have buffers of their own: they pass requests that have no credit") {
  SystemConfig config = four(Topology::ring);
  config.link.buffer_packets = 1;
  Bench b(config);
  Packet answer = b.line(1, 0, 7);
  answer.kind = PacketKind::read_data;
  b.send(0, b.line(0, 1, 1));
  b.send(0, b.line(0, 1, 2));
  b.send(100, answer);
  b.run();
  CHECK(b.tokens_to(1) == Tokens{1, 7});
  CHECK(b.arrivals(1) == Cycles{9 + 61, 109 + 61});
}

TEST_CASE(
    "an arriving request is at its slice 3 + 5 + 53 cycles later, and its buffer is reported at the next multiple of 4") {
  Bench b(four(Topology::ring));
  b.arrive(100, b.from(1), b.line(1, 0, 1));
  b.arrive(100, b.from(1), b.line(1, 0, 2));  // 136 bytes at 48 per cycle: taken in at 102
  b.run();
  CHECK(b.cycles(EventKind::slice_arrive) == Cycles{103 + 5 + 53, 106 + 5 + 53});
  REQUIRE(b.to(1).size() == 1);
  const Message m = b.to(1).front();
  CHECK(m.arrival == 104 + 61);
  CHECK((m.port & Links::kCreditPort) != 0);
  CHECK(m.as<std::uint32_t>() == 2);
  CHECK(b.links.credits_home());
  CHECK(b.c.count[Counter::link_received_bytes] == 2 * 136);
}

TEST_CASE("a full slice keeps requests in their buffer until it has room; answers to SMs and slices come in past them") {
  Bench b(four(Topology::ring));
  Gate& gate = b.slices[0].gate(LlcSlice::kFromLinks);
  const std::uint32_t room = take_all(gate);
  CHECK(room == b.machine.config.noc.queue_packets + b.machine.llc.request_flight);
  Packet to_sm = b.line(0, 1, 3), to_slice = b.line(0, 1, 4);
  to_sm.kind = to_slice.kind = PacketKind::read_data;
  to_slice.flags = kToSlice;
  b.arrive(100, b.from(1), b.line(1, 0, 1));
  b.arrive(110, b.from(1), b.line(1, 0, 2));
  b.arrive(120, b.from(1, kResponse), to_sm);
  b.arrive(130, b.from(1, kResponse), to_slice);
  b.at(200, [&] { b.c.release(gate); });
  b.run(200);
  CHECK(b.cycles(EventKind::response_arrive) == Cycles{120 + 3 + 7});
  CHECK(b.cycles(EventKind::slice_arrive) == Cycles{130 + 3 + 3});
  CHECK(b.noted.back().event.sub == LlcSlice::kFill);
  b.run();
  CHECK(b.tokens(EventKind::slice_arrive) == Tokens{4, 1});  // one credit, one request
  CHECK(b.cycles(EventKind::slice_arrive).back() == 200 + 3 + 5 + 53);
}

TEST_CASE("what passes through a chip and what starts there leave in turn, and a buffer is free when its packet has left") {
  Bench b(four(Topology::ring), 1);
  for (std::uint32_t i = 0; i < 3; ++i) b.send(0, b.line(1, 2, i));
  for (std::uint32_t i = 0; i < 3; ++i) b.arrive(0, b.from(0), b.line(0, 2, 10 + i));
  b.run();
  CHECK(b.tokens_to(2) == Tokens{0, 10, 1, 11, 2, 12});
  CHECK(b.arrivals(2) == Cycles{9 + 61, 17 + 61, 26 + 61, 34 + 61, 43 + 61, 51 + 61});
  CHECK(b.c.count[Counter::link_forwarded] == 3);
  CHECK(b.arrivals(0) == Cycles{12 + 61, 28 + 61, 44 + 61});  // those that passed through left at 8, 25 and 42
  CHECK(b.noted.empty());
}

TEST_CASE("packets change buffers at the dateline of a ring, between the last chip and the first, and keep to them") {
  const auto leaves_past_dateline = [](std::uint8_t chip, std::uint32_t from, bool past, std::uint8_t home) {
    Bench b(four(Topology::ring), chip);
    const std::uint8_t next = (chip + 1) % 4;
    if (from == chip) {
      b.send(0, b.line(chip, home));
    } else {
      b.arrive(0, b.from(from, kRequest, past), b.line(static_cast<std::uint8_t>(from), home));
    }
    b.run(1);
    REQUIRE(b.to(next).size() == 1);
    const ChipTopology there(four(Topology::ring).link, 4, next);
    return there.channels()[b.to(next).front().port].stage == 1;
  };
  CHECK_FALSE(leaves_past_dateline(2, 2, false, 3));  // starts at chip 2
  CHECK_FALSE(leaves_past_dateline(2, 1, false, 3));  // passes through it
  CHECK(leaves_past_dateline(3, 3, false, 0));
  CHECK(leaves_past_dateline(3, 2, false, 0));
  CHECK_FALSE(leaves_past_dateline(0, 0, false, 1));
  CHECK(leaves_past_dateline(0, 3, true, 1));
}

TEST_CASE("what has passed the dateline leaves while the chip's own packets have no credit on the other side of it") {
  SystemConfig config = four(Topology::ring);
  config.link.buffer_packets = 1;
  Bench b(config);
  b.send(0, b.line(0, 1, 1));
  b.send(0, b.line(0, 1, 2));
  b.arrive(100, b.from(3, kRequest, true), b.line(3, 1, 3));
  b.run();
  CHECK(b.tokens_to(1) == Tokens{1, 3});
  CHECK(b.arrivals(1) == Cycles{9 + 61, 109 + 61});
}

TEST_CASE(
    "a port behind a switch is shared by all that arrive and all that leaves; fully connected, each neighbour has one") {
  for (const bool full : {false, true}) {
    CAPTURE(full);
    Bench b(four(full ? Topology::full : Topology::switched));
    for (const std::uint8_t chip : {1, 2, 3}) {
      b.arrive(100, b.from(chip), b.line(chip, 0, chip));
      b.send(500, b.line(0, chip, chip));
    }
    b.run();
    const Cycle to_slice = 5 + 53;
    CHECK(b.tokens(EventKind::slice_arrive) == Tokens{1, 2, 3});
    CHECK(b.cycles(EventKind::slice_arrive) == (full ? Cycles{103 + to_slice, 103 + to_slice, 103 + to_slice}
                                                     : Cycles{109 + to_slice, 117 + to_slice, 126 + to_slice}));
    for (const std::uint8_t chip : {1, 2, 3}) {
      const Cycle departs[] = {509, 517, 526};
      CHECK(b.arrivals(chip).back() == (full ? 509 : departs[chip - 1]) + 61);
    }
  }
}

}  // namespace
}  // namespace atl::links_alone_test
