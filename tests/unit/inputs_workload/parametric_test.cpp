#include <doctest/doctest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "tests/unit/inputs_workload/footprint.hpp"

namespace atl {
namespace {

using test::one_region;
using test::open_text;

bool same(const CtaProgram& a, const CtaProgram& b) {
  return a.accesses == b.accesses && a.ops.size() == b.ops.size() && a.warps.size() == b.warps.size() &&
         std::memcmp(a.ops.data(), b.ops.data(), a.ops.size() * sizeof(Op)) == 0;
}

const std::string kMixed = ATOLL_SOURCE_DIR "/inputs/workloads/mixed.json";

TEST_CASE("a CTA is the same whoever loads it, and whatever was loaded before") {
  const auto one = open_parametric(kMixed), two = open_parametric(kMixed);
  CtaProgram a, b;
  for (std::size_t kernel = 0; kernel < 4; ++kernel)
    for (std::uint64_t i = 0; i < 50; ++i) {
      const std::uint64_t cta = i * 613 % 1024;
      one->load_cta(kernel, cta, a);
      two->load_cta(3 - kernel, 1023 - cta, b);
      two->load_cta(kernel, cta, b);
      REQUIRE(same(a, b));
    }
  one->load_cta(0, 5, a);
  one->load_cta(1, 5, b);
  CHECK_FALSE(same(a, b));  // a repeated launch draws other numbers
}

TEST_CASE("the seed changes the workload") {
  const auto with = [](const char* seed) {
    CtaProgram cta;
    open_text(std::string("{\"seed\": ") + seed + R"(, "kernels": [{"regions": [{"name": "r"}]}]})")->load_cta(0, 0, cta);
    return cta;
  };
  CHECK(same(with("1"), with("1")));
  CHECK_FALSE(same(with("1"), with("2")));
}

TEST_CASE("a warp issues the loads in flight, then its next op waits for all of them") {
  const auto w = open_text(one_region(R"("memory_instructions": 5, "compute_instructions": 3, "compute_latency_cycles": 7,
      "loads_in_flight": 2, "barrier_every": 3,)",
                                      R"("read_only": true)"));
  CHECK(w->kernels()[0].warps() == 4);
  CtaProgram cta;
  w->load_cta(0, 9, cta);
  REQUIRE(cta.warps.size() == 4);
  REQUIRE(cta.warps[3].first == 3 * cta.warps[0].count);
  const Op* op = cta.ops.data();
  std::string kinds;
  for (unsigned i = 0; i < cta.warps[0].count; ++i) kinds += "clsamb."[static_cast<int>(op[i].kind)];
  CHECK(kinds ==
        "clclcl"
        "bclcl.");
  CHECK(op[0].issue == 3);
  CHECK(op[0].latency == 7);
  CHECK(op[1].slot == 0);
  CHECK(op[3].slot == 1);
  CHECK(op[1].flags == kReadOnly);
  CHECK(op[4].wait == 3);
  CHECK(op[3].wait == 0);
  CHECK(op[8].wait == 0);
  CHECK(op[9].wait == 3);
  CHECK(op[11].kind == OpKind::exit);
  CHECK(op[11].wait == 1);
}

TEST_CASE("loads of regions are marked read-only in the kernels in which nothing writes them") {
  const auto w = open_text(R"({"kernels": [
      {"ctas": 8, "regions": [{"name": "a", "size_kib": 64}, {"name": "b", "size_kib": 64, "write_fraction": 0.5}]},
      {"ctas": 8, "regions": [{"name": "b", "size_kib": 64}, {"name": "a", "size_kib": 64, "pattern": "stream"},
                              {"name": "a", "size_kib": 64, "atomic_fraction": 0.5}]}]})");
  constexpr std::uint64_t kB = (0x100000000 + (2ull << 20)) / Access::kBlockBytes;  // a's part is rounded up to 2 MB
  for (const std::size_t kernel : {0u, 1u}) {
    CtaProgram cta;
    w->load_cta(kernel, 3, cta);
    unsigned loads_of[2] = {};
    for (const Op& op : cta.ops) {
      if (op.kind != OpKind::load) continue;
      const bool b = cta.accesses[op.first_access].block() >= kB;
      ++loads_of[b];
      CHECK((op.flags == kReadOnly) == (b == (kernel == 1)));
    }
    CHECK(loads_of[0] * loads_of[1] > 0);
  }
}

