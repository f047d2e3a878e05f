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

TEST_CASE("all presets are compiled in, each valid, documented and named after its file") {
  std::vector<std::string> names;
  for (const PresetInfo& preset : list_presets()) {
    names.push_back(preset.name);
    CAPTURE(preset.name);
    CHECK(preset.doc.size() > 20);
    CHECK(read_system(preset.name).name == preset.name);
  }
  CHECK(names == std::vector<std::string>{"a100", "b200", "colab-gpu", "h100-sxm", "h200", "mi250x", "mi300x", "qv100",
                                          "rec-4gpu", "rtx2060", "rtx3070", "sac-4chip", "selrep-gpu", "titanx"});
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

TEST_CASE("Accel-Sim's other GPUs have the bandwidths that its configurations make") {
  struct Gpu {
    const char* name;
    std::uint32_t llc_sets;
    double dram_gbps;
  };
  for (const Gpu& gpu : {Gpu{"qv100", 32, 870.4}, Gpu{"rtx2060", 64, 336.048}, Gpu{"titanx", 64, 480}}) {
    const SystemConfig c = read_system(gpu.name);
    CAPTURE(gpu.name);
    CHECK(c.llc.size_kib * 1024 / c.llc.slices / c.line_bytes / c.llc.ways == gpu.llc_sets);
    CHECK(dram_gbps(c) == doctest::Approx(gpu.dram_gbps));
    if (c.l1.enabled) CHECK(c.l1.size_kib * 1024 / c.line_bytes / c.l1.ways == 4);
  }
}

TEST_CASE("real GPUs have the SMs, caches, memory and links of their data sheets") {
  struct Product {
    const char* name;
    std::uint32_t sms, llc_kib;
    double dram_gbps, link_gbps;
  };
  for (const Product& p : {Product{"a100", 108, 40960, 2039.04, 0}, Product{"h100-sxm", 132, 51200, 3352.32, 0},
                           Product{"h200", 132, 51200, 4800, 0}, Product{"b200", 148, 129600, 7672.32, 5000},
                           Product{"mi250x", 220, 16384, 3276.8, 200}}) {
    const SystemConfig c = read_system(p.name);
    CAPTURE(p.name);
    CHECK(c.chips * c.sm.count == p.sms);
    CHECK(c.chips * c.llc.size_kib == p.llc_kib);
    CHECK(c.chips * dram_gbps(c) == doctest::Approx(p.dram_gbps));
    if (p.link_gbps > 0) CHECK(c.link.bandwidth_gbps == p.link_gbps);
    for (const char* organisation : {"memory_side", "sm_side", "sac", "static", "dynamic"}) {
      CAPTURE(organisation);
      if (c.chips > 1)
        CHECK_NOTHROW(read_system(p.name, {std::string("llc.organisation=") + organisation, "coherence.protocol=software"}));
    }
  }
}

TEST_CASE("mi300x has the CUs, caches and memory of its data sheet, on dies of two kinds") {
  const SystemConfig c = read_system("mi300x");
  CHECK(c.compute_chips() * c.sm.count == 304);
  CHECK(c.compute_chips() * c.l2.size_kib == 32768);
  CHECK(c.memory_chips() * c.llc.size_kib == 262144);
  CHECK(c.memory_chips() * c.llc.slices * c.llc.slice_gbps == doctest::Approx(17203.2));
  CHECK(c.memory_chips() * dram_gbps(c) == doctest::Approx(5324.8));
  CHECK(c.l2.slices * c.l2.memory_gbps == doctest::Approx(2150.4));
}

TEST_CASE("every DRAM timing set is one that validates with 128-byte lines") {
  for (const auto& w : words<DramPreset>()) {
    CAPTURE(w.word);
    CHECK_NOTHROW(read_system("sac-4chip", {"dram.preset=" + std::string(w.word)}));
    CHECK(dram_timing(w.value).burst_bytes == 32);
  }
}

TEST_CASE("a channel of each later DRAM moves what its data rate and width say, and rows stay open long enough") {
  struct Device {
    DramPreset preset;
    double gbit_per_pin;
    unsigned bits;
    double rcd_ns, rc_ns;  ///< of the source, before rounding to clocks
  };
  for (const Device& d :
       {Device{DramPreset::hbm2e, 3.2, 64, 17 * 0.833, 57 * 0.833},
        Device{DramPreset::hbm3, 6.4, 32, 31 * 0.625, 72 * 0.625}, Device{DramPreset::hbm3e, 8, 32, 31 * 0.625, 72 * 0.625},
        Device{DramPreset::gddr6x, 21, 16, 27 * 0.57, 79 * 0.57},
        Device{DramPreset::gddr7, 28, 8, 30 * 0.571, 90 * 0.571}}) {
    const DramTiming t = dram_timing(d.preset);
    CAPTURE(static_cast<int>(d.preset));
    CHECK(t.burst_bytes * t.clock_mhz / t.ccd / 1e3 == doctest::Approx(d.gbit_per_pin * d.bits / 8).epsilon(1e-3));
    const double clock_ns = 1e3 / t.clock_mhz;
    CHECK(t.rcd * clock_ns >= d.rcd_ns - 0.02);
    CHECK(t.rcd * clock_ns < d.rcd_ns + clock_ns);
    CHECK(t.rc * clock_ns >= d.rc_ns - 0.05);
    CHECK(t.rc * clock_ns < d.rc_ns + clock_ns);
  }
}
