#include <doctest/doctest.h>

#include "support.hpp"

using namespace atl;
using namespace atl::test;

namespace {
SystemConfig read_json(const std::string& text, const std::vector<std::string>& sets = {}) {
  const TempFile file("mine.json", text);
  return read_system(file.path(), sets);
}
}  // namespace

TEST_CASE("an empty file is the structs' defaults under the file's name") {
  const SystemConfig c = read_json("{}");
  CHECK(c.name == "mine");
  CHECK(c.chips == SystemConfig{}.chips);
  CHECK(c.dram.timing.burst_bytes == SystemConfig{}.dram.timing.burst_bytes);
}

TEST_CASE("a file overrides its base and an override overrides the file") {
  const std::string text = R"({"base": "rec-4gpu", "llc": {"ways": 8}, "name": "half"})";
  CHECK(read_json(text).name == "half");
  CHECK(read_json(text).line_bytes == 64);
  CHECK(read_json(text).llc.ways == 8);
  CHECK(read_json(text).llc.slices == 16);
  CHECK(read_json(text, {"llc.ways=4"}).llc.ways == 4);
}

TEST_CASE("half of the ways are for local lines, unless a layer says how many") {
  const auto ways = [](std::vector<std::string> sets) {
    sets.insert(sets.begin(), "llc.organisation=static");
    return read_system("sac-4chip", sets).llc.local_ways;
  };
  CHECK(ways({}) == 8);
  CHECK(ways({"llc.ways=32"}) == 16);
  CHECK(ways({"llc.ways=8"}) == 4);
  CHECK(ways({"llc.ways=32", "llc.local_ways=8"}) == 8);
  CHECK(read_json(R"({"base": "sac-4chip", "llc": {"ways": 32, "local_ways": 6, "organisation": "dynamic"}})")
            .llc.local_ways == 6);
  CHECK(read_system("sac-4chip", {"llc.ways=32"}).llc.local_ways == 8);  // nothing is split: idle
}

TEST_CASE("a file that is named after its base is a file, and may refine it") {
  const TempFile file("rtx3070.json", R"({"base": "rtx3070", "sm": {"count": 23}})");
  CHECK(read_system(file.path()).sm.count == 23);
  CHECK(read_system(file.path()).llc.slices == 32);
}

TEST_CASE("a base may be a file, named from the folder of the file that names it, and have a base in turn") {
  const TempFile half("half.json", R"({"base": "rec-4gpu", "llc": {"ways": 8}, "name": "half"})");
  const TempFile file("mine.json", R"({"base": ")" + half.path() + R"(", "llc": {"slices": 8}})");
  const SystemConfig c = read_system(file.path());
  CHECK(c.name == "mine");
  CHECK(c.line_bytes == 64);
  CHECK(c.llc.ways == 8);
  CHECK(c.llc.slices == 8);
  const auto folder = std::filesystem::path(half.path()).parent_path();
  std::ofstream(folder / "beside.json") << R"({"base": "half.json"})";
  CHECK(read_system((folder / "beside.json").string()).llc.ways == 8);
}

TEST_CASE("a DRAM preset loads its timing set, and timing keys of the same layer override it") {
  const SystemConfig c = read_json(R"({"dram": {"timing": {"cl": 99}, "preset": "hbm2"}})");
  CHECK(c.dram.preset == DramPreset::hbm2);
  CHECK(c.dram.timing.cl == 99);
  CHECK(c.dram.timing.clock_mhz == 850);
}

TEST_CASE("a DRAM preset of a later layer drops the timing keys of the earlier ones") {
  const SystemConfig c = read_json(R"({"dram": {"preset": "hbm2", "timing": {"cl": 99}}})", {"dram.preset=gddr6"});
  CHECK(c.dram.timing.cl == 20);
  CHECK(c.dram.timing.clock_mhz == 3500);
}

TEST_CASE("the order of overrides matters only between equal keys") {
  const auto timing_first = read_system("sac-4chip", {"dram.timing.cl=99", "dram.preset=hbm2"});
  CHECK(timing_first.dram.timing.cl == 99);
  CHECK(timing_first.dram.timing.rcd == 12);
  CHECK(read_system("sac-4chip", {"llc.ways=8", "llc.ways=4"}).llc.ways == 4);
}

TEST_CASE("an override is JSON if it parses and a word otherwise") {
  const auto c = read_system("sac-4chip", {"link.topology=switch", "partition.placement=\"fixed\"", "l1.sectored=true",
                                           "llc={\"ways\": 8, \"slices\": 8}", "name=my system", "dram.queue=1e2"});
  CHECK(c.link.topology == Topology::switched);
  CHECK(c.partition.placement == Placement::fixed);
  CHECK(c.l1.sectored);
  CHECK(c.llc.ways == 8);
  CHECK(c.llc.slices == 8);
  CHECK(c.name == "my system");
  CHECK(c.dram.queue == 100);
}

TEST_CASE(
    "what a file says otherwise than its base is its own; presets and files without a base have nothing of that kind") {
  CHECK_FALSE(own_layer("sac-4chip"));
  const TempFile whole("whole.json", R"({"llc": {"ways": 8}})");
  CHECK_FALSE(own_layer(whole.path()));
  const TempFile mine("mine.json", R"({"base": "sac-4chip", "chips": 4, "sac": {"threshold": 0.5}, "llc": {"ways": 8}})");
  const auto own = own_layer(mine.path());
  REQUIRE(own);
  CHECK(own->base.llc.ways == 16);
  CHECK(own->keys == std::vector<std::string>{"llc.ways", "name", "sac.threshold"});
}
