#include "core/control/mode_rules.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/engine/error.hpp"

namespace atl {
namespace {

constexpr PolicyTraits kAnything{.roles = kAllRoles, .switches = true, .replicates = true, .llc_profile = true};

/// What the rules say of modes that chips may not obey; empty for those they may.
std::string refusal(const SystemConfig& c, const PolicyTraits& traits, const std::vector<Modes>& modes,
                    const std::vector<Modes>& before = {}) {
  try {
    ModeRules(c, traits, "mine").accept(modes, before, 2);
    return {};
  } catch (const InputError& e) {
    return e.what();
  }
}

std::vector<Modes> both(const Modes& m) { return {m, m}; }

SystemConfig two_chips() {
  SystemConfig c;
  c.chips = 2;
  return c;
}

TEST_CASE("modes are refused with the policy, the kernel and the field: their number, and what must be alike") {
  const SystemConfig c = two_chips();
  CHECK(refusal(c, kAnything, both({})).empty());
  CHECK(refusal(c, kAnything, {Modes{}}) ==
        "policy mine: its modes for kernel 2 cannot be obeyed: they are for 1 chips, and the system has 2");
  const auto differs = [&](const Modes& other) { return refusal(c, kAnything, {Modes{}, other}); };
  CHECK(differs({.llc = LlcRole::sm_side}).find("`llc` differs between chips 0 and 1") != std::string::npos);
  CHECK(differs({.epoch_cycles = 5}).find("`epoch_cycles` differs") != std::string::npos);
  CHECK(differs({.profile = true}).find("`profile` differs") != std::string::npos);
}

TEST_CASE("a role must be declared, and a change of role as well") {
  const SystemConfig c = two_chips();
  const PolicyTraits memory{.roles = LlcRole::memory_side};
  CHECK(refusal(c, memory, both({.llc = LlcRole::sm_side})).find("do not declare the role sm_side") != std::string::npos);
  const PolicyTraits either{.roles = Roles(LlcRole::memory_side) | LlcRole::sm_side};
  CHECK(refusal(c, either, both({.llc = LlcRole::sm_side}), both({})).find("do not declare `switches`") !=
        std::string::npos);
  CHECK(refusal(c, either, both({.llc = LlcRole::sm_side}), both({.llc = LlcRole::sm_side})).empty());
  CHECK(refusal(c, memory, both({.profile = true})).find("do not declare `llc_profile`") != std::string::npos);
}

TEST_CASE("what is no role is refused by its number, from the first one beyond them") {
  for (const unsigned n : {3u, 4u, 255u})
    CHECK(refusal(two_chips(), kAnything, both({.llc = static_cast<LlcRole>(n)}))
              .find("`llc` = " + std::to_string(n) + " is no role") != std::string::npos);
}

TEST_CASE("ways for local lines beside another role than split are refused") {
  for (const LlcRole role : {LlcRole::memory_side, LlcRole::sm_side}) {
    CHECK(refusal(two_chips(), kAnything, both({.llc = role})).empty());
    CHECK(refusal(two_chips(), kAnything, both({.llc = role, .local_ways = 8}))
              .find(fmt::format("`local_ways` = 8 is set, and the role is {}, not split", name_of(role))) !=
          std::string::npos);
  }
}

TEST_CASE("split needs ways for either kind of line, and a protocol that it is defined for") {
  SystemConfig c = two_chips();
  const auto split = [&](std::uint32_t ways) {
    return refusal(c, kAnything, both({.llc = LlcRole::split, .local_ways = ways}));
  };
  CHECK(split(1).empty());
  CHECK(split(c.llc.ways - 1).empty());
  CHECK(split(0).find("`local_ways` from 1 to 15, not 0") != std::string::npos);
  CHECK(split(c.llc.ways).find("not 16") != std::string::npos);
  c.coherence.protocol = CoherenceProtocol::full_map;
  CHECK(split(8).find("full_map is not defined for the role split") != std::string::npos);
  c.coherence.protocol = CoherenceProtocol::software, c.llc.remote_writes = RemoteWrites::back;
  CHECK(split(8).empty());
  c.llc.write_back_at_end = true;
  CHECK(split(8).find("needs `llc.write_back_at_end` = false") != std::string::npos);
  c.coherence.protocol = CoherenceProtocol::rec, c.llc.remote_writes = RemoteWrites::back;
  CHECK(split(8).find("set `llc.remote_writes` = through") != std::string::npos);
}

TEST_CASE("degrees need llc.replication, a legal level, and software coherence for all lines") {
  SystemConfig c = two_chips();
  const auto level = [&](std::uint32_t l, bool all) {
    return refusal(c, kAnything, both({.replication = {.level = l, .all_lines = all}}));
  };
  CHECK(level(1, false).find("set `llc.replication` = policy") != std::string::npos);
  c.llc.replication = Replication::policy;
  CHECK(level(1, false).empty());
  CHECK(refusal(c, {.roles = kAllRoles}, both({.replication = {.level = 1}})).find("do not declare `replicates`") !=
        std::string::npos);
  CHECK(level(1, true).empty());
  CHECK(level(9, false).find("`replication.level` = 9 is not from 0 to") != std::string::npos);
  c.coherence.protocol = CoherenceProtocol::hmg;
  CHECK(level(1, true).find("needs `coherence.protocol` = software") != std::string::npos);
}

TEST_CASE("a range is a power of two of lines, for a protocol with ranges") {
  SystemConfig c = two_chips();
  const auto range = [&](std::uint32_t bytes) { return refusal(c, kAnything, both({.range_bytes = bytes})); };
  CHECK(range(1024).find("has no ranges") != std::string::npos);
  c.coherence.protocol = CoherenceProtocol::rec;
  CHECK(range(1024).empty());
  CHECK(range(1000).find("is not a power of two from 256 to 8192") != std::string::npos);
  CHECK(range(128).find("is not a power of two") != std::string::npos);
  c.coherence.directory_entries = 4, c.coherence.directory_ways = 4, c.coherence.range_bytes = 256;
  CHECK(range(256).empty());
  CHECK(range(8192).find("no set of entries of `range_bytes` = 8192 has room") != std::string::npos);
}

TEST_CASE("a policy's range is within a page, unless wider ones are configured") {
  SystemConfig c = two_chips();
  c.coherence.protocol = CoherenceProtocol::rec;
  const auto range = [&](std::uint32_t bytes) { return refusal(c, kAnything, both({.range_bytes = bytes})); };
  CHECK(range(4096).empty());
  CHECK(range(8192).find("`range_bytes` = 8192 is more than a page holds (`partition.page_kib` = 4), and than "
                         "`coherence.range_bytes` asks for") != std::string::npos);
  c.coherence.range_bytes = 8192;
  CHECK(range(8192).empty());
  c.coherence.range_bytes = 1024, c.partition.page_kib = 8;
  CHECK(range(8192).empty());
  c.partition.page_kib = 0.5, c.coherence.protocol = CoherenceProtocol::rec_adaptive;
  CHECK(range(c.rec_adaptive.max_range_bytes).empty());
}

TEST_CASE("where slices hold no remote lines, SM-side caching is memory-side caching, and that is no change") {
  SystemConfig c = two_chips();
  c.coherence.protocol = CoherenceProtocol::l1_only;
  const ModeRules rules(c, {.roles = LlcRole::sm_side}, "mine");
  const auto accepted = rules.accept(both({.llc = LlcRole::sm_side}), {}, 0);
  CHECK(accepted == both({}));
  CHECK(rules.accept(both({.llc = LlcRole::sm_side}), accepted, 1) == accepted);
}

TEST_CASE("a decision is of no kernel and no cycle to come, and of none before its kernel's launch") {
  const SystemConfig c = two_chips();
  const ModeRules rules(c, kAnything, "mine");
  const auto refused = [&](const Decision& d) {
    try {
      rules.check(d, 2, 1000, 5000);
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(refused({2, 1000, "x", {}}).empty());
  CHECK(refused({1, 5000, "x", {}}).empty());
  CHECK(refused({3, 2000, "x", {}}) == "policy mine: decides for kernel 3 in kernel 2");
  for (const Cycle cycle : {Cycle{999}, Cycle{5001}})
    CHECK(refused({2, cycle, "x", {}})
              .find("its decision for kernel 2 is of cycle " + std::to_string(cycle) +
                    "; the kernel was launched at 1000, and it is 5000 now") != std::string::npos);
}

}  // namespace
}  // namespace atl
