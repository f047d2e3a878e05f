#include <fmt/format.h>

#include <memory>

#include "core/app/commands.hpp"
#include "core/app/tell.hpp"
#include "core/stats/durable_file.hpp"
#include "inputs/trace/accelsim_list.hpp"
#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/workload/workload_files.hpp"

namespace atl {

void add_import(Commands& c) {
  struct Options {
    std::string list, output;
    std::string kernels, ctas;
    std::string latencies = "gpu";
    bool force = false, strict = false;
  };
  auto o = std::make_shared<Options>();
  CLI::App* cmd = c.app.add_subcommand("import", "Convert a foreign trace into an Atoll trace");
  cmd->require_subcommand(1);
  CLI::App* accel = cmd->add_subcommand("accel-sim", "SASS traces of Accel-Sim's tracer");
  accel
      ->add_option("LIST", o->list, "kernelslist.g, beside its kernel files (.traceg, .traceg.xz, .tracez), or their folder")
      ->required();
  accel->add_option("-o,--output", o->output, "trace to write (.h5)")->check(kNamed)->required();
  accel->add_flag("-f,--force", o->force, "replace an existing file");
  add_selection(*accel, o->kernels, o->ctas);
  accel
      ->add_option(
          "--latencies", o->latencies,
          "when a result can be used: `gpu`, after the published latency; `accel-sim`, six cycles later, as its pipeline "
          "has it (docs/traces.md)")
      ->check(CLI::IsMember({"gpu", "accel-sim"}));
  accel->add_flag("--strict", o->strict, "refuse a trace that lacks warps, or whose instructions do not fit its header");
  accel->callback([&c, o] {
    c.chosen = [o] {
      const std::string list = main_file(o->list);
      std::vector<std::string> read = accelsim::read_kernel_list(list).kernels;
      read.push_back(list);
      refuse_inputs(o->output, read), check_output(o->output, o->force);
      ImportOptions options;
      options.selection = {o->kernels, o->ctas};
      if (o->latencies == "accel-sim") options.latencies = accelsim::Latencies::accel_sim;
      options.strict = o->strict;
      options.warn = [](const std::string& what) { tell("atoll: warning: {}\n", what); };
      const std::string selected = import_accel_sim(list, o->output, options);
      if (!selected.empty()) fmt::print("selection  {}\n", selected);
    };
  });
}

}  // namespace atl
