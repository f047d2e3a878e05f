#include <doctest/doctest.h>

#include "core/engine/error.hpp"
#include "inputs/workload/parametric_config.hpp"
#include "tests/unit/inputs_workload/footprint.hpp"

namespace atl {
namespace {

ParametricConfig config(std::uint32_t ctas, std::uint32_t concurrent, std::uint32_t instructions) {
  ParametricConfig c;
  KernelConfig& k = c.kernels.emplace_back();
  k.ctas = ctas, k.concurrent_ctas = concurrent, k.memory_instructions = instructions;
  RegionConfig& r = k.regions.emplace_back();
  r.name = "r", r.size_kib = 4096, r.near_lines = 64, r.far_lines = 8192;
  return c;
}

TEST_CASE("scaling by 4 divides footprint, windows and CTAs by 4, and leaves a warp's work alone") {
  ParametricConfig c = config(4096, 256, 100);
  scale(c, 4);
  const KernelConfig& k = c.kernels[0];
  CHECK(k.ctas == 1024);
  CHECK(k.memory_instructions == 100);
  CHECK(k.regions[0].size_kib == 1024);
  CHECK(k.regions[0].near_lines == 16);
  CHECK(k.regions[0].far_lines == 2048);
}

TEST_CASE("scaling keeps one full wave of CTAs per chip, and shortens warps for the rest") {
  ParametricConfig c = config(2048, 256, 100);  // a wave is 4 x 256 CTAs
  scale(c, 8);                                  // 2048 x 100 / 8 = 25,600 instructions of 1024 CTAs
  CHECK(c.kernels[0].ctas == 1024);
  CHECK(c.kernels[0].memory_instructions == 25);
}

TEST_CASE("scaling says where a warp's instructions cannot be divided, by more than a tenth, and where barriers go") {
  ParametricConfig exact = config(2048, 256, 100), near = config(2048, 256, 21), far = config(2048, 256, 24);
  CHECK(scale(exact, 8).empty());
  CHECK(scale(near, 4).empty());  // 10.5 become 11
  const std::string said = scale(far, 32);
  CHECK(far.kernels[0].memory_instructions == 2);
  CHECK(said.find("kernel kernel has 1.33 times the accesses that scale = 32 should leave it") != said.npos);
  CHECK(said.find("24 memory instructions become 2 where 1.50 would be right") != said.npos);
  ParametricConfig synchronised = config(2048, 256, 100);
  synchronised.kernels[0].barrier_every = 50;
  CHECK(scale(synchronised, 8).find("has no barriers at scale = 8") != std::string::npos);
}

TEST_CASE("scaling stops at one CTA per chip, one instruction per warp, one line per chip") {
  ParametricConfig c = config(8, 0, 2);
  scale(c, 1024);
  CHECK(c.kernels[0].ctas == 4);
  CHECK(c.kernels[0].memory_instructions == 1);
  CHECK(c.kernels[0].regions[0].size_kib == 4);
  CHECK(c.kernels[0].regions[0].near_lines == 1);
}

TEST_CASE("scaling divides skew and the time of a hot part too, and keeps a CTA of each group") {
  ParametricConfig c = config(64, 1, 100);
  c.kernels[0].groups = 32;
  c.kernels[0].regions[0].skew_lines = 40, c.kernels[0].regions[0].hot_moves_every = 10;
  scale(c, 8);
  CHECK(c.kernels[0].ctas == 32);
  CHECK(c.kernels[0].memory_instructions == 25);
  CHECK(c.kernels[0].regions[0].skew_lines == 5);
  CHECK(c.kernels[0].regions[0].hot_moves_every == 1);
}

TEST_CASE("a wave of more CTAs than 32 bits count is the whole launch") {
  ParametricConfig c = config(8, 1 << 24, 100);
  c.kernels[0].groups = 256;
  scale(c, 16);
  CHECK(c.kernels[0].ctas == 8);
  CHECK(c.kernels[0].memory_instructions == 6);  // 6.25
}

TEST_CASE("a region that kernels of different groups share has one size, which is enough for each") {
  ParametricConfig c = config(1024, 1, 100);
  c.kernels.push_back(c.kernels[0]);
  c.kernels[0].groups = 1, c.kernels[1].groups = 1024;
  c.kernels[1].regions[0].kind = Sharing::page_interleaved;
  scale(c, 16);
  CHECK(c.kernels[0].regions[0].size_kib == 4096);  // a page for each of 1024 groups, where 256 KiB would be a sixteenth
  CHECK(c.kernels[1].regions[0].size_kib == 4096);
}

TEST_CASE("scaling by 1 changes nothing") {
  ParametricConfig c = config(300, 7, 33);
  scale(c, 1);
  CHECK(c.kernels[0].ctas == 300);
  CHECK(c.kernels[0].regions[0].size_kib == 4096);
}

TEST_CASE("a scaled workload touches each line as often as the whole one") {
  const auto touches_per_line = [](unsigned n) {
    const auto path = std::filesystem::temp_directory_path() / ("atoll_scale_" + std::to_string(getpid()) + ".json");
    std::ofstream(path) << test::one_region(R"("memory_instructions": 64,)", R"("size_kib": 256, "pattern": "stream")");
    const auto workload = open_parametric(path.string(), {.scale_by = n});
    std::filesystem::remove(path);
    double all = 0;
    std::set<std::uint64_t> lines;
    CtaProgram cta;
    for (std::uint64_t id = 0; id < workload->kernels()[0].ctas(); ++id) {
      workload->load_cta(0, id, cta);
      for (const Access& a : cta.accesses) ++all, lines.insert(a.block());
    }
    CHECK(lines.size() == 256 * 8 / n);
    return all / static_cast<double>(lines.size());
  };
  CHECK(touches_per_line(1) == 8);  // 64 CTAs x 4 warps x 64 instructions over 2048 lines
  CHECK(touches_per_line(4) == 8);
}

}  // namespace
}  // namespace atl
