#include <fmt/format.h>

#include <memory>

#include "core/app/commands.hpp"
#include "core/app/damaged_result.hpp"
#include "core/control/capacity.hpp"
#include "core/engine/error.hpp"
#include "core/stats/explanation.hpp"
#include "inputs/config/reader.hpp"

namespace atl {

void add_explain(Commands& c) {
  struct Options {
    std::string file;
    bool json = false;
    ResultReading reading;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = c.app.add_subcommand("explain", "Say where a run's cycles went and what limits it");
  cmd->footer(
      "Every cycle of every chip is charged to what its warps waited for; the parts add up to the run (docs/explain.md).\n"
      "Examples:\n"
      "  atoll explain out.h5\n"
      "  atoll explain out.h5 --json | jq .limit");
  cmd->add_option("FILE", o->file, "result of `atoll run` (.h5)")->required()->check(kNamed);
  cmd->add_flag("--json", o->json, "for programs");
  o->reading.add_to(*cmd);
  cmd->callback([&c, o] {
    c.chosen = [o] {
      const RunResult r = o->reading.read(o->file);
      if (r.stack.empty())
        throw InputError(o->file, fmt::format("has no /stack: Atoll {} ({}) wrote it; run it again with this Atoll",
                                              r.provenance.version, r.provenance.git_commit));
      const Capacities capacities = capacities_of(scaled(parse_effective(r.provenance.effective_config)));
      fmt::print("{}", o->json ? explanation_json(r, capacities) : explanation_text(r, capacities));
    };
  });
}

}  // namespace atl
