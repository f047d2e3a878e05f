#include <doctest/doctest.h>

#include <cmath>

#include "tests/unit/inputs_workload/footprint.hpp"

namespace atl {
namespace {

using test::one_region;
using test::open_text;
using test::touches;

constexpr std::uint64_t kShared = 0x100000000 / 128;

TEST_CASE("private: groups have disjoint, contiguous parts on page boundaries") {
  for (const char* pattern : {"stream", "strided", "uniform", "hot_set"}) {
    const auto w = open_text(one_region("", std::string(R"("kind": "private", "size_kib": 1000, "pattern": ")") + pattern +
                                                (pattern == std::string("strided") ? R"(", "stride_bytes": 512)" : "\"")));
    std::map<std::uint64_t, unsigned> page_user;
    for (const auto& [block, groups] : touches(*w)) {
      REQUIRE(groups.size() == 1);
      REQUIRE(block - kShared < 8000);
      const auto [page, fresh] = page_user.try_emplace(block / 32, groups.begin()->first);
      REQUIRE(page->second == groups.begin()->first);
      REQUIRE((block - kShared) / 32 / 62 <= groups.begin()->first + 1);
    }
  }
}

TEST_CASE("private stream: each CTA touches lines of its own, and the group's part is covered without gaps") {
  const auto w =
      open_text(one_region(R"("memory_instructions": 50,)", R"("kind": "private", "size_kib": 8192, "pattern": "stream")"));
  const auto seen = touches(*w);
  CHECK(seen.size() == 64 * 4 * 50);
  for (const auto& [block, groups] : seen) REQUIRE(groups.begin()->second == 1);
  for (std::uint64_t i = 0; i < 16 * 4 * 50; ++i) REQUIRE(seen.count(kShared + i) == 1);
}

TEST_CASE("false sharing: no line has two users, but pages have all four") {
  for (const char* pattern : {"stream", "uniform"}) {
    const auto w =
        open_text(one_region("", std::string(R"("kind": "false_shared", "size_kib": 1024, "pattern": ")") + pattern + "\""));
    std::map<std::uint64_t, std::set<unsigned>> page_users;
    for (const auto& [block, groups] : touches(*w)) {
      REQUIRE(groups.size() == 1);
      REQUIRE(groups.begin()->first == (block - kShared) % 4);
      page_users[block / 32].insert(groups.begin()->first);
    }
    CHECK(page_users.size() == 256);
    for (const auto& [page, users] : page_users) REQUIRE(users.size() == 4);
  }
}

TEST_CASE("true sharing: every line of a stream is touched once by each group, at the same step") {
  const auto w = open_text(
      one_region(R"("memory_instructions": 64,)", R"("kind": "true_shared", "size_kib": 512, "pattern": "stream")"));
  const auto seen = touches(*w);
  CHECK(seen.size() == 4096);
  for (const auto& [block, groups] : seen) {
    REQUIRE(groups.size() == 4);
    for (const auto& [group, count] : groups) REQUIRE(count == 1);
  }
  CtaProgram cta;
  std::set<unsigned> starters;  // which group's first CTA starts in which quarter of the window
  for (unsigned group = 0; group < 4; ++group) {
    w->load_cta(0, group * 16, cta);
    starters.insert(static_cast<unsigned>((cta.accesses[0].block() - kShared) / 16));
    for (unsigned step = 0; step < 64; ++step) REQUIRE((cta.accesses[step].block() - kShared) / 64 == step);
  }
  CHECK(starters == std::set<unsigned>{0, 1, 2, 3});
}

TEST_CASE("page interleaving: pages belong to the groups in turn, and a stride of one page touches each once") {
  const auto w = open_text(R"({"kernels": [{"ctas": 64, "warps_per_cta": 4, "memory_instructions": 1, "regions": [
      {"name": "r", "kind": "page_interleaved", "size_kib": 1024, "pattern": "strided", "stride_bytes": 4096}]}]})");
  std::set<std::uint64_t> pages;
  for (const auto& [block, groups] : touches(*w)) {
    REQUIRE((block - kShared) % 32 == 0);
    REQUIRE(groups.size() == 1);
    REQUIRE(groups.begin()->first == (block - kShared) / 32 % 4);
    pages.insert((block - kShared) / 32);
  }
  CHECK(pages.size() == 256);
}

