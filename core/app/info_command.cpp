#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "core/app/commands.hpp"
#include "core/app/damaged_result.hpp"
#include "core/app/shipped_files.hpp"
#include "core/app/tell.hpp"
#include "core/app/workload_info.hpp"
#include "core/stats/file_seal.hpp"
#include "core/stats/info_json.hpp"
#include "core/stats/summary.hpp"
#include "inputs/trace/trace_workload.hpp"

namespace atl {

void add_info(Commands& c) {
  struct Options {
    std::string file;
    bool json = false, count = false;
    ResultReading reading;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = c.app.add_subcommand("info", "Show what is in a result, a trace or a parametric workload");
  cmd->footer(
      "Examples:\n"
      "  atoll info out.h5                                         what ran, its counters, decisions and energy\n"
      "  atoll info trace.h5 --count                               kernels, CTAs, instructions and bytes of a trace\n"
      "  atoll info out.h5 --json | jq .totals");
  cmd->add_option("FILE", o->file, "result of `atoll run`, or whatever --workload takes")->required()->check(kNamed);
  cmd->add_flag("--json", o->json, "for programs");
  cmd->add_flag("--count", o->count, "of a workload: read every CTA, for instructions and the lines that they touch");
  o->reading.add_to(*cmd);
  cmd->callback([&c, o] {
    c.chosen = [o] {
      if (const std::string hidden = hidden_workload(o->file); !hidden.empty()) tell("note: {}\n", hidden);
      o->file = workload_file(o->file);
      refuse_checkpoint(o->file);
      // What has a checksum is a result: HDF5 is not to look at it before that was right, not even for what it is.
      const bool folder = std::filesystem::is_directory(o->file);  // of SASS traces
      if (folder || !has_hdf5_signature(o->file) || (!has_seal(o->file) && is_trace(o->file))) {
        fmt::print("{}", o->json ? workload_json(o->file, o->count) : workload_text(o->file, o->count));
        return;
      }
      if (o->count) throw InputError(o->file, "is a result, and --count is of workloads; leave it out");
      const RunResult r = o->reading.read(o->file);
      fmt::print("{}", o->json ? info_json(r) : info_text(r));
    };
  });
}

}  // namespace atl
