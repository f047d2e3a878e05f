#include <doctest/doctest.h>

#include "channel_alone.hpp"

/// Which request a channel serves next: row hits before older requests up to `row_hit_cap`, the direction of the bus, and
/// the age from which a request waits no longer.
namespace atl::dram_order_test {
namespace {

using namespace test;
using Order = std::vector<std::uint32_t>;

constexpr DramTiming kTiming{.clock_mhz = 1000,
                             .burst_bytes = 128,
                             .banks = 2,
                             .bank_groups = 2,
                             .ccd = 4,
                             .ccdl = 4,
                             .rrd = 6,
                             .rcd = 12,
                             .ras = 28,
                             .rp = 12,
                             .rc = 40,
                             .cl = 12,
                             .wl = 4,
                             .cdlr = 5,
                             .wr = 12,
                             .rtp = 4,
                             .faw = 0};

SystemConfig config(std::uint32_t queue, std::uint32_t row_hit_cap) {
  SystemConfig c = one_channel(kTiming, kTiming.clock_mhz);
  c.dram.queue = queue, c.dram.row_hit_cap = row_hit_cap;
  return c;
}

TEST_CASE("row_hit_cap row hits go before an older request of their bank, and not one more") {
  // The first opens row 0; the second wants another row; all others hit row 0.
  std::vector<DramRequest> requests(8);
  requests[1].row = 1;
  CHECK(ChannelAlone(config(16, 1), requests).served() == Order{0, 2, 1, 3, 4, 5, 6, 7});
  CHECK(ChannelAlone(config(16, 3), requests).served() == Order{0, 2, 3, 4, 1, 5, 6, 7});
  CHECK(ChannelAlone(config(16, 5), requests).served() == Order{0, 2, 3, 4, 5, 6, 1, 7});
  CHECK(ChannelAlone(config(16, 16), requests).served() == Order{0, 2, 3, 4, 5, 6, 7, 1});
}

TEST_CASE("the count of row hits begins anew once the oldest request has had its turn") {
  // 3 and 4 pass 1 by; 5 and 6 hit the row that 1 opened, and pass 2 by.
  std::vector<DramRequest> requests(8);
  for (const std::uint32_t r : {1, 5, 6, 7}) requests[r].row = 1;
  requests[2].row = 2;
  CHECK(ChannelAlone(config(16, 2), requests).served() == Order{0, 3, 4, 1, 5, 6, 2, 7});
}

TEST_CASE("a request in the direction of the bus goes before a row hit that turns it round") {
  const std::vector<DramRequest> requests{{}, {.write = true}, {.row = 1}};
  CHECK(ChannelAlone(config(16, 4), requests).served() == Order{0, 2, 1});
  CHECK(ChannelAlone(config(16, 1), {{}, {.write = true}, {.row = 1}, {.row = 1}}).served() == Order{0, 2, 1, 3});
}

TEST_CASE("after a write the bus goes on with a write before an older read, whose data would begin later") {
  // The rows of both banks are open: column commands could be at 300, the write's data at 304, the read's at 312.
  const std::vector<DramRequest> requests{
      {.bank = 1}, {.at = 50, .write = true}, {.at = 300, .bank = 1}, {.at = 300, .write = true}};
  CHECK(ChannelAlone(config(16, 16), requests).served() == Order{0, 1, 3, 2});
}

TEST_CASE("a bank whose row is open goes before an older request of another bank that waits for its activate") {
  const std::vector<DramRequest> requests{{}, {.at = 200, .bank = 1}, {.at = 201}, {.at = 202}};
  const ChannelAlone c(config(16, 16), requests);
  CHECK(c.served() == Order{0, 2, 3, 1});
  CHECK(c.all(DramCommand::read) == std::vector<double>{12, 201, 205, 212});
}

TEST_CASE("of two banks that are ready at once the older request goes first") {
  const std::vector<DramRequest> requests{{}, {.bank = 1}, {.at = 200, .bank = 1}, {.at = 200}};
  CHECK(ChannelAlone(config(16, 16), requests).served() == Order{0, 1, 2, 3});
}

/// A write comes while reads of the other bank keep the bus busy: read k has its column command at 200 + 4 k. The write
/// would turn the bus round, so reads go first for as long as they may.
ChannelAlone write_among_reads(Cycle write_at, const SystemConfig& c) {
  std::vector<DramRequest> requests{{}, {.bank = 1}, {.at = 200}, {.at = 200}, {.at = 200}};
  requests.push_back({.at = write_at, .bank = 1, .write = true});
  requests.resize(100, {.at = 205});
  return {c, requests};
}

TEST_CASE("a request older than ccd x row_hit_cap x banks + rc x queue goes before all others, and no younger one does") {
  struct Case {
    std::uint32_t queue, row_hit_cap;
    Cycle age;
  };
  for (const Case& c : {Case{4, 3, 4 * 3 * 2 + 40 * 4}, Case{4, 5, 4 * 5 * 2 + 40 * 4}, Case{5, 3, 4 * 3 * 2 + 40 * 5}}) {
    CAPTURE(c.age);
    // Ages are looked at when a read is due, here when the write is `age` + 1 cycles old, and when it is `age`. Its command
    // then waits until its data may follow those of the last read, which began 4 cycles before.
    const Cycle due = 204 + c.age;
    const Cycle follows = due - 4 + 12 + 4 - 4;
    const ChannelAlone older = write_among_reads(203, config(c.queue, c.row_hit_cap));
    CHECK(older.all(DramCommand::write).front() == follows);
    CHECK(older.served().at(2 + (due - 200) / 4) == 5);
    const ChannelAlone younger = write_among_reads(204, config(c.queue, c.row_hit_cap));
    CHECK(younger.all(DramCommand::write).front() == follows + 4);
    CHECK(younger.served().at(2 + (due + 4 - 200) / 4) == 5);
  }
}

}  // namespace
}  // namespace atl::dram_order_test
