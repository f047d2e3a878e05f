#include "alone.hpp"

// One LLC slice alone, with its memory channel: the test is the crossbars and the links.
namespace atl::slice_alone_test {
namespace {

using namespace test;

/// A line is looked up in one cycle and leaves the slice in 136 / 64; memory has it 20 (activate) + 20 (column) + 8 (two
/// bursts) + 41 (beyond the channel) + 2 * 3 (wires) cycles after it was asked.
constexpr Cycle kMemory = 20 + 20 + 8 + 41 + 6;
constexpr Cycle kAnswer = 3 + 7;  ///< from the look-up to where the response crossbar ends

struct MemoryLog : ChipObserver {
  std::vector<Cycle> reads, writes;
  std::vector<std::uint64_t> read_lines, written_lines;
  void on_memory(const Context& c, std::uint32_t, const Packet& p) override {
    const bool write = p.kind == PacketKind::writeback;
    (write ? writes : reads).push_back(c.now());
    (write ? written_lines : read_lines).push_back(p.line.value);
  }
};
struct LookupLog : ChipObserver {
  std::vector<Cycle> cycles;
  std::vector<std::uint32_t> tokens;
  void on_llc_lookup(const Context& c, std::uint32_t, const Packet& p, LlcOutcome) override {
    cycles.push_back(c.now()), tokens.push_back(p.token);
  }
};

/// One slice of one set with eight ways.
SystemConfig one_set(std::uint32_t chips = 1) {
  SystemConfig config = tiny(chips);
  config.llc.slices = config.dram.channels = 1;
  config.llc.size_kib = 1, config.llc.ways = 8;
  return config;
}

struct Bench : Alone {
  explicit Bench(const SystemConfig& config, ChipObserver* observer = nullptr) : Alone(config), slice(slices[0]) {
    c.observer = observer;
  }
  Packet packet(PacketKind kind, std::uint64_t line, std::uint32_t token = 0, std::uint8_t source = 0) const {
    return {.line = {line}, .token = token, .source = source, .kind = kind, .sectors = 0xF};
  }
  void arrive(Cycle at, const Packet& p, std::uint32_t queue = LlcSlice::kFromSms) {
    REQUIRE(slice.gate(queue).acquire());
    c.schedule(at, EventKind::slice_arrive, 0, queue, p);
  }
  void read(Cycle at, std::uint64_t line, std::uint32_t token = 0) { arrive(at, packet(PacketKind::read, line, token)); }
  void write(Cycle at, std::uint64_t line) { arrive(at, packet(PacketKind::write, line)); }
  /// Lines 0 to n - 1 become dirty, line 0 first, and what answers them is forgotten.
  void write_lines(std::uint64_t n) {
    for (std::uint64_t line = 0; line < n; ++line) write(0, line);
    run(100);
    noted.clear();
    c.count = {};
  }
  void run(Cycle end) {
    Alone::run(end, [this](const Event& e) {
      switch (e.kind) {
        case EventKind::slice_arrive:
          return slice.on_arrive(e.sub, e.packet), true;
        case EventKind::slice:
          return slice.on_look(), true;
        case EventKind::slice_out:
          return slice.on_out(), true;
        case EventKind::slice_write:
          return slice.on_write(), true;
        case EventKind::slice_flush:
          return slice.on_flush(), true;
        case EventKind::dram_pick:
          return channels[e.index].on_pick(), true;
        case EventKind::dram_done:
          return slice.on_memory(e.packet), true;
        case EventKind::resume:
          return resume(static_cast<WaiterKind>(e.packet.token), e.sub);
        default:
          return false;
      }
    });
  }
  bool resume(WaiterKind waiter, std::uint32_t sub) {
    if (waiter == WaiterKind::slice_queue) slice.on_queue_credit(sub);
    if (waiter == WaiterKind::slice_out) slice.on_out_credit(sub);
    if (waiter == WaiterKind::slice_write) slice.on_write_credit(sub);
    return true;
  }
  std::vector<std::uint64_t> lines() const {
    std::vector<std::uint64_t> all;
    slice.for_each_line([&](LineAddr line, std::uint8_t) { all.push_back(line.value); });
    std::sort(all.begin(), all.end());
    return all;
  }
  Cycles answers() const { return cycles(EventKind::response_arrive); }
  LlcSlice& slice;
};

using Lines = std::vector<std::uint64_t>;

TEST_CASE("a hit is answered 3 + 7 cycles after it arrives, and those of one cycle every 136 / 64 cycles") {
  Bench b(one_set());
  b.write_lines(4);
  for (std::uint64_t line = 0; line < 4; ++line) b.read(200, line);
  b.run(1000);
  CHECK(b.answers() == Cycles{200 + 3 + 7, 200 + 5 + 7, 200 + 7 + 7, 200 + 9 + 7});
  CHECK(b.c.count[Counter::llc_hits] == 4);
  CHECK(b.c.count[Counter::dram_reads] == 0);
  CHECK(b.slice.queue_cycles() == 0 + 1 + 2 + 3 + (0 + 1 + 2 + 3));  // look-ups of the writes and of the reads
  CHECK(b.slice.credits_home());
}

TEST_CASE("a write is acknowledged 1 + 7 cycles after it arrives, and fetches nothing") {
  Bench b(one_set());
  b.write(200, 5);
  b.run(1000);
  CHECK(b.answers() == Cycles{200 + 1 + 7});
  CHECK(b.noted.front().event.packet.kind == PacketKind::write_ack);
  CHECK(b.lines() == Lines{5});
  CHECK(b.c.count[Counter::dram_reads] == 0);
}

TEST_CASE("a miss is at memory in the cycle of its look-up, and answered 95 cycles later than a hit") {
  MemoryLog log;
  Bench b(one_set(), &log);
  b.read(200, 5);
  b.run(1000);
  CHECK(log.reads == Cycles{200});
  CHECK(b.answers() == Cycles{200 + 95 + kAnswer});
  CHECK(b.noted.front().event.packet.has(kFromMemory));
  CHECK(b.lines() == Lines{5});
  CHECK(b.slice.miss_cycles() == 95);
}

TEST_CASE("requests of a line on its way are fetched once and answered one after the other when it comes") {
  Bench b(one_set());
  b.read(200, 5, 1), b.read(210, 5, 2), b.read(294, 5, 3), b.read(296, 5, 4);
  b.run(1000);
  CHECK(b.c.count[Counter::dram_reads] == 1);
  CHECK(b.c.count[Counter::llc_misses] == 1);
  CHECK(b.c.count[Counter::llc_merges] == 2);
  CHECK(b.c.count[Counter::llc_hits] == 1);
  CHECK(b.tokens(EventKind::response_arrive) == Tokens{1, 2, 3, 4});
  const Cycle came = 200 + kMemory;
  CHECK(b.answers() == Cycles{came + 3 + 7, came + 5 + 7, came + 7 + 7, came + 9 + 7});
  CHECK(b.slice.miss_cycles() == 95 + 85 + 1);
}

TEST_CASE("a third waiter of a line with two merge places stalls the queue until the line comes, and hits then") {
  SystemConfig config = one_set();
  config.llc.mshr_merges = 2;
  Bench b(config);
  b.read(200, 5, 1), b.read(200, 5, 2), b.read(200, 5, 3);
  b.run(1000);
  CHECK(b.c.count[Counter::llc_stalls] == 1);
  CHECK(b.c.count[Counter::llc_merges] == 1);
  CHECK(b.c.count[Counter::llc_hits] == 1);
  CHECK(b.c.count[Counter::dram_reads] == 1);
  CHECK(b.slice.queue_cycles() == 0 + 1 + kMemory);
}

TEST_CASE("with two MSHRs taken a third miss stalls its queue, not the other, and goes on when the first line comes") {
  SystemConfig config = one_set(2);
  config.llc.mshrs = 2;
  MemoryLog log;
  Bench b(config, &log);
  b.write_lines(1);
  b.read(200, 1, 1), b.read(200, 2, 2), b.read(200, 3, 3), b.read(200, 0, 4);
  b.arrive(210, b.packet(PacketKind::read, 0, 5, 1), LlcSlice::kFromLinks);
  b.run(200 + kMemory);
  CHECK(log.reads == Cycles{200, 201});
  CHECK(b.c.count[Counter::llc_stalls] == 2);  // it tries again when the other chip's answer has left
  CHECK(b.answers().empty());
  CHECK(b.tokens(EventKind::egress_arrive) == Tokens{5});  // a hit of the other chip
  CHECK(b.cycles(EventKind::egress_arrive) == Cycles{210 + kAnswer});
  b.run(1000);
  CHECK(log.reads == Cycles{200, 201, 200 + kMemory});
  CHECK(log.read_lines == Lines{1, 2, 3});
  CHECK(b.answers().size() == 4);
  CHECK(b.slice.credits_home());
  CHECK_FALSE(b.slice.fetching());
}

TEST_CASE("a full memory queue holds a miss, which takes the credit that comes free in that very cycle") {
  MemoryLog log;
  Bench b(one_set(), &log);
  Gate& gate = b.channels[0].gate();
  take_all(gate);
  b.read(200, 1);
  b.at(300, [&] { b.c.release(gate); });
  b.run(1000);
  CHECK(log.reads == Cycles{300});
  CHECK(b.answers() == Cycles{300 + kMemory + kAnswer});
}

TEST_CASE(
    "a line replaces the least recently used: a clean one is forgotten, a dirty one goes to memory when the line comes") {
  MemoryLog log;
  Bench b(one_set(), &log);
  b.write_lines(8);
  b.read(150, 0);   // now line 1 is the oldest
  b.read(200, 20);  // replaces it
  b.run(200 + kMemory);
  CHECK(b.lines() == Lines{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(log.writes.empty());
  b.run(200 + kMemory + 1);
  CHECK(b.lines() == Lines{0, 2, 3, 4, 5, 6, 7, 20});
  CHECK(log.writes == Cycles{200 + kMemory});
  CHECK(log.written_lines == Lines{1});
  CHECK(b.slice.writebacks() == 1);
  b.run(1000);
  CHECK(b.slice.writebacks() == 0);
  CHECK(b.c.count[Counter::llc_writebacks] == 1);
  CHECK(b.c.count[Counter::llc_writeback_sectors] == 4);
  CHECK(b.c.count[Counter::dram_writes] == 1);
  for (const std::uint64_t line : {0, 2, 3, 4, 5, 6, 7}) b.read(1000, line);  // so that the clean line is the oldest
  b.read(1100, 21);
  b.run(2000);
  CHECK(b.lines() == Lines{0, 2, 3, 4, 5, 6, 7, 21});
  CHECK(b.c.count[Counter::llc_writebacks] == 1);
}

/// A write buffer and a memory queue of one: memory has served the first line 20 cycles after it came (activate), and the
/// second, of the same row, 8 later (the first one's bursts).
SystemConfig narrow_way_out() {
  SystemConfig config = one_set();
  config.llc.write_buffer = config.dram.queue = 1;
  return config;
}

TEST_CASE("with a write buffer of one, a write that replaces a dirty line waits until the last victim has left") {
  MemoryLog log;
  Bench b(narrow_way_out(), &log);
  b.write_lines(8);
  b.write(200, 20), b.write(200, 21), b.write(200, 22);
  b.run(1000);
  CHECK(log.writes == Cycles{200, 220, 228});
  CHECK(log.written_lines == Lines{0, 1, 2});
  CHECK(b.answers() == Cycles{200 + 1 + 7, 201 + 1 + 7, 220 + 1 + 7});
  CHECK(b.c.count[Counter::llc_stalls] == 1);
}

TEST_CASE("a slice looks up one line per cycle, a sectored one four sectors, from its two queues in turn") {
  for (const bool sectored : {false, true}) {
    CAPTURE(sectored);
    SystemConfig config = one_set(2);
    config.llc.sectored = sectored;
    LookupLog log;
    Bench b(config);
    b.write_lines(1);
    b.c.observer = &log;
    for (std::uint32_t i = 0; i < 3; ++i) {
      Packet own = b.packet(PacketKind::read, 0, 1 + i), other = b.packet(PacketKind::read, 0, 11 + i, 1);
      own.sectors = other.sectors = 0x1;
      b.arrive(200, own);
      b.arrive(200, other, LlcSlice::kFromLinks);
    }
    b.run(1000);
    CHECK(log.tokens == Tokens{1, 11, 2, 12, 3, 13});
    CHECK(log.cycles == (sectored ? Cycles{200, 200, 200, 200, 201, 201} : Cycles{200, 201, 202, 203, 204, 205}));
  }
}

TEST_CASE("an answer without room at its SM's port lets one to another port pass, and goes with the next credit") {
  Bench b(one_set());
  b.write_lines(1);
  Gate& full = b.responses.gate(0);
  take_all(full);
  Packet other = b.packet(PacketKind::read, 0, 3);
  other.sm = 1;
  b.read(200, 0, 1), b.read(200, 0, 2), b.arrive(200, other);
  b.at(300, [&] { b.c.release(full); });
  b.run(1000);
  CHECK(b.tokens(EventKind::response_arrive) == Tokens{3, 1});
  CHECK(b.answers() == Cycles{202 + kAnswer, 300 + kAnswer});
}

TEST_CASE("under SM-side caching another chip's read goes past the tags, as many at a time as there are bypass entries") {
  SystemConfig config = one_set(2);
  config.llc.bypass_reads = 1;
  MemoryLog log;
  Bench b(config, &log);
  b.write_lines(1);
  b.c.role = LlcRole::sm_side;
  b.arrive(200, b.packet(PacketKind::read, 0, 1, 1), LlcSlice::kFromLinks);
  b.arrive(200, b.packet(PacketKind::read, 9, 2, 1), LlcSlice::kFromLinks);
  b.run(1000);
  CHECK(log.reads == Cycles{200, 200 + kMemory});
  CHECK(b.c.count[Counter::llc_bypasses] == 2);
  CHECK(b.c.count[Counter::llc_accesses] == 0);
  CHECK(b.c.count[Counter::llc_lookup_bytes] == 2 * 128);  // they take the time of a look-up
  CHECK(b.tokens(EventKind::egress_arrive) == Tokens{1, 2});
  CHECK(b.cycles(EventKind::egress_arrive).front() == 200 + kMemory + kAnswer);
  CHECK(b.lines() == Lines{0});
}

TEST_CASE("under SM-side caching reads of another chip are under way in memory for a look, and its write-backs are not") {
  Bench b(one_set(2));
  b.c.role = LlcRole::sm_side;
  b.arrive(200, b.packet(PacketKind::read, 0, 1, 1), LlcSlice::kFromLinks);
  for (const std::uint64_t line : {1, 2, 3})
    b.arrive(200, b.packet(PacketKind::writeback, line, 0, 1), LlcSlice::kFromLinks);
  const auto owed = [&](Cycle end) {
    b.run(end);
    WaitCensus found(2);
    Counters depth;
    Census census{.to = found, .depth = depth, .now = end};
    b.slice.take_census(census);
    return found.memory_owes;
  };
  CHECK(owed(220) == 1);
  CHECK(owed(1000) == 0);
}

TEST_CASE("llc.bypass = direct: what passes the slice by takes neither the time nor the bandwidth of a look-up") {
  for (const LlcBypass bypass : {LlcBypass::look_up, LlcBypass::direct}) {
    CAPTURE(bypass == LlcBypass::direct);
    SystemConfig config = one_set(2);
    config.llc.bypass = bypass;
    MemoryLog log;
    Bench b(config, &log);
    b.c.role = LlcRole::sm_side;
    const bool direct = bypass == LlcBypass::direct;
    const Cycle latency = config.llc.latency_cycles;
    REQUIRE(latency > 0);
    // Three at once from the links: one look-up per cycle, or none. They wait in the channel; the queue shows when they
    // left.
    for (const std::uint64_t line : {0, 1, 2}) {
      REQUIRE(b.slice.gate(LlcSlice::kFromLinks).acquire());
      b.slice.reach(200, LlcSlice::kFromLinks, b.packet(PacketKind::read, line, 0, 1));
    }
    b.run(200 + (direct ? 0 : latency) + 1);
    CHECK(b.c.count[Counter::llc_bypasses] == (direct ? 3 : 1));
    CHECK(b.c.count[Counter::llc_lookup_bytes] == (direct ? 0 : 128));
    // An atomic is executed here, and looked up in any case.
    REQUIRE(b.slice.gate(LlcSlice::kFromLinks).acquire());
    b.slice.reach(2000, LlcSlice::kFromLinks, b.packet(PacketKind::atomic, 9, 0, 1));
    b.run(2000 + latency);
    CHECK(b.c.count[Counter::llc_accesses] == 0);
    b.run(2000 + latency + 1);
    CHECK(b.c.count[Counter::llc_accesses] == 1);
  }
}

TEST_CASE("each scope of a flush leaves the lines that it says, writes the dirty ones back, and settles once") {
  struct Case {
    Flush scope;
    Lines left;
    std::uint64_t writebacks, flushed;
    bool clean;  ///< no dirty line is left
  };
  // Of this chip: 0 clean, 1 dirty. Of the other: 2 clean, 3 dirty.
  const Case cases[] = {{Flush::all, {}, 2, 4, true},
                        {Flush::dirty, {0, 2}, 2, 2, true},
                        {Flush::remote, {0, 1}, 1, 2, false},
                        {Flush::clean, {0, 1, 2, 3}, 2, 0, true},
                        {Flush::settle, {0, 1}, 2, 2, true}};
  for (const Case& k : cases) {
    CAPTURE(static_cast<int>(k.scope));
    Bench b(one_set(2));
    b.c.role = LlcRole::sm_side;
    Packet remote_read = b.packet(PacketKind::read, 2), remote_write = b.packet(PacketKind::write, 3);
    remote_read.home = remote_write.home = 1;
    b.read(0, 0), b.write(0, 1), b.arrive(0, remote_read), b.arrive(0, remote_write);
    b.run(200);
    REQUIRE(b.cycles(EventKind::egress_arrive).size() == 1);  // the read of line 2: the home answers
    Packet data = b.noted.front().event.packet;
    for (const Alone::Noted& n : b.noted)
      if (n == EventKind::egress_arrive) data = n.event.packet;
    data.kind = PacketKind::read_data;
    b.c.schedule(300, EventKind::slice_arrive, 0, LlcSlice::kFill, data);
    b.run(400);
    REQUIRE(b.lines() == Lines{0, 1, 2, 3});
    b.noted.clear();
    b.at(500, [&] { b.slice.begin_flush(k.scope); });
    b.run(1000);
    CHECK_FALSE(b.slice.flushing());
    CHECK(b.lines() == k.left);
    CHECK(b.c.count[Counter::llc_writebacks] == k.writebacks);
    CHECK(b.c.count[Counter::llc_flushed_lines] == k.flushed);
    CHECK(b.c.count[Counter::dram_writes] == k.writebacks - 1);
    REQUIRE(b.cycles(EventKind::egress_arrive).size() == 1);  // line 3 goes home
    CHECK(b.noted.back().event.packet.line == LineAddr{3});
    CHECK(b.slice.writebacks() == 1);  // until the home says that it has it
    b.at(1000, [&] { b.slice.begin_flush(Flush::dirty); });
    b.run(2000);
    CHECK(b.c.count[Counter::llc_writebacks] == (k.clean ? k.writebacks : k.writebacks + 1));
  }
}

TEST_CASE("a flush waits for the write buffer and goes on whenever memory takes a line") {
  MemoryLog log;
  Bench b(narrow_way_out(), &log);
  b.write_lines(3);
  b.at(200, [&] { b.slice.begin_flush(Flush::all); });
  b.run(220);
  CHECK(b.slice.flushing());
  CHECK(b.lines() == Lines{2});  // of two that left, one is still in the write buffer
  b.run(221);
  CHECK_FALSE(b.slice.flushing());
  CHECK(b.lines().empty());
  CHECK(b.slice.writebacks() == 3);
  b.run(1000);
  CHECK(log.writes == Cycles{200, 220, 228});
  CHECK(log.written_lines == Lines{0, 1, 2});
  CHECK(b.slice.writebacks() == 0);
}

}  // namespace
}  // namespace atl::slice_alone_test
