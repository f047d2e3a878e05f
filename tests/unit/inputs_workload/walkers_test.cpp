#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/inputs_workload/footprint.hpp"

// Groups that are walkers of one sequence: which CTAs they are, where they begin, and what they touch again.
namespace atl {
namespace {

using test::open_text;

constexpr std::uint64_t kFirstLine = 0x100000000 / 128;

/// The lines of one CTA's warps, counted from the region's first.
std::vector<std::uint64_t> lines(Workload& w, std::uint64_t cta, std::size_t kernel = 0) {
  CtaProgram program;
  w.load_cta(kernel, cta, program);
  std::vector<std::uint64_t> out;
  for (const Access& a : program.accesses) out.push_back(a.block() - kFirstLine);
  return out;
}

/// One kernel of CTAs of one warp, `groups` interleaved walkers of one CTA at a time.
std::string walkers(unsigned groups, unsigned ctas, unsigned instructions, const std::string& region) {
  return R"({"kernels": [{"group_order": "interleaved", "concurrent_ctas": 1, "warps_per_cta": 1, "groups": )" +
         std::to_string(groups) + R"(, "ctas": )" + std::to_string(ctas) + R"(, "memory_instructions": )" +
         std::to_string(instructions) + R"(, "regions": [{"name": "r", )" + region + "}]}]}";
}

TEST_CASE("interleaved: CTA c belongs to group c modulo G, and each group has a part of its own") {
  const auto w = open_text(walkers(8, 64, 100, R"("kind": "private", "size_kib": 512, "pattern": "uniform")"));
  for (std::uint64_t cta = 0; cta < 64; ++cta)
    for (const std::uint64_t line : lines(*w, cta)) REQUIRE(line / 512 == cta % 8);  // 4096 lines in 8 parts
}

TEST_CASE("a kernel's groups take the place of the file's chips for it alone") {
  const auto w = open_text(R"({"chips": 2, "kernels": [
      {"ctas": 16, "warps_per_cta": 1, "groups": 16, "regions": [{"name": "r", "size_kib": 512, "kind": "private"}]},
      {"ctas": 16, "warps_per_cta": 1, "regions": [{"name": "r", "size_kib": 512, "kind": "private"}]}]})");
  for (std::uint64_t cta = 0; cta < 16; ++cta) {
    for (const std::uint64_t line : lines(*w, cta, 0)) REQUIRE(line / 256 == cta);
    for (const std::uint64_t line : lines(*w, cta, 1)) REQUIRE(line / 2048 == cta / 8);
  }
}

TEST_CASE("a walker goes on where the CTA before it in its group ended") {
  const auto w =
      open_text(walkers(4, 40, 32, R"("size_kib": 64, "pattern": "stream")"));  // 512 lines, 10 x 32 of each walker
  for (std::uint64_t cta = 0; cta < 40; ++cta) {
    const auto touched = lines(*w, cta);
    for (std::uint64_t i = 0; i < 32; ++i) REQUIRE(touched[i] == cta / 4 * 32 + i);
  }
}

TEST_CASE("without phase all walkers are at the same place; with it they begin anywhere in that share of the region") {
  constexpr unsigned kGroups = 512, kLines = 8192;
  const auto starts = [](const std::string& phase) {
    const auto w =
        open_text(walkers(kGroups, 2 * kGroups, 16, R"("size_kib": 1024, "pattern": "stream", "phase": )" + phase));
    std::vector<double> out;
    for (std::uint64_t cta = 0; cta < kGroups; ++cta) {
      const auto first = lines(*w, cta), second = lines(*w, cta + kGroups);
      for (std::uint64_t i = 0; i < 16; ++i) REQUIRE(first[i] == (first[0] + i) % kLines);
      REQUIRE(second[0] == (first[15] + 1) % kLines);  // the group has one phase in all of the launch
      out.push_back(static_cast<double>(first[0]));
    }
    return out;
  };
  CHECK(starts("0") == std::vector<double>(kGroups, 0.0));
  for (const double phase : {0.25, 1.0}) {
    CAPTURE(phase);
    const auto at = starts(std::to_string(phase));
    const double width = phase * kLines;
    double sum = 0, squares = 0;
    for (const double x : at) {
      REQUIRE(x < width);
      sum += x, squares += x * x;
    }
    const double mean = sum / kGroups, variance = squares / kGroups - mean * mean;
    // Of a uniform distribution: mean w / 2, variance w^2 / 12, whose estimate has the deviation w^2 sqrt((1/80 - 1/144) /
    // n).
    CHECK(std::abs(mean - width / 2) < 5 * width / std::sqrt(12.0 * kGroups));
    CHECK(std::abs(variance - width * width / 12) < 5 * width * width * std::sqrt((1.0 / 80 - 1.0 / 144) / kGroups));
  }
}

TEST_CASE("other launches of a kernel draw other phases") {
  auto text = walkers(64, 64, 1, R"("size_kib": 1024, "pattern": "stream", "phase": 1)");
  const auto w = open_text(text.insert(text.find("\"group_order\""), R"("repeat": 2, )"));
  unsigned same = 0;
  for (std::uint64_t cta = 0; cta < 64; ++cta) same += lines(*w, cta, 0) == lines(*w, cta, 1);
  CHECK(same <= 2);  // 64 pairs of 1 in 8192
}