TEST_CASE("advances are counted: however few a warp has, each line is touched by one of them in each of its groups") {
  // 2 instructions x 64 warps per group, of which 1/8 + 3/16 + 1/16 advance: 16 lines of T, 24 of F, 8 of N.
  const auto w = open_text(R"({"kernels": [{"ctas": 64, "warps_per_cta": 4, "memory_instructions": 2, "regions": [
      {"name": "T", "kind": "true_shared", "size_kib": 2, "weight": 2, "pattern": "stream", "far_reuse": 0.75, "far_lines": 1},
      {"name": "F", "kind": "false_shared", "size_kib": 12, "weight": 1, "pattern": "stream", "far_reuse": 0.25, "far_lines": 1},
      {"name": "N", "kind": "private", "size_kib": 4, "weight": 1, "pattern": "stream", "far_reuse": 0.75, "far_lines": 1}]}]})");
  std::map<std::uint64_t, std::set<unsigned>> regions[3];
  for (const auto& [block, groups] : touches(*w))
    for (const auto& [group, count] : groups) regions[(block - kShared) * 128 >> 21][block].insert(group);
  CHECK(regions[0].size() == 16);
  CHECK(regions[1].size() == 96);
  CHECK(regions[2].size() == 32);
  for (const auto& [block, groups] : regions[0]) CHECK(groups.size() == 4);
}

TEST_CASE("a shared region is covered even where its size is no multiple of the warps") {
  // 64 warps x 50 instructions, a quarter of them to 800 lines: twelve stretches and a half.
  const auto w = open_text(R"({"kernels": [{"ctas": 64, "warps_per_cta": 4, "memory_instructions": 50, "regions": [
      {"name": "T", "kind": "true_shared", "size_kib": 100, "weight": 1, "pattern": "stream"},
      {"name": "N", "kind": "private", "size_kib": 4096, "weight": 3, "pattern": "stream"}]}]})");
  unsigned shared = 0;
  for (const auto& [block, groups] : touches(*w)) {
    if (block - kShared >= 800) continue;
    ++shared;
    REQUIRE(groups.size() == 4);
    for (const auto& [group, count] : groups) REQUIRE(count == 1);
  }
  CHECK(shared == 800);
}

TEST_CASE("waves go on where the previous one ended") {
  const auto w = open_text(one_region(R"("memory_instructions": 10, "concurrent_ctas": 4,)",
                                      R"("kind": "private", "size_kib": 4096, "pattern": "stream")"));
  CtaProgram cta;
  for (std::uint64_t id = 0; id < 16; ++id) {
    w->load_cta(0, id, cta);
    CHECK(cta.accesses[0].block() - kShared == id / 4 * (4 * 4 * 10) + id % 4 * 4);
    CHECK(cta.accesses[9].block() - kShared == id / 4 * (4 * 4 * 10) + 9 * 16 + id % 4 * 4);
  }
  CHECK(touches(*w).size() == 64 * 4 * 10);
}

TEST_CASE("a strided region whose stride divides its size is covered completely in the end") {
  const auto w =
      open_text(one_region(R"("memory_instructions": 64,)",
                           R"("kind": "true_shared", "size_kib": 512, "pattern": "strided", "stride_bytes": 4096)"));
  CHECK(touches(*w).size() == 4096);
  CtaProgram cta;
  w->load_cta(0, 0, cta);
  CHECK(cta.accesses[64].block() - cta.accesses[0].block() == 32);  // neighbouring warps
}

