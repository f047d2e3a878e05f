#include <doctest/doctest.h>

#include "channel_alone.hpp"

/// Each timing of a channel alone: a few requests for which this timing decides, and the cycle worked out by hand.
namespace atl {
namespace {

using namespace test;

/// DRAM clocks are core cycles.
SystemConfig config(const DramTiming& timing = kPrimes) { return one_channel(timing, timing.clock_mhz); }

using Requests = std::vector<DramRequest>;
using Kind = DramCommand::Kind;

/// When the last command of this kind comes, if this request follows the others.
double last(Kind kind, Requests requests, const DramRequest& request, const SystemConfig& c = config()) {
  requests.push_back(request);
  return ChannelAlone(c, std::move(requests)).all(kind).back();
}

/// The last request waits for `ready` if it comes a cycle before, and for nothing if it comes then or later.
void check_ready(double ready, Kind kind, const Requests& before, DramRequest request, const SystemConfig& c = config()) {
  const auto cycle = static_cast<Cycle>(ready);
  for (const Cycle at : {cycle - 1, cycle, cycle + 1}) {
    CAPTURE(at);
    request.at = at;
    CHECK(last(kind, before, request, c) == std::max(ready, static_cast<double>(at)));
  }
}

/// These banks have row 0 open, and nothing that was done to that end can hold up a command at 200 or later.
Requests opened(std::initializer_list<std::uint32_t> banks) {
  Requests requests;
  for (const std::uint32_t bank : banks) requests.push_back({.bank = bank});
  return requests;
}
Requests opened(std::initializer_list<std::uint32_t> banks, std::initializer_list<DramRequest> then) {
  Requests requests = opened(banks);
  requests.insert(requests.end(), then);
  return requests;
}

TEST_CASE("RCD: the column command comes exactly that long after the activate") {
  const ChannelAlone read(config(), {{.at = 100}}), write(config(), {{.at = 100, .write = true}});
  CHECK(read.all(Kind::activate) == std::vector<double>{100});
  CHECK(read.all(Kind::read) == std::vector<double>{100 + 13});
  CHECK(write.all(Kind::write) == std::vector<double>{100 + 13});
}

TEST_CASE("a request for an open row gets its column command in the cycle in which it comes") {
  CHECK(last(Kind::read, opened({0}), {.at = 200}) == 200);
  CHECK(last(Kind::write, opened({0}), {.at = 200, .write = true}) == 200);
}

TEST_CASE("CL, WL and the burst: data end, and answers leave, exactly that long after the column command") {
  CHECK(ChannelAlone(config(), {{.at = 100}}).answered() == std::vector<Cycle>{100 + 13 + 17 + 3 + 41 + 2 * 3});
  CHECK(ChannelAlone(config(), {{.at = 100, .write = true}}).answered() == std::vector<Cycle>{100 + 13 + 6 + 3});
  SystemConfig short_bursts = config();
  short_bursts.dram.timing.burst_bytes = 32;
  const auto answered = [&](std::uint8_t sectors) {
    return ChannelAlone(short_bursts, {{.at = 100, .write = true, .sectors = sectors}}).answered().front();
  };
  CHECK(answered(0x1) == 100 + 13 + 6 + 3);
  CHECK(answered(0x5) == 100 + 13 + 6 + 2 * 3);
  CHECK(answered(0xF) == 100 + 13 + 6 + 4 * 3);
}

TEST_CASE("sectors take the bursts in which they lie: two may share one or not") {
  const auto cycles = [](std::uint32_t burst_bytes, std::uint8_t sectors) {
    SystemConfig c = config();
    c.dram.timing.burst_bytes = burst_bytes;
    return ChannelAlone(c, {{.at = 100, .write = true, .sectors = sectors}}).answered().front() - (100 + 13 + 6);
  };
  for (const std::uint8_t one : {0x1, 0x2, 0x3, 0x4, 0x8, 0xC}) CHECK(cycles(64, one) == 3);
  for (const std::uint8_t two : {0x5, 0x6, 0x9, 0xA, 0x7, 0xE, 0xF}) CHECK(cycles(64, two) == 2 * 3);
  for (const std::uint8_t any : {0x1, 0x6, 0x9, 0xF}) CHECK(cycles(128, any) == 3);
  CHECK(cycles(16, 0x5) == 4 * 3);
}

TEST_CASE("RP: the activate comes exactly that long after the precharge") {
  const ChannelAlone c(config(), opened({0}, {{.at = 200, .row = 1}}));
  CHECK(c.all(Kind::precharge) == std::vector<double>{200});
  CHECK(c.all(Kind::activate) == std::vector<double>{0, 200 + 11});
}

TEST_CASE("RAS: a row is not closed earlier after its activate") {
  check_ready(29, Kind::precharge, {{}}, {.row = 1});  // its read was at 13: RTP would allow 20
}

TEST_CASE("RC: a bank is not activated again earlier") {
  CHECK(last(Kind::activate, {{}}, {.at = 47 - 11 - 1, .row = 1}) == 47);
  CHECK(last(Kind::activate, {{}}, {.at = 47 - 11, .row = 1}) == 47);
  CHECK(last(Kind::activate, {{}}, {.at = 47 - 11 + 1, .row = 1}) == 48);
}

TEST_CASE("RRD: another bank is not activated earlier") { check_ready(5, Kind::activate, {{}}, {.bank = 1}); }

TEST_CASE("FAW: a fifth bank is not activated within the window, and one that has no window follows at RRD") {
  check_ready(31, Kind::activate, opened({0, 1, 2, 3}), {.bank = 4});
  // The window moves on: the sixth counts from the second, at 5.
  check_ready(5 + 31, Kind::activate, opened({0, 1, 2, 3, 4}), {.bank = 5});
  SystemConfig without = config();
  without.dram.timing.faw = 0;
  check_ready(4 * 5, Kind::activate, opened({0, 1, 2, 3}), {.bank = 4}, without);
}

TEST_CASE("CCD: a column command of another bank group does not follow earlier, nor do data overlap") {
  check_ready(200 + 3, Kind::read, opened({0, 1}, {{.at = 200}}), {.bank = 1});
  check_ready(200 + 3, Kind::write, opened({0, 1}, {{.at = 200, .write = true}}), {.bank = 1, .write = true});
}

TEST_CASE("CCD: an access of several bursts holds the bus for all of them") {
  SystemConfig c = config();
  c.dram.timing.burst_bytes = 32;
  check_ready(200 + 4 * 3, Kind::read, opened({0, 1}, {{.at = 200}}), {.bank = 1}, c);
  check_ready(200 + 3 * 3, Kind::read, opened({0, 1}, {{.at = 200, .sectors = 0xB}}), {.bank = 1}, c);
}

TEST_CASE("CCDL: a column command of the same bank group does not follow earlier, be it of the same bank or another") {
  check_ready(200 + 8, Kind::read, opened({0}, {{.at = 200}}), {});
  check_ready(200 + 8, Kind::read, opened({0, 4}, {{.at = 200}}), {.bank = 4});
  SystemConfig c = config();
  c.dram.timing.burst_bytes = 64;  // the second of two column commands comes at 203
  check_ready(203 + 8, Kind::read, opened({0, 4}, {{.at = 200}}), {.bank = 4}, c);
}

TEST_CASE("CCDL: a column command of another bank group in between does not let one of the same bank group follow earlier") {
  check_ready(200 + 8, Kind::read, opened({0, 1, 4}, {{.at = 200}, {.at = 203, .bank = 1}}), {.bank = 4});
}

TEST_CASE("reads to writes: data of a write do not start before those of a read end") {
  // The read's data are on the bus from 217 to 220.
  check_ready(220 - 6, Kind::write, opened({0, 1}, {{.at = 200}}), {.bank = 1, .write = true});
}

TEST_CASE("CDLR: a read does not follow earlier after the end of a write's data, be it of the same bank or another") {
  // The write's data end at 200 + 6 + 3.
  for (const std::uint32_t bank : {0u, 1u, 4u}) {
    check_ready(209 + 9, Kind::read, opened({0, 1, 4}, {{.at = 200, .write = true}}), {.bank = bank});
  }
}

TEST_CASE("WR: a row is not closed earlier after the end of a write's data") {
  check_ready(209 + 23, Kind::precharge, opened({0}, {{.at = 200, .write = true}}), {.row = 1});
}

TEST_CASE("RTP: a row is not closed earlier after the last column command of a read") {
  check_ready(200 + 7, Kind::precharge, opened({0}, {{.at = 200}}), {.row = 1});
  SystemConfig c = config();
  c.dram.timing.burst_bytes = 32;
  check_ready(209 + 7, Kind::precharge, opened({0}, {{.at = 200}}), {.row = 1}, c);
}

TEST_CASE("a memory clock that is no multiple of the core's keeps its fractions: only answers wait for the next cycle") {
  DramTiming timing = kPrimes;
  timing.clock_mhz = 1500;
  const SystemConfig c = one_channel(timing, 1000);
  const ChannelAlone channel(c, {{}, {.bank = 1}});
  // In clocks, of which 1.5 are a cycle: activates at 0 and 5, reads at 13 and 18, data until 33 and 38.
  CHECK(channel.all(Kind::activate)[1] == doctest::Approx(5).epsilon(1e-4));
  CHECK(channel.all(Kind::read)[0] == doctest::Approx(13).epsilon(1e-4));
  CHECK(channel.all(Kind::read)[1] == doctest::Approx(18).epsilon(1e-4));
  CHECK(channel.answered() == std::vector<Cycle>{22 + 41 + 2 * 3, 26 + 41 + 2 * 3});  // 33 / 1.5 = 22, 38 / 1.5 = 25.3
}

TEST_CASE("a memory clock four times the core's lets four column commands go in a cycle") {
  DramTiming timing = kPrimes;
  timing.clock_mhz = 4000, timing.ccd = 1, timing.ccdl = 4;
  const SystemConfig c = one_channel(timing, 1000);
  Requests requests = opened({0, 1, 2, 3});
  for (std::uint32_t i = 0; i < 8; ++i) requests.push_back({.at = 200, .bank = i % 4});
  const ChannelAlone channel(c, requests);
  const std::vector<double> reads = channel.all(Kind::read);
  for (std::size_t i = 0; i < 8; ++i) CHECK(reads[4 + i] == 4 * 200 + i);
  // Data end 17 + 1 clocks after a command: at 204.5, 204.75, 205 and 205.25 cycles for the first four.
  const std::vector<Cycle> ends{205, 205, 205, 206};
  for (std::size_t i = 0; i < 4; ++i) CHECK(channel.answered()[4 + i] == ends[i] + 41 + 2 * 3);
}

TEST_CASE("a memory clock half the core's makes every timing twice as many cycles") {
  DramTiming timing = kPrimes;
  timing.clock_mhz = 500;
  const ChannelAlone channel(one_channel(timing, 1000), {{.at = 100}, {.at = 100, .row = 1}});
  // In clocks from 50 on: RAS decides when the first row is closed, RC when the second is opened.
  CHECK(channel.all(Kind::precharge) == std::vector<double>{50 + 29});
  CHECK(channel.all(Kind::activate) == std::vector<double>{50, 50 + 47});
  CHECK(channel.answered() == std::vector<Cycle>{100 + 2 * (13 + 17 + 3) + 47, 100 + 2 * (47 + 13 + 17 + 3) + 47});
}

}  // namespace
}  // namespace atl
