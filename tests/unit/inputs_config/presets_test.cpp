#include "inputs/config/presets.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "inputs/config/dump.hpp"
#include "support.hpp"

using namespace atl;
using namespace atl::test;

namespace {

/// Bandwidth of one chip's DRAM when every burst is a row hit and bank groups alternate.
double dram_gbps(const SystemConfig& c) {
  const DramTiming& t = c.dram.timing;
  return c.dram.channels * t.burst_bytes * t.clock_mhz / t.ccd / 1000;
}

std::string docs_section(const std::string& preset) {
  std::ifstream file(ATOLL_SOURCE_DIR "/docs/systems.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto begin = text.find("## " + preset + "\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find("\n## ", begin) - begin);
}

}  // namespace

TEST_CASE("five presets are compiled in, each valid, documented and named after its file") {
  std::vector<std::string> names;
  for (const PresetInfo& preset : list_presets()) {
    names.push_back(preset.name);
    CAPTURE(preset.name);
    CHECK(preset.doc.size() > 20);
    CHECK(read_system(preset.name).name == preset.name);
  }
  CHECK(names == std::vector<std::string>{"colab-gpu", "rec-4gpu", "rtx3070", "sac-4chip", "selrep-gpu"});
}

TEST_CASE("docs/systems.md has one row for each key that a preset states or that differs from the defaults") {
  const auto defaults = nlohmann::json::parse(effective_json(SystemConfig{})).flatten();
  for (const EmbeddedFile& file : embedded_systems()) {
    const std::string name(file.name);
    const std::string section = docs_section(name);
    auto stated = nlohmann::json::parse(file.text).flatten();
    stated.erase("/doc");
    const auto effective = nlohmann::json::parse(effective_json(read_system(name))).flatten();
    std::size_t rows = 0;
    for (const auto& [pointer, value] : effective.items()) {
      // What a DRAM preset brings along is documented with the preset.
      const bool from_dram_preset = pointer.starts_with("/dram/timing/") && !stated.contains(pointer);
      if (pointer == "/name" || from_dram_preset) continue;
      if (!stated.contains(pointer) && defaults[pointer] == value) continue;
      std::string key = pointer.substr(1);
      std::replace(key.begin(), key.end(), '/', '.');
      CHECK_MESSAGE(stated.contains(pointer), name << " leaves " << key << " to chance");
      const auto& as_written = stated[pointer];
      const std::string shown = as_written.is_string() ? as_written.get<std::string>() : as_written.dump();
      CHECK_MESSAGE(section.find("| `" + key + "` | " + shown + " | ") != std::string::npos, name << " " << key);
      ++rows;
    }
    std::size_t documented = 0;
    for (auto at = section.find("\n| `"); at != std::string::npos; at = section.find("\n| `", at + 1)) ++documented;
    CHECK(documented == rows);
  }
}

TEST_CASE("sac-4chip has the bandwidths of the paper: 96 GB/s links, 4 TB/s of LLC per chip, 1.75 TB/s of DRAM in all") {
  const SystemConfig c = read_system("sac-4chip");
  CHECK(c.link.bandwidth_gbps == 96);
  const std::uint32_t clusters = c.sm.count / c.noc.sms_per_cluster;
  CHECK(clusters * c.noc.cluster_gbps == 4000);
  CHECK(c.llc.slices * c.llc.slice_gbps == 4000);
  CHECK(c.chips * dram_gbps(c) == doctest::Approx(1750).epsilon(1e-3));
  CHECK(c.partition.placement == Placement::first_touch);
  CHECK(c.partition.mapping == Mapping::pae);
}

TEST_CASE("selrep-gpu has 2.87 TB/s of LLC, 600 GB/s of DRAM and 16 slices behind each of four routers") {
  const SystemConfig c = read_system("selrep-gpu");
  CHECK(c.llc.slices * c.llc.slice_gbps == doctest::Approx(2867.2));
  CHECK(dram_gbps(c) == doctest::Approx(600));
  CHECK(c.llc.slices / c.noc.memory_routers == 16);
  CHECK(c.sm.count / c.noc.sms_per_cluster == 16);
  CHECK(c.dram.timing.faw == 20);
  CHECK(c.dram.timing.rrd == 4);
}

TEST_CASE("colab-gpu has 3072 L1 lines per cluster, 128 KB per slice and 484 GB/s of DRAM") {
  const SystemConfig c = read_system("colab-gpu");
  CHECK(c.noc.sms_per_cluster * c.l1.size_kib * 1024 / c.line_bytes == 3072);
  CHECK(c.llc.size_kib / c.llc.slices == 128);
  CHECK(dram_gbps(c) == doctest::Approx(484));
  CHECK(c.noc.cluster_gbps == doctest::Approx(32 * 2.962));
}

TEST_CASE("rec-4gpu has 64-byte lines, an SM-side LLC, a switch, 1 TB/s of DRAM and a directory of 8 K entries per GPU") {
  const SystemConfig c = read_system("rec-4gpu");
  CHECK(c.line_bytes == 64);
  CHECK(c.llc.organisation == LlcOrganisation::sm_side);
  CHECK(c.link.topology == Topology::switched);
  CHECK(c.link.latency_cycles == 140);
  CHECK(c.coherence.protocol == CoherenceProtocol::directory);
  CHECK(c.coherence.directory_entries == 8192);
  CHECK(c.coherence.range_bytes == 1024);
  CHECK(dram_gbps(c) == doctest::Approx(1000));
}

TEST_CASE("rtx3070 has four L1 sets, 64 LLC sets per slice and 448 GB/s of DRAM") {
  const SystemConfig c = read_system("rtx3070");
  CHECK(c.l1.size_kib * 1024 / c.line_bytes / c.l1.ways == 4);
  CHECK(c.llc.size_kib * 1024 / c.llc.slices / c.line_bytes / c.llc.ways == 64);
  CHECK(dram_gbps(c) == doctest::Approx(448.064));
  CHECK(c.noc.cluster_gbps == doctest::Approx(40 * 1.132));
  CHECK(c.dram.timing.ccdl == 6);
  CHECK(c.sm.scheduler == WarpScheduler::lrr);
}

TEST_CASE("every DRAM timing set is one that validates with 128-byte lines") {
  for (const auto& w : words<DramPreset>()) {
    CAPTURE(w.word);
    CHECK_NOTHROW(read_system("sac-4chip", {"dram.preset=" + std::string(w.word)}));
    CHECK(dram_timing(w.value).burst_bytes == 32);
  }
}
