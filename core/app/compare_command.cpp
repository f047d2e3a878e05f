#include <fmt/format.h>

#include <memory>

#include "core/app/commands.hpp"
#include "core/app/damaged_result.hpp"
#include "core/stats/result_comparison.hpp"

namespace atl {

void add_compare(Commands& c) {
  struct Options {
    std::string a, b;
    std::size_t top = 20;
    bool json = false;
    ResultReading reading;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = c.app.add_subcommand("compare", "Say what differs between two results, and by how much");
  cmd->footer(
      "Configuration first, then workload and program, then figures by relative difference: those that differ by less than\n"
      "1 %, and counts below 100, are left out. Equal digests mean that everything simulated is the same.\n"
      "Examples:\n"
      "  atoll compare memory_side.h5 sm_side.h5\n"
      "  atoll compare old.h5 new.h5 --top 5\n"
      "Whole sweeps: `atoll table`.");
  cmd->add_option("A", o->a, "result of `atoll run` (.h5)")->required()->check(kNamed);
  cmd->add_option("B", o->b, "another one")->required()->check(kNamed);
  cmd->add_option("--top", o->top, "rows of each list")->check(whole(1, 1 << 20))->capture_default_str();
  cmd->add_flag("--json", o->json, "for programs: everything that differs, however little");
  o->reading.add_to(*cmd);
  cmd->callback([&c, o] {
    c.chosen = [o] {
      const RunResult a = o->reading.read(o->a), b = o->reading.read(o->b);
      fmt::print("{}", o->json ? comparison_json(compare(a, b, {.relative = 0, .count = 0, .cycles = 0}))
                               : comparison_text(compare(a, b), a, b, o->top));
    };
  });
}

}  // namespace atl
