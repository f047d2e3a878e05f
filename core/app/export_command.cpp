#include <fmt/format.h>

#include <filesystem>
#include <memory>

#include "core/app/commands.hpp"
#include "core/app/damaged_result.hpp"
#include "core/control/capacity.hpp"
#include "core/engine/error.hpp"
#include "core/stats/csv_export.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/summary.hpp"
#include "core/stats/trace_export.hpp"
#include "inputs/config/reader.hpp"

namespace atl {
namespace {

struct ExportOptions {
  std::string file, perfetto, csv;
  bool force = false;
  ResultReading reading;
};

void export_result(const ExportOptions& o) {
  namespace fs = std::filesystem;
  if (o.perfetto.empty() && o.csv.empty())
    throw InputError("export", "nothing to write; give --perfetto TRACE.json, --csv DIR or both");
  const RunResult r = o.reading.read(o.file);
  if (r.sampling) fmt::print("sampled: {}; but for sampled_*.csv the files are of what was simulated\n", sampled_text(r));
  if (!o.perfetto.empty()) refuse_inputs(o.perfetto, {&o.file, 1}), check_output(o.perfetto, o.force);
  std::vector<CsvFile> tables;
  if (!o.csv.empty()) {
    tables = csv_tables(r);
    std::error_code error;
    if (fs::exists(o.csv, error) && !fs::is_directory(o.csv, error))
      throw InputError(o.csv, "is a file; --csv takes the name of a directory");
    fs::create_directories(o.csv, error);
    if (error) throw IoError(o.csv, "cannot be created: " + error.message());
    for (const CsvFile& t : tables) {
      const std::string path = (fs::path(o.csv) / t.name).string();
      refuse_inputs(path, {&o.file, 1}), check_output(path, o.force);
    }
  }
  if (!o.perfetto.empty()) {
    const auto config = parse_effective(r.provenance.effective_config);
    write_then_rename(o.perfetto, perfetto_trace(r, capacities_of(scaled(config))));
    fmt::print("{}: open it at ui.perfetto.dev or chrome://tracing; 1 us there is 1 core cycle\n", o.perfetto);
  }
  for (const CsvFile& t : tables) {
    const std::string path = (fs::path(o.csv) / t.name).string();
    write_then_rename(path, t.text);
    fmt::print("{}\n", path);
  }
}

}  // namespace

void add_export(Commands& c) {
  auto o = std::make_shared<ExportOptions>();
  CLI::App* cmd = c.app.add_subcommand("export", "Write a result for other programs: a trace to look at, or tables");
  cmd->footer(
      "Examples:\n"
      "  atoll export out.h5 --perfetto trace.json      then open ui.perfetto.dev and load trace.json\n"
      "  atoll export out.h5 --csv tables               kernels.csv, series.csv, totals.csv, stack.csv, ...");
  cmd->add_option("FILE", o->file, "result of `atoll run` (.h5)")->required()->check(kNamed);
  cmd->add_option("--perfetto", o->perfetto,
                  "Trace Event JSON: kernels, decisions, phases and counters of every chip over time");
  cmd->add_option("--csv", o->csv, "directory for one CSV file per table; made if it is not there");
  cmd->add_flag("-f,--force", o->force, "replace existing files");
  o->reading.add_to(*cmd);
  cmd->callback([&c, o] { c.chosen = [o] { export_result(*o); }; });
}

}  // namespace atl