TEST_CASE("the mix of kinds and regions is as asked, within five standard deviations") {
  const auto w = open_text(R"({"kernels": [{"ctas": 64, "warps_per_cta": 4, "memory_instructions": 1000, "regions": [
      {"name": "a", "weight": 3, "size_kib": 2048, "write_fraction": 0.2, "atomic_fraction": 0.1},
      {"name": "b", "weight": 1, "size_kib": 2048}]}]})");
  double in_a = 0, stores = 0, atomics = 0, loads = 0;
  CtaProgram cta;
  for (std::uint64_t id = 0; id < 64; ++id) {
    w->load_cta(0, id, cta);
    for (const Access& a : cta.accesses) in_a += a.block() * 128 < 0x100200000;
    for (const Op& op : cta.ops)
      stores += op.kind == OpKind::store, atomics += op.kind == OpKind::atomic, loads += op.kind == OpKind::load;
  }
  const double n = 64 * 4 * 1000;
  const auto near = [](double count, double of, double p) {
    return std::abs(count - of * p) < 5 * std::sqrt(of * p * (1 - p));
  };
  CHECK(stores + atomics + loads == n);
  CHECK(near(in_a, n, 0.75));
  CHECK(near(stores, n, 0.75 * 0.2));
  CHECK(near(atomics, n, 0.75 * 0.1));
}

TEST_CASE("accesses and sectors per instruction are as asked") {
  for (unsigned sectors = 1; sectors <= 4; ++sectors) {
    const auto w = open_text(one_region("", R"("accesses": 5, "sectors": )" + std::to_string(sectors)));
    CtaProgram cta;
    w->load_cta(0, 0, cta);
    CHECK(cta.accesses.size() == 4 * 100 * 5);
    std::set<unsigned> masks;
    for (const Access& a : cta.accesses) {
      REQUIRE(std::popcount(a.sectors()) == static_cast<int>(sectors));
      masks.insert(a.sectors());
    }
    CHECK(masks.size() == std::array{4u, 2u, 2u, 1u}[sectors - 1]);
  }
}

TEST_CASE("the profiles of SAC open, and the first and last CTA of each kernel load") {
  unsigned profiles = 0;
  for (const auto& file : std::filesystem::directory_iterator(ATOLL_SOURCE_DIR "/inputs/workloads/sac")) {
    CAPTURE(file.path().string());
    const auto w = open_parametric(file.path().string());
    CtaProgram cta;
    for (std::size_t k = 0; k < w->kernels().size(); ++k)
      for (const std::uint64_t id : {std::uint64_t{0}, w->kernels()[k].ctas() - 1}) {
        w->load_cta(k, id, cta);
        CHECK(cta.warps.size() == 8);
      }
    ++profiles;
  }
  CHECK(profiles == 16);
}

TEST_CASE("every example opens, and its first and last CTA load") {
  for (const auto& file : std::filesystem::directory_iterator(ATOLL_SOURCE_DIR "/inputs/workloads")) {
    if (file.path().extension() != ".json") continue;
    CAPTURE(file.path().string());
    const auto w = open_parametric(file.path().string());
    std::uint64_t accesses = 0;
    CtaProgram cta;
    for (std::size_t k = 0; k < w->kernels().size(); ++k) {
      w->load_cta(k, w->kernels()[k].ctas() - 1, cta);
      w->load_cta(k, 0, cta);
      accesses += cta.accesses.size() * w->kernels()[k].ctas();
    }
    CHECK(accesses > 1000000);
    CHECK(accesses < 3000000);
  }
}

}  // namespace
}  // namespace atl
