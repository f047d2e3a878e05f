#include <algorithm>

#include "run.hpp"

namespace atl {
namespace {

using namespace test;

/// CTAs that one SM runs at a time: those that start before the first of them ends.
std::size_t resident(SystemConfig config, std::uint32_t warps, const std::function<void(KernelInfo&)>& limit) {
  config.sm.count = 1;
  ScriptedWorkload w;
  limit(w.kernel(40, warps));
  for (std::uint64_t cta = 0; cta < 40; ++cta) w.warp(cta).store(0x10000 + cta * 128).pause(2000);
  StoreLog log;
  run(config, w, &log);
  const Cycle first = log.stores.at(0).cycle;
  return static_cast<std::size_t>(
      std::count_if(log.stores.begin(), log.stores.end(), [&](const auto& s) { return s.cycle < first + 2000; }));
}

TEST_CASE("an SM holds as many CTAs as slots, warps, registers and shared memory allow, whichever is least") {
  SystemConfig config = tiny(1);
  config.sm.warps = 48, config.sm.ctas = 16, config.sm.registers = 65536, config.sm.shared_kib = 96;
  CHECK(resident(config, 1, [](KernelInfo&) {}) == 16);
  CHECK(resident(config, 6, [](KernelInfo&) {}) == 8);
  CHECK(resident(config, 4, [](KernelInfo& k) { k.registers_per_thread = 100; }) == 5);  // 65536 / (100 * 128)
  CHECK(resident(config, 4, [](KernelInfo& k) { k.shared_bytes = 30 * 1024; }) == 3);
  CHECK(resident(config, 4, [](KernelInfo& k) { k.registers_per_thread = 100, k.shared_bytes = 30 * 1024; }) == 3);
}

TEST_CASE("a CTA that fits no SM is an input error that names the kernel") {
  ScriptedWorkload w;
  w.kernel(1, 4).shared_bytes = 97 * 1024;
  CHECK_THROWS_AS(run(tiny(1), w), InputError);
}

/// SM of every CTA, in the order of the CTAs.
std::vector<std::uint32_t> sms(CtaToSm kind, std::uint32_t ctas) {
  SystemConfig config = tiny(1);
  config.sm.count = 4, config.noc.sms_per_cluster = 2;
  config.partition.cta_to_sm = kind;
  ScriptedWorkload w;
  w.kernel(ctas);
  for (std::uint64_t cta = 0; cta < ctas; ++cta) w.warp(cta).store(0x10000 + cta * 128).pause(500);
  StoreLog log;
  run(config, w, &log);
  std::vector<std::uint32_t> of(ctas);
  for (const auto& s : log.stores) of[(s.address - 0x10000) / 128] = s.sm;
  return of;
}

TEST_CASE("CTAs go to SMs in the order of the dispatcher") {
  using V = std::vector<std::uint32_t>;
  CHECK(sms(CtaToSm::round_robin, 6) == V{0, 1, 2, 3, 0, 1});
  CHECK(sms(CtaToSm::two_level, 6) == V{0, 2, 1, 3, 0, 2});
  CHECK(sms(CtaToSm::bcs, 10) == V{0, 0, 1, 1, 2, 2, 3, 3, 0, 0});
}

TEST_CASE("a chip starts one CTA per cycle, and the next one where a CTA has ended") {
  SystemConfig config = tiny(1);
  config.sm.ctas = 1;
  ScriptedWorkload w;
  w.kernel(3);
  w.warp(0).store(0x10000).pause(300);
  w.warp(1).store(0x10080).pause(100);
  w.warp(2).store(0x10100);
  StoreLog log;
  run(config, w, &log);
  REQUIRE(log.stores.size() == 3);
  CHECK(log.stores[1].cycle == log.stores[0].cycle + 1);
  CHECK(log.stores[2].sm == 1);
  // Exit issues when the pause is over; the slot is given away in that cycle, and the warp starts in the next.
  CHECK(log.stores[2].cycle == log.stores[1].cycle + 1 + 100 + 1);
}

TEST_CASE("a kernel without work on some chips ends") {
  ScriptedWorkload w;
  w.kernel(1);
  w.warp(0).load(0x10000, 0);
  CHECK(run(tiny(3), w).complete);
}

}  // namespace
}  // namespace atl
