#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "core/app/commands.hpp"
#include "core/app/completion.hpp"
#include "core/app/shipped_files.hpp"
#include "core/engine/error.hpp"
#include "inputs/config/presets.hpp"
#include "inputs/config/suggest.hpp"

namespace atl {
namespace {

void print_lines(const std::vector<std::string>& words) {
  for (const std::string& word : words) fmt::print("{}\n", word);
}

std::vector<std::string> names_of_commands(const CLI::App& app) {
  std::vector<std::string> names{"help"};
  for (const CLI::App* c : app.get_subcommands([](const CLI::App*) { return true; })) names.push_back(c->get_name());
  return names;
}

/// Without the sections, which take no value.
std::vector<std::string> configuration_keys() {
  const std::vector<std::string> all = all_keys();
  std::vector<std::string> keys;
  for (const std::string& key : all) {
    const auto inside = [&key](const std::string& other) { return other.starts_with(key + "."); };
    if (std::ranges::none_of(all, inside)) keys.push_back(key + "=");
  }
  return keys;
}

std::vector<std::string> names_of_systems() {
  std::vector<std::string> names;
  for (const PresetInfo& p : list_presets()) names.push_back(p.name);
  return names;
}

}  // namespace

void add_completion(Commands& c) {
  auto what = std::make_shared<std::string>();
  CLI::App* cmd = c.app.add_subcommand("completion", "Print a completion script for bash or zsh");
  cmd->add_option("WHAT", *what, "bash or zsh; for these scripts: commands, systems, workloads, experiments, keys")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "commands", "systems", "workloads", "experiments", "keys"}))
      ->type_name("");
  cmd->footer(
      "\nExamples:\n"
      "  source <(atoll completion bash)                           in ~/.bashrc, where Atoll is not installed\n"
      "  atoll completion zsh > ~/.zfunc/_atoll                    in a folder of $fpath, before compinit");
  cmd->callback([&c, what] {
    c.chosen = [&c, what] {
      if (*what == "bash") fmt::print("{}", bash_completion(c.app));
      if (*what == "zsh") fmt::print("{}", zsh_completion(c.app));
      if (*what == "commands") print_lines(names_of_commands(c.app));
      if (*what == "systems") print_lines(names_of_systems());
      if (*what == "workloads") print_lines(shipped_workloads());
      if (*what == "experiments") print_lines(shipped_experiments());
      if (*what == "keys") print_lines(configuration_keys());
    };
  });
}

void add_manual(Commands& c) {
  auto name = std::make_shared<std::string>();
  CLI::App* cmd = c.app.add_subcommand("manual", "Print a command's page for man, in roff");
  cmd->add_option("COMMAND", *name, "command; without one, the page of all");
  cmd->footer("\nExamples:\n  atoll manual run | man -l -                               where Atoll is not installed");
  cmd->callback([&c, name] {
    c.chosen = [&c, name] {
      if (name->empty()) {
        fmt::print("{}", manual_page(c.app));
        return;
      }
      const auto found = c.app.get_subcommands([&name](const CLI::App* command) { return command->get_name() == *name; });
      if (found.empty()) throw InputError(*name, "there is no such command; `atoll --help` lists all");
      fmt::print("{}", manual_page(*found.front()));
    };
  });
}

}  // namespace atl
