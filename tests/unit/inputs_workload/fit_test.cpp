#include <doctest/doctest.h>

#include <bit>
#include <set>

#include "tests/unit/inputs_workload/footprint.hpp"

// What a parametric workload takes from the system that runs it, and lines that are touched in part.
namespace atl {
namespace {

using test::one_region;
using test::open_text;

constexpr std::uint64_t kFirstByte = 0x100000000;

/// Opens `text` for pages of `page_kib` and so many chips.
std::unique_ptr<Workload> open_for(const std::string& text, std::uint32_t page_kib, std::uint32_t chips = 4) {
  return open_text(text, nullptr, {.scale_by = 1, .page_bytes = page_kib * 1024, .chips = chips});
}

/// Which of `chips` groups of a kernel's 64 CTAs touch each page.
std::map<std::uint64_t, std::set<std::uint64_t>> users(Workload& w, std::uint64_t page_bytes, std::uint64_t chips = 4) {
  std::map<std::uint64_t, std::set<std::uint64_t>> out;
  CtaProgram cta;
  for (std::uint64_t id = 0; id < 64; ++id) {
    w.load_cta(0, id, cta);
    for (const Access& a : cta.accesses) out[(a.block() * 128 - kFirstByte) / page_bytes].insert(id * chips / 64);
  }
  return out;
}

const std::string kPlace = R"("pattern": "strided", "stride_bytes": 4096, "kind": "page_interleaved", )";

TEST_CASE("page_interleaved gives pages of 4 KB, 64 KB and 2 MB to the groups in turn") {
  for (const std::uint32_t page_kib : {4u, 64u, 2048u}) {
    const auto w = open_for(one_region(R"("memory_instructions": 16,)", kPlace + R"("size_kib": 16384)"), page_kib);
    const auto seen = users(*w, page_kib * 1024ull);
    CHECK(seen.size() == 16384 / page_kib);
    for (const auto& [page, groups] : seen) REQUIRE(groups == std::set<std::uint64_t>{page % 4});
  }
}

TEST_CASE("large pages of small regions are the groups' in turn over all regions; a group without a page touches nothing") {
  const std::string regions = R"({"kernels": [{"ctas": 64, "warps_per_cta": 4, "memory_instructions": 12, "regions": [
    {"name": "a", )" + kPlace +
                              R"("size_kib": 2048}, {"name": "b", )" + kPlace + R"("size_kib": 2048},
    {"name": "c", )" + kPlace +
                              R"("size_kib": 2048}]}]})";
  const auto w = open_for(regions, 2048);
  const auto seen = users(*w, 2ull << 20);
  REQUIRE(seen.size() == 3);
  for (const auto& [page, groups] : seen) CHECK(groups == std::set<std::uint64_t>{page});
  CtaProgram last;
  w->load_cta(0, 63, last);  // of group 3
  CHECK(last.accesses.empty());
}

TEST_CASE("chips = 0 is the system's number: private parts are divided by 2, 4 or 16") {
  const std::string text = R"({"chips": 0, "kernels": [{"ctas": 64, "warps_per_cta": 4, "memory_instructions": 64,
    "regions": [{"name": "r", "kind": "private", "size_kib": 2048, "pattern": "stream"}]}]})";
  for (const std::uint32_t chips : {2u, 4u, 16u}) {
    const auto w = open_for(text, 4, chips);
    const auto seen = users(*w, (2ull << 20) / chips, chips);
    CHECK(seen.size() == chips);
    for (const auto& [part, groups] : seen) REQUIRE(groups == std::set<std::uint64_t>{part});
  }
}

TEST_CASE("a workload says among how many chips it lays out private data, and nothing where all data are shared") {
  const auto laid_out = [](const std::string& chips, const std::string& kind, std::uint32_t system) {
    const std::string text =
        R"({"chips": )" + chips + R"(, "kernels": [{"regions": [{"name": "r", "kind": ")" + kind + "\"}]}]}";
    return open_for(text, 4, system)->laid_out_for();
  };
  CHECK(laid_out("4", "private", 8) == 4);
  CHECK(laid_out("0", "false_shared", 8) == 8);
  CHECK(laid_out("4", "true_shared", 8) == 0);
}

TEST_CASE("a share of the lines is touched in part, always in the same sectors, which lie together") {
  const auto w = open_text(one_region(
      R"("memory_instructions": 300,)",
      R"("kind": "true_shared", "size_kib": 1024, "pattern": "uniform", "partial_lines": 0.25, "partial_sectors": 1.5)"));
  std::map<std::uint64_t, unsigned> sectors;
  CtaProgram cta;
  for (std::uint64_t id = 0; id < 64; ++id) {
    w->load_cta(0, id, cta);
    for (const Access& a : cta.accesses) {
      const auto [known, fresh] = sectors.try_emplace(a.block(), a.sectors());
      REQUIRE(known->second == a.sectors());
    }
  }
  REQUIRE(sectors.size() > 8000);
  double partial = 0, touched = 0;
  for (const auto& [block, mask] : sectors) {
    if (mask == 0xF) continue;
    ++partial, touched += std::popcount(mask);
    const unsigned run = mask >> std::countr_zero(mask);
    REQUIRE((run & (run + 1)) == 0);
  }
  CHECK(partial / static_cast<double>(sectors.size()) == doctest::Approx(0.25).epsilon(0.06));
  CHECK(touched / partial == doctest::Approx(1.5).epsilon(0.04));
}

}  // namespace
}  // namespace atl