TEST_CASE("skew puts each wave of each walker ahead by less than its bound, and does not add up") {
  constexpr unsigned kGroups = 16, kWaves = 64, kSkew = 40;
  const auto w = open_text(walkers(kGroups, kGroups * kWaves, 8,
                                   R"("size_kib": 1024, "pattern": "stream", "skew_lines": )" + std::to_string(kSkew)));
  double sum = 0;
  std::set<std::uint64_t> seen;
  for (std::uint64_t cta = 0; cta < kGroups * kWaves; ++cta) {
    const std::uint64_t ahead = lines(*w, cta)[0] - cta / kGroups * 8;
    REQUIRE(ahead < kSkew);
    sum += static_cast<double>(ahead), seen.insert(ahead);
  }
  constexpr double kN = kGroups * kWaves;
  CHECK(std::abs(sum / kN - (kSkew - 1) / 2.0) < 5 * kSkew / std::sqrt(12 * kN));
  CHECK(seen.size() == kSkew);
}

TEST_CASE("warp_reuse: that share of the instructions repeats the warp's last line, the others go on line after line") {
  constexpr double kN = 64 * 4 * 250;
  for (const double p : {0.3, 0.75}) {
    CAPTURE(p);
    const auto w = open_text(R"({"chips": 1, "kernels": [{"ctas": 64, "warps_per_cta": 4, "memory_instructions": 250,
        "regions": [{"name": "r", "size_kib": 16384, "pattern": "stream", "warp_reuse": )" +
                             std::to_string(p) + "}]}]}");
    CtaProgram cta;
    std::map<std::uint64_t, unsigned> advances;  // by line: how many warps came to it anew
    double repeats = 0;
    for (std::uint64_t id = 0; id < 64; ++id) {
      w->load_cta(0, id, cta);
      for (std::size_t i = 0; i < cta.accesses.size(); ++i) {
        const bool first = i % 250 == 0, again = !first && cta.accesses[i] == cta.accesses[i - 1];
        repeats += again;
        if (!again) ++advances[cta.accesses[i].block() - kFirstLine];
      }
    }
    // A warp that begins with a repeat has nothing to repeat, and takes the line behind the head.
    CHECK(std::abs(repeats - p * kN) < 64 * 4);
    advances.erase(131071);  // behind the head of the very first instruction: the region's end
    CHECK(advances.size() == static_cast<std::size_t>(std::lround((1 - p) * kN)));
    unsigned twice = 0;
    for (const auto& [line, times] : advances) twice += times - 1;
    CHECK(twice <= 64 * 4);
  }
}

TEST_CASE("warp_reuse, near_reuse and far_reuse share what does not advance as they are written") {
  constexpr double kN = 16 * 4 * 1000;
  const auto w = open_text(R"({"chips": 1, "kernels": [{"ctas": 16, "warps_per_cta": 4, "memory_instructions": 1000,
      "regions": [{"name": "r", "size_kib": 65536, "pattern": "stream", "warp_reuse": 0.4, "near_reuse": 0.2,
                   "near_lines": 1, "far_reuse": 0.3, "far_lines": 400000}]}]})");
  CtaProgram cta;
  double repeats = 0;
  std::set<std::uint64_t> forward;
  for (std::uint64_t id = 0; id < 16; ++id) {
    w->load_cta(0, id, cta);
    for (std::size_t i = 1; i < cta.accesses.size(); ++i) repeats += i % 1000 != 0 && cta.accesses[i] == cta.accesses[i - 1];
    for (const Access& a : cta.accesses)
      if (a.block() - kFirstLine < kN / 10) forward.insert(a.block());
  }
  CHECK(std::abs(repeats - 0.4 * kN) < 5 * std::sqrt(kN * 0.4 * 0.6));
  CHECK(forward.size() == static_cast<std::size_t>(kN / 10));  // one of ten advances, and leaves no line out
}

TEST_CASE("a hot part that moves: at one age all groups have the same one, and each has its turn") {
  constexpr unsigned kHot = 32, kEvery = 50, kLines = 1024;
  const auto w = open_text(walkers(4, 16, 400, R"("size_kib": 128, "pattern": "hot_set", "hot_fraction": 0.03125,
      "hot_probability": 0.8, "hot_moves_every": 50)"));
  double hot = 0;
  std::map<std::uint64_t, unsigned> parts;
  for (std::uint64_t cta = 0; cta < 16; ++cta) {
    const auto touched = lines(*w, cta);
    for (std::uint64_t i = 0; i < 400; ++i) {
      const std::uint64_t age = cta / 4 * 400 + i, begin = age / kEvery * kHot % kLines;
      REQUIRE(touched[i] < kLines);
      hot += (touched[i] + kLines - begin) % kLines < kHot;
      ++parts[begin];
    }
  }
  CHECK(parts.size() == 32);
  CHECK(std::abs(hot - 0.8 * 6400) < 5 * std::sqrt(6400 * 0.8 * 0.2));
}

}  // namespace
}  // namespace atl
