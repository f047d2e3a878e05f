#include <fmt/format.h>

#include <memory>

#include "core/app/commands.hpp"
#include "core/app/shipped_files.hpp"
#include "core/app/storage_table.hpp"
#include "core/app/tell.hpp"
#include "inputs/config/dump.hpp"
#include "inputs/config/idle_keys.hpp"
#include "inputs/config/presets.hpp"
#include "inputs/config/reader.hpp"
#include "inputs/experiment/experiment.hpp"

namespace atl {

void add_config(Commands& c) {
  struct Options {
    std::string system;
    std::vector<std::string> sets;
    bool explain = false, storage = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = c.app.add_subcommand("config", "Show a system's effective configuration");
  cmd->footer(
      "Examples:\n"
      "  atoll config sac-4chip                                    as JSON, which is a system as well\n"
      "  atoll config sac-4chip --explain | grep dram              what keys there are, and what they mean\n"
      "  atoll config mine.json -s chips=8 -s llc.ways=32          whether it is a system, or what is wrong with it\n"
      "  atoll config sac-4chip -s llc.organisation=sac --storage  bytes of hardware");
  cmd->add_option("SYSTEM", o->system, "preset or JSON file")->required()->check(kNamed);
  cmd->add_option("-s,--set", o->sets, "override a configuration key; repeatable, the last of a key counts")
      ->type_name("KEY=VALUE");
  auto* storage =
      cmd->add_flag("--storage", o->storage, "bytes that its mechanisms keep in hardware, and of what they are made");
  cmd->add_flag("--explain", o->explain, "every key with unit, range and meaning")->excludes(storage);
  cmd->callback([&c, o] {
    c.chosen = [o] {
      const SystemConfig config = read_system(o->system, o->sets);
      for (const std::string& what : idle_keys(config, keys_given(o->system, o->sets))) tell("atoll: warning: {}\n", what);
      if (o->storage) return fmt::print("{}", storage_table(config));
      fmt::print("{}\n", o->explain ? explain(config) : effective_json(config));
    };
  });
}

namespace {

/// Words side by side, as far as a line reaches.
std::string columns(const std::vector<std::string>& words) {
  constexpr std::size_t kLine = 100;
  std::string text, line;
  for (const std::string& word : words) {
    if (line.size() + word.size() + 1 > kLine) text += line + "\n", line.clear();
    line += (line.empty() ? "  " : " ") + word;
  }
  return line.empty() ? text : text + line + "\n";
}

}  // namespace

void add_list(Commands& c) {
  CLI::App* cmd =
      c.app.add_subcommand("list", "List the systems, organisations, workloads and experiments that come with Atoll");
  cmd->footer(
      "Examples:\n"
      "  atoll list                                                names that other commands take\n"
      "  atoll list counters | grep llc                            those of slices: names, units, meanings");
  add_list_counters(c, *cmd);
  cmd->callback([&c, cmd] {
    if (!cmd->get_subcommands().empty()) return;  // their callbacks came before
    c.chosen = [] {
      fmt::print("Systems (atoll run SYSTEM ..., atoll config SYSTEM --explain):\n");
      for (const PresetInfo& p : list_presets()) fmt::print("  {:<12} {}\n", p.name, p.doc);
      fmt::print("LLC organisations (--set llc.organisation=...):\n");
      for (const auto& word : words<LlcOrganisation>()) fmt::print("  {:<12} {}\n", word.word, word.doc);
      fmt::print("Replication inside a chip (--set llc.replication=...):\n");
      for (const auto& word : words<Replication>()) fmt::print("  {:<12} {}\n", word.word, word.doc);
      fmt::print("Workloads (--workload NAME; besides, an Atoll trace, an Accel-Sim kernelslist.g, or a JSON file):\n{}",
                 columns(shipped_workloads()));
      fmt::print("Experiments (atoll sweep NAME):\n{}", columns(shipped_experiments()));
      fmt::print("Counters: atoll list counters\n");
    };
  });
}

}  // namespace atl
