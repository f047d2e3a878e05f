#include <fmt/format.h>

#include <memory>

#include "core/app/commands.hpp"
#include "core/stats/counter_list.hpp"

namespace atl {

void add_list_counters(Commands& c, CLI::App& list) {
  auto as_markdown = std::make_shared<bool>(false);
  CLI::App* cmd = list.add_subcommand("counters", "What is counted: name, unit, meaning");
  cmd->add_flag("--markdown", *as_markdown, "as the table of docs/results.md");
  cmd->callback([&c, as_markdown] {
    c.chosen = [as_markdown] { fmt::print("{}", *as_markdown ? counter_list_markdown() : counter_list()); };
  });
}

}  // namespace atl