TEST_CASE("whatever a stride has in common with a group's lines, one advance of a round touches each of them") {
  struct Case {
    const char* kind;
    unsigned kib, stride;  // the stride in lines
  };
  // 3 of 1,000 lines, a line less than the region, 32 of 342, 15 of 1,000 with a common factor of 5, one of several rounds
  for (const Case& c : {Case{"true_shared", 125, 3}, Case{"true_shared", 64, 511}, Case{"false_shared", 171, 32},
                        Case{"true_shared", 125, 15}, Case{"private", 128, 2560}}) {
    CAPTURE(c.kind);
    CAPTURE(c.stride);
    const unsigned lines = c.kib * 8, own = std::string(c.kind) == "true_shared" ? lines : lines / 4;
    const auto w = open_text(R"({"chips": 4, "kernels": [{"ctas": 4, "warps_per_cta": 1, "memory_instructions": )" +
                             std::to_string(own) + R"(, "regions": [{"name": "r", "kind": ")" + c.kind +
                             R"(", "size_kib": )" + std::to_string(c.kib) + R"(, "pattern": "strided", "stride_bytes": )" +
                             std::to_string(128 * c.stride) + "}]}]}");
    const auto seen = touches(*w);
    CHECK(seen.size() == lines);
    for (const auto& [block, groups] : seen) REQUIRE(groups.at(0) == 4 * own / lines);
  }
}

TEST_CASE("reuse: the share of new lines is the probability of an advance, and windows reach as far as asked") {
  const auto w =
      open_text(R"({"chips": 1, "kernels": [{"ctas": 1, "warps_per_cta": 1, "memory_instructions": 100000, "regions": [
      {"name": "r", "kind": "private", "size_kib": 65536, "pattern": "stream",
       "near_reuse": 0.3, "near_lines": 8, "far_reuse": 0.5, "far_lines": 1000}]}]})");
  CtaProgram cta;
  w->load_cta(0, 0, cta);
  constexpr std::uint64_t kLines = 65536 * 8;
  double fresh = 0, near = 0, far = 0;
  std::uint64_t head = kLines - 1, furthest = 0;  // as if the round before had just ended
  for (const Access& a : cta.accesses) {
    const std::uint64_t line = a.block() - kShared;
    if (line == (head + 1) % kLines) {
      head = line, ++fresh;
      continue;
    }
    const std::uint64_t behind = (head + kLines - line) % kLines;
    behind < 8 ? ++near : ++far;
    furthest = std::max(furthest, behind);
  }
  const double n = 100000, in_near = 0.3 + 0.5 * 8 / 1000;
  CHECK(std::abs(fresh - 0.2 * n) < 5 * std::sqrt(n * 0.2 * 0.8) + 1);
  CHECK(std::abs(near - in_near * n) < 5 * std::sqrt(n * in_near * (1 - in_near)));
  CHECK(furthest == 999);
}

TEST_CASE("a hot set takes its share of the accesses") {
  const auto w =
      open_text(one_region(R"("memory_instructions": 1000,)",
                           R"("size_kib": 1280, "pattern": "hot_set", "hot_fraction": 0.1, "hot_probability": 0.8)"));
  double hot = 0, all = 0;
  for (const auto& [block, groups] : touches(*w))
    for (const auto& [group, count] : groups) all += count, hot += block - kShared < 1024 ? count : 0;
  CHECK(std::abs(hot - 0.8 * all) < 5 * std::sqrt(all * 0.8 * 0.2));
}

TEST_CASE("regions follow each other at multiples of 2 MB, and a name means the same memory in every kernel") {
  const auto w = open_text(R"({"kernels": [
      {"ctas": 64, "regions": [{"name": "a", "size_kib": 2049}, {"name": "b"}]},
      {"ctas": 64, "regions": [{"name": "c"}]}, {"ctas": 64, "regions": [{"name": "b", "kind": "private"}]}]})");
  std::set<std::uint64_t> regions[3];
  for (unsigned k = 0; k < 3; ++k)
    for (const auto& [block, groups] : touches(*w, k)) regions[k].insert((block * 128 - 0x100000000) >> 21);
  CHECK(regions[0] == std::set<std::uint64_t>{0, 1, 2});
  CHECK(regions[1] == std::set<std::uint64_t>{3});
  CHECK(regions[2] == std::set<std::uint64_t>{2});
}

}  // namespace
}  // namespace atl
