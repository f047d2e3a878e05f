#include <doctest/doctest.h>

#include "channel_alone.hpp"

// The counter dram.wanted, by which the Dynamic LLC tells that a memory is in full use: bus use, and what was lost to rows.
namespace atl {
namespace {

using namespace test;

// An idle channel takes RP + RCD + CL = 41 clocks of kPrimes, which are core cycles, to the first of 3 clocks of data.

struct ChannelUse {
  std::uint64_t busy, wanted;
};
ChannelUse use(std::vector<DramRequest> requests) {
  const ChannelAlone channel(one_channel(kPrimes, kPrimes.clock_mhz), std::move(requests));
  return {channel.counted(Counter::dram_bus_busy), channel.counted(Counter::dram_wanted)};
}

TEST_CASE("requests that come one by one lose nothing: only the data's time is wanted") {
  const ChannelUse u = use({{.at = 100}, {.at = 300, .row = 1}, {.at = 500, .bank = 3}, {.at = 700, .bank = 3}});
  CHECK(u.busy == 12);
  CHECK(u.wanted == 12);
}

TEST_CASE("a second row of a bank: its data come at 177, the bus was free from 133, and an idle channel had taken to 141") {
  // Activate 100, read 113, data 130 to 133; activate again at 100 + RC = 147, read 160, data 177 to 180.
  const ChannelUse u = use({{.at = 100}, {.at = 100, .row = 1}});
  CHECK(u.busy == 6);
  CHECK(u.wanted == 6 + 177 - 141);
}

TEST_CASE("whoever has waited longest counts, not who is served: a hit in another bank that just came loses as much") {
  // Bank 1 is open. Its second request, of cycle 130, has its data at 147, when bank 0's second row has waited for 47
  // clocks; that row's data come at 177, 27 clocks after.
  const ChannelUse u = use({{.at = 50, .bank = 1}, {.at = 100}, {.at = 100, .row = 1}, {.at = 130, .bank = 1}});
  CHECK(u.busy == 12);
  CHECK(u.wanted == 12 + (147 - 141) + (177 - 150));
}

}  // namespace
}  // namespace atl
