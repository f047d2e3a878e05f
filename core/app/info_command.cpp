#include <fmt/format.h>

#include <memory>

#include "core/app/commands.hpp"
#include "core/stats/hdf5_result_reader.hpp"
#include "core/stats/summary.hpp"

namespace atl {

void add_info(Commands& c) {
  struct Options {
    std::string file;
    bool json = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = c.app.add_subcommand("info", "Show what is in a result file");
  cmd->add_option("FILE", o->file, "result of `atoll run` (.h5)")->required();
  cmd->add_flag("--json", o->json, "for programs");
  cmd->callback([&c, o] {
    c.chosen = [o] {
      const RunResult r = read_result(o->file);
      fmt::print("{}", o->json ? info_json(r) : info_text(r));
    };
  });
}

}  // namespace atl
