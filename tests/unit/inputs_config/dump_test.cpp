#include "inputs/config/dump.hpp"

#include <doctest/doctest.h>
#include <fmt/ranges.h>

#include <map>
#include <nlohmann/json.hpp>

#include "inputs/config/walk.hpp"
#include "support.hpp"

using namespace atl;
using namespace atl::test;

namespace {

/// Every leaf as an exact text, taken from the structs and not from the dump.
std::map<std::string, std::string> leaves(const SystemConfig& c) {
  std::map<std::string, std::string> all;
  for_each_leaf(c, "", [&]<class T>(const T& value, const Field&, const std::string& key) {
    if constexpr (std::is_enum_v<T>) {
      all[key] = std::to_string(static_cast<int>(value));
    } else if constexpr (std::is_same_v<T, double>) {
      all[key] = fmt::format("{:a}", value);
    } else {
      all[key] = fmt::format("{}", value);
    }
  });
  return all;
}

SystemConfig read_back(const SystemConfig& c) {
  const TempFile file("other_name.json", effective_json(c));
  return read_system(file.path());
}

}  // namespace

TEST_CASE("the effective configuration read back is identical, for every preset") {
  for (const PresetInfo& preset : list_presets()) {
    CAPTURE(preset.name);
    const SystemConfig c = read_system(preset.name);
    CHECK(leaves(read_back(c)) == leaves(c));
    CHECK(effective_json(read_back(c)) == effective_json(c));
  }
}

TEST_CASE("the effective configuration keeps values that differ from every default, in every kind of field") {
  const SystemConfig c = read_system(
      "sac-4chip", {"name=\"a \\\"quoted\\\" name\"", "core_clock_mhz=1234.56789012345", "l1.sectored=true",
                    "l1.enabled=false", "sm.scheduler=lrr", "link.topology=full", "control.deadlock_cycles=1e15",
                    "dram.preset=hbm2", "dram.timing.cl=77", "link.bandwidth_gbps=0.1", "workload.device_chips=[2,0]"});
  CHECK(c.control.deadlock_cycles == 1000000000000000ull);
  CHECK(c.core_clock_mhz == 1234.56789012345);
  CHECK(leaves(read_back(c)) == leaves(c));
}

TEST_CASE("the effective configuration lists the keys in the order of the structs") {
  const auto json = nlohmann::ordered_json::parse(effective_json(read_system("sac-4chip")));
  std::vector<std::string> sections;
  for (const auto& [key, value] : json.items()) sections.push_back(key);
  CHECK(sections == std::vector<std::string>{"name",     "chips",     "core_clock_mhz", "line_bytes", "scale",   "sm",
                                             "l1",       "noc",       "cluster",        "l2",         "llc",     "dynamic",
                                             "sac",      "selrep",    "adaptive",       "dram",       "link",    "partition",
                                             "workload", "coherence", "rec_adaptive",   "control",    "observe", "energy"});
  CHECK(json["dram"]["timing"]["rcd"] == 20);
}

TEST_CASE("the explanation tells each key's value, unit, range, words and meaning") {
  const std::string text = explain(read_system("sac-4chip"));
  CHECK(text.find("\n[llc] last-level cache\n") != std::string::npos);
  CHECK(text.find("link.latency_cycles = 32 cycles\n"
                  "    one hop; also the lookahead of the parallel simulation (1 to 1000000 cycles)\n") !=
        std::string::npos);
  CHECK(text.find("llc.sectored = false\n") != std::string::npos);
  CHECK(text.find("link.topology = ring\n") != std::string::npos);
  CHECK(text.find("\n[these keys come to] of a chip\n    memory: ") != std::string::npos);
  CHECK(text.find("    a link, each way, of 96 GB/s: up to 96 B per cycle\n") != std::string::npos);
  CHECK(explain(read_system("mi300x")).find("a link, each way, of 1075 to 2150 GB/s: ") != std::string::npos);
  CHECK(explain(read_system("selrep-gpu")).find("a link, each way") == std::string::npos);
  CHECK(text.find("      switch: every chip has one port on a common switch\n") != std::string::npos);
  for (const auto& [key, value] : leaves(SystemConfig{})) CHECK_MESSAGE(text.find(key + " = ") != std::string::npos, key);
}

TEST_CASE("every value of every enum has a word, so that nothing is dumped as an empty text") {
  const SystemConfig config;
  for_each_leaf(config, "", []<class T>(const T&, const Field&, const std::string& key) {
    if constexpr (std::is_enum_v<T>) {
      CAPTURE(key);
      CHECK(!words<T>().empty());
      for (std::size_t i = 0; i < words<T>().size(); ++i) CHECK(static_cast<std::size_t>(words<T>()[i].value) == i);
    }
  });
}
