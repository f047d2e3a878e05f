#include "run.hpp"

namespace atl::energy_events_test {
namespace {

using namespace test;

constexpr std::uint64_t kA = 0x10000;
constexpr std::uint32_t kHeader = 8, kLine = 8 + 128;

/// Bytes over the crossbars of a chip, with chip 0 the home of all pages.
struct Crossbar {
  std::uint64_t request, response, link;
  bool operator==(const Crossbar&) const = default;
};

/// What each chip's crossbars move when warp `chip` of a kernel acts.
std::vector<Crossbar> bytes_after(const SystemConfig& config, std::uint32_t chip, void (*act)(Program&)) {
  ScriptedWorkload w;
  w.kernel(config.chips);
  act(w.warp(chip));
  const RunResult r = run(config, w);
  std::vector<Crossbar> out;
  for (const ChipResult& c : r.chips) {
    const Counters& n = c.totals;
    out.push_back({n[Counter::noc_request_bytes], n[Counter::noc_response_bytes], n[Counter::noc_link_bytes]});
  }
  return out;
}

TEST_CASE("a load of the own chip's memory crosses the crossbar once each way and meets no inter-chip port") {
  const auto bytes = bytes_after(tiny(3), 0, [](Program& p) { p.load(kA, 0); });
  CHECK(bytes[0] == Crossbar{kHeader, kLine, 0});
  CHECK(bytes[1] == Crossbar{0, 0, 0});
}

TEST_CASE("a remote load crosses the home's crossbar between port and slice as well, and none of a chip on the way") {
  SystemConfig config = tiny(4);
  const auto bytes = bytes_after(config, 2, [](Program& p) { p.load(kA, 0); });
  CHECK(bytes[2] == Crossbar{kHeader, kLine, 0});
  CHECK(bytes[0] == Crossbar{0, 0, kHeader + kLine});
  CHECK(bytes[1] == Crossbar{0, 0, 0});
  CHECK(bytes[3] == Crossbar{0, 0, 0});
}

TEST_CASE("under SM-side caching a remote miss goes between slice and port in both chips") {
  SystemConfig config = tiny(2);
  config.llc.organisation = LlcOrganisation::sm_side;
  const auto bytes = bytes_after(config, 1, [](Program& p) { p.load(kA, 0); });
  CHECK(bytes[1] == Crossbar{kHeader, kLine, kHeader + kLine});
  CHECK(bytes[0] == Crossbar{0, 0, kHeader + kLine});
}

TEST_CASE("a remote store that is written through leaves the slice that it went to, and is acknowledged from the home's") {
  SystemConfig config = tiny(2);
  config.llc.organisation = LlcOrganisation::fixed_split;
  config.llc.local_ways = 2;
  config.llc.remote_writes = RemoteWrites::through;
  const auto bytes = bytes_after(config, 1, [](Program& p) { p.store(kA); });
  CHECK(bytes[1] == Crossbar{kLine, kHeader, kLine});
  CHECK(bytes[0] == Crossbar{0, 0, kLine + kHeader});
}

TEST_CASE("of a line that is written back the dirty sectors alone are read out of the slice") {
  SystemConfig config = tiny(2);
  config.llc.organisation = LlcOrganisation::sm_side;  // flushes at the kernel's end
  ScriptedWorkload w;
  w.kernel(config.chips);
  w.warp(0).store(kA, 0x5);
  w.warp(1).store(kA + 0x1000, 0x1);
  const RunResult r = run(config, w);
  CHECK(total(r, Counter::llc_writebacks) == 2);
  CHECK(r.chips[0].totals[Counter::llc_writeback_sectors] == 2);
  CHECK(r.chips[1].totals[Counter::llc_writeback_sectors] == 1);
}

}  // namespace
}  // namespace atl::energy_events_test
