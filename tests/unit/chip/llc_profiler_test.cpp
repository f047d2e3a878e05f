#include "core/chip/profile/llc_profiler.hpp"

#include <doctest/doctest.h>

namespace atl {
namespace {

SystemConfig clearing(CrdClear clear, bool always = false) {
  SystemConfig c;
  c.llc.organisation = LlcOrganisation::sac;
  c.llc.slices = 16, c.llc.size_kib = 4096, c.llc.ways = 16, c.line_bytes = 128;
  c.sac.crd_clear = clear, c.sac.crd_always = always;
  return c;
}

constexpr Packet kRequest{.line = {42}, .source = 1, .home = 1, .kind = PacketKind::read, .sectors = 0xF};

/// A request of chip 1 for one line that falls into a sampled set, in a profile that begins now; whether it was known.
bool known(LlcProfiler& p, bool changed = false) {
  p.turn(true, true, changed);
  p.home_request(0, 5, kRequest, LlcOutcome::fetch);
  return p.counts.crd_hits == 1;
}

TEST_CASE("the directory is emptied before each profile, when the organisation changed, or never") {
  LlcProfiler profile(clearing(CrdClear::profile)), change(clearing(CrdClear::change)), never(clearing(CrdClear::never));
  CHECK_FALSE(known(profile));
  CHECK_FALSE(known(profile));
  CHECK_FALSE(known(change));
  CHECK(known(change));
  change.turn(false, false, true);  // SM-side
  CHECK_FALSE(known(change, true));
  CHECK_FALSE(known(never));
  never.turn(false, false, true);
  CHECK(known(never, true));
}

TEST_CASE("a profile goes on when other modes come in the middle of a kernel, and begins anew with the next one") {
  LlcProfiler p(clearing(CrdClear::profile));
  known(p);
  p.own_request(kRequest);
  p.turn(true, false, false);
  CHECK(p.counts.crd_requests == 1);
  CHECK(p.counts.local == 1);
  p.home_request(0, 5, kRequest, LlcOutcome::fetch);
  CHECK(p.counts.crd_hits == 1);
  p.turn(true, true, false);
  CHECK(p.counts.crd_requests == 0);
  CHECK(p.counts.local == 0);
  p.home_request(0, 5, kRequest, LlcOutcome::fetch);
  CHECK(p.counts.crd_hits == 0);
}

TEST_CASE("both organisations' slices are counted of the same requests, and no atomic is") {
  LlcProfiler p(clearing(CrdClear::profile));
  p.turn(true, true, false);
  Packet r = kRequest;
  r.source = 3;
  p.home_request(2, 5, r, LlcOutcome::hit), p.home_request(2, 5, r, LlcOutcome::merge);
  r.kind = PacketKind::atomic;
  p.home_request(2, 5, r, LlcOutcome::hit), p.own_request(r);
  CHECK(p.counts.at_home[2] == 2);
  CHECK(p.counts.at_requester[3 * 16 + 2] == 2);
  CHECK(p.counts.requests == 2);
  CHECK(p.counts.hits == 1);
  CHECK(p.counts.merges == 1);
  CHECK(p.counts.local + p.counts.remote == 0);
}

TEST_CASE("what an atomic leaves at its home is there for the home's own requests, in either organisation") {
  LlcProfiler p(clearing(CrdClear::profile));
  p.turn(true, true, false);
  Packet r = kRequest;  // of chip 1, which is the home
  r.kind = PacketKind::atomic, r.source = 3;
  p.home_request(0, 5, r, LlcOutcome::fetch);
  CHECK(p.counts.crd_requests == 0);
  r.kind = PacketKind::read;
  p.home_request(0, 5, r, LlcOutcome::hit);
  CHECK(p.counts.crd_hits == 0);
  p.home_request(0, 5, kRequest, LlcOutcome::hit);
  CHECK(p.counts.crd_hits == 1);
}

TEST_CASE("between profiles the directory follows requests with sac.crd_always only, and nothing is counted") {
  for (const bool always : {false, true}) {
    LlcProfiler p(clearing(CrdClear::change, always));
    p.turn(true, true, false);
    p.turn(false, false, false);
    CHECK(p.watches(LlcRole::memory_side) == always);
    CHECK_FALSE(p.watches(LlcRole::sm_side));
    if (p.watches(LlcRole::memory_side)) p.home_request(0, 5, kRequest, LlcOutcome::fetch);
    CHECK(p.counts.crd_requests == 0);
    CHECK(p.counts.at_home[0] == 0);
    CHECK(known(p) == always);
    CHECK(p.counts.crd_requests == 1);
    CHECK(p.counts.at_home[0] == 1);
  }
}

TEST_CASE("without a policy that profiles nothing is followed, whatever sac.crd_always says") {
  for (const OrganisationRow& row : kOrganisations) {
    CAPTURE(row.word);
    SystemConfig c = clearing(CrdClear::profile, true);
    c.llc.organisation = row.value;
    CHECK(LlcProfiler(c).watches(LlcRole::memory_side) == row.traits.llc_profile);
  }
}

}  // namespace
}  // namespace atl
