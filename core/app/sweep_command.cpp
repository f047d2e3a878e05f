#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "comm/launcher.hpp"
#include "core/app/child_process.hpp"
#include "core/app/commands.hpp"
#include "core/app/job_pool.hpp"
#include "core/app/point_state.hpp"
#include "core/app/shipped_files.hpp"
#include "core/app/sweep_progress.hpp"
#include "core/app/tell.hpp"
#include "core/engine/error.hpp"
#include "core/engine/exit_code.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/human.hpp"
#include "core/stats/result_versions.hpp"
#include "inputs/config/keys_at_odds.hpp"
#include "inputs/config/reader.hpp"
#include "inputs/experiment/experiment.hpp"
#include "inputs/experiment/idle_points.hpp"
#include "inputs/sampling/sampling_options.hpp"

namespace atl {
namespace {

namespace fs = std::filesystem;

struct SweepOptions {
  std::string file, folder, only;
  std::vector<std::string> sets;
  std::vector<std::size_t> numbers;  ///< of points; none: all
  std::size_t jobs = 0;
  unsigned scale = 0;
  std::string sample;
  bool list = false, missing = false, force = false;
};

struct Selected {
  std::size_t number;  ///< from 1, among all points
  Point point;
  PointStatus status{};
};

std::vector<Selected> select(const Experiment& e, const SweepOptions& o) {
  std::vector<Selected> out;
  std::size_t number = 0;
  for (const Point& point : expand(e)) {
    ++number;
    const bool named = o.only.empty() || fnmatch(o.only.c_str(), point.name.c_str(), 0) == 0;
    if (named && (o.numbers.empty() || std::ranges::count(o.numbers, number) > 0)) out.push_back({number, point});
  }
  for (const std::size_t n : o.numbers)
    if (n > number) throw InputError("--point", fmt::format("{} does not exist; there are {}", n, number));
  if (out.empty())
    throw InputError("--only", fmt::format("`{}` fits none of the {} points{}; `atoll sweep {} --list` shows their names",
                                           o.only, number, o.numbers.empty() ? "" : " that --point names", o.file));
  return out;
}

/// For `atoll table`, and to run it again: what the results in the folder are results of.
std::string stored_at(const std::string& folder) { return folder + "/experiment.json"; }

bool is_stored(const Experiment& e, const std::string& folder) {
  std::ifstream file(stored_at(folder));
  return std::string(std::istreambuf_iterator<char>(file), {}) == to_json(e, folder);
}

/// A table is of the experiment that is stored: results of another one are none of its points.
void warn_of_other_results(const Experiment& e, const std::string& folder) {
  std::set<std::string> names;
  for (const Point& point : expand(e)) names.insert(point.name);
  std::vector<std::string> others;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".h5" && !names.contains(entry.path().stem().string()))
      others.push_back(entry.path().filename().string());
  std::ranges::sort(others);
  if (!others.empty())
    tell(
        "atoll: warning: {} has {}, which {} no point of this experiment: `atoll table` leaves {} out; give each "
        "experiment an --out of its own\n",
        folder, listed(others), others.size() == 1 ? "is" : "are", others.size() == 1 ? "it" : "them");
}

void store_experiment(const Experiment& e, const std::string& folder) {
  if (is_stored(e, folder)) return;
  warn_of_other_results(e, folder);
  try {
    write_then_rename(stored_at(folder), to_json(e, folder));
  } catch (const IoError&) {  // the jobs of an array begin together, and one of them has just written it
    if (!is_stored(e, folder)) throw;
  }
}

void print_list(const std::vector<Selected>& points) {
  std::map<PointState, std::size_t> counts;
  for (const Selected& s : points) {
    ++counts[s.status.state];
    fmt::print("{:>5}  {:<10}  {}{}\n", s.number, word_of(s.status.state), s.point.name,
               s.status.note.empty() ? "" : "  (" + s.status.note + ")");
  }
  std::string line;
  for (const auto& [state, n] : counts) line += fmt::format("{}{} {}", line.empty() ? "" : ", ", n, word_of(state));
  fmt::print("{}\n", line);
}

/// Of the results that stay, and of those that this program is to write.
void tell_versions(const std::vector<Selected>& points, bool list) {
  ResultVersions versions;
  std::size_t to_run = 0;
  for (const Selected& s : points) {
    if (s.status.state == PointState::done) ++versions[s.status.version];
    to_run += s.status.state != PointState::done;
  }
  const bool more = !list && to_run > 0;
  if (more) versions[this_version()] += to_run;
  if (const std::string note = versions_note(versions); !note.empty())
    tell("note: {}{}\n", more ? "when this sweep has ended, " : "", note);
}

/// For scripts: what a sweep would run, a line of number and name each, and nothing else.
void print_missing(const std::vector<Selected>& points) {
  for (const Selected& s : points)
    if (s.status.state != PointState::done) fmt::print("{} {}\n", s.number, s.point.name);
}

void refuse_to_replace(const std::vector<Selected>& points, const std::string& folder) {
  const auto differs = [](const Selected& s) { return s.status.state == PointState::differs; };
  const auto first = std::ranges::find_if(points, differs);
  if (first == points.end()) return;
  const auto others = std::ranges::count_if(points, differs) - 1;
  throw InputError(result_path(folder, first->point),
                   fmt::format("is no result of this point: {}{}; use --force to run it again, or another --out",
                               first->status.note, others > 0 ? fmt::format(" (and {} more points)", others) : ""));
}

Job job_of(const Experiment& e, const Point& point, const std::string& folder) {
  const std::string result = result_path(folder, point);
  Job job{point.name, {}, log_path(folder, point), result + ".part"};
  // Several runs share the processors here: bound ones would all sit on the first of them.
  if (e.ranks > 0) job.command = {"mpirun", "--oversubscribe", "--bind-to", "none", "-n", std::to_string(e.ranks)};
  const auto& workload = point.workload->path;
  job.command.insert(job.command.end(),
                     {this_program(), "run", e.system, "--workload", workload, "--output", result, "--force"});
  if (!e.sample.empty()) job.command.insert(job.command.end(), {"--sample", e.sample});
  for (const std::string& set : overrides(e, point)) job.command.insert(job.command.end(), {"--set", set});
  return job;
}

/// What is at odds in the systems of these points, before they run for hours.
void warn_of_links(const Experiment& e, const std::vector<Selected>& points, SweepWarnings& warnings) {
  for (const Selected& s : points) {
    if (s.status.state == PointState::done) continue;
    for (const std::string& what : keys_at_odds(parse_effective(effective_config(e, s.point))))
      warnings.tell_of(s.point.name, what);
  }
}

/// Points that were not chosen and have no result, or one of other settings.
std::size_t missing_beside(const Experiment& e, const std::vector<Selected>& chosen, PointInspector& inspector) {
  std::size_t n = 0;
  for (const Point& point : expand(e)) {
    const auto is_it = [&](const Selected& s) { return s.point.name == point.name; };
    n += std::ranges::none_of(chosen, is_it) && inspector.inspect(point).state != PointState::done;
  }
  return n;
}

int run_missing(const Experiment& e, const std::vector<Selected>& points, const SweepOptions& o, const std::string& folder,
                PointInspector& inspector) {
  SweepWarnings warnings;
  warn_of_links(e, points, warnings);
  const IdlePoints idle = idle_points(e);
  for (const std::string& what : idle.somewhere) warnings.pass_over(what);
  for (const std::string& what : idle.everywhere) tell("atoll: warning: in every point that sets it {}\n", what);
  std::vector<Job> jobs;
  std::vector<std::string> workloads;
  for (const Selected& s : points)
    if (s.status.state != PointState::done) {
      jobs.push_back(job_of(e, s.point, folder));
      workloads.push_back(s.point.workload->name);
      jobs.back().replace = o.force;
      jobs.back().result = [&] {
        const PointStatus now = inspector.inspect_result(s.point);
        return JobResult{now.state == PointState::done, now.state == PointState::differs ? now.note : ""};
      };
    }
  const std::size_t at_once =
      o.jobs ? o.jobs : std::max<std::size_t>(1, static_cast<std::size_t>(processors_of_process()) / std::max(1u, e.ranks));
  fmt::print("{} of {} points are done; running {}, {} at a time, into {}\n", points.size() - jobs.size(), points.size(),
             jobs.size(), std::min(at_once, std::max<std::size_t>(1, jobs.size())), folder);
  std::fflush(stdout);
  std::vector<std::string> failures;
  std::size_t elsewhere = 0;
  SweepProgress progress(jobs, std::move(workloads), at_once);
  const int signal = run_jobs(
      jobs, at_once,
      [&](const JobEnd& end) {
        progress.ended(end);
        for (const std::string& what : end.warnings) warnings.tell_of(end.job->name, what);
        elsewhere += end.skipped;
        if (!end.error.empty()) failures.push_back(fmt::format("{}: {}", end.job->name, end.error));
      },
      [&](const PoolState& s) { progress.draw(s); });
  progress.clear();
  warnings.tell_of_others();
  if (!failures.empty()) tell("atoll: {} of {} points failed:\n", failures.size(), jobs.size());
  for (const std::string& failure : failures) tell("  {}\n", failure);
  if (signal) {
    tell("atoll: stopped by signal {}; what was finished stays, the same command goes on from there\n", signal);
    return 128 + signal;
  }
  if (elsewhere > 0) fmt::print("{} of them are left to another process\n", elsewhere);
  if (!is_stored(e, folder)) {
    tell("atoll: {}: is of another experiment now, whose sweep began meanwhile: give each an --out of its own\n",
         stored_at(folder));
    return kExitOther;
  }
  if (failures.empty() && elsewhere == 0) {
    const std::size_t missing = missing_beside(e, points, inspector);
    fmt::print("{}; `atoll table {}` compares\n",
               missing == 0   ? "all done"
               : missing == 1 ? "done, as chosen; 1 other point is not done"
                              : fmt::format("done, as chosen; {} other points are not done", missing),
               folder);
  }
  return failures.empty() ? kExitDone : kExitOther;
}

/// What tells points apart is theirs: with a key of a variant set for all, results would have names of what they are not.
void refuse_keys_of_points(const Experiment& e, const std::vector<std::string>& sets) {
  const auto refuse_if_set_by = [&](const char* what, const std::string& name, const std::vector<std::string>& own) {
    for (const std::string& key : keys_set(own))
      for (const std::string& given : keys_set(sets))
        if (key == given || key.starts_with(given + ".") || given.starts_with(key + "."))
          throw InputError("--set", fmt::format("`{}` is set by {} `{}`, and its results would have the name of what they "
                                                "are not; change the experiment instead",
                                                key, what, name));
  };
  for (const Variant& v : e.variants) refuse_if_set_by("variant", v.name, v.sets);
  for (const ExperimentWorkload& w : e.workloads) refuse_if_set_by("workload", w.name, w.sets);
}

/// The experiment with what the command line says of all points.
Experiment read_for(const SweepOptions& o) {
  Experiment e = read_experiment(o.file, shipped_workload);
  refuse_keys_of_points(e, o.sets);
  const auto scales = [](const std::string& set) { return keys_set({set}) == std::vector<std::string>{"scale"}; };
  const bool set = std::ranges::any_of(o.sets, scales);
  if (o.scale > 0 && set) throw InputError("--scale", "and --set scale=... set one key; use one of them");
  if (o.scale > 0 || set) std::erase_if(e.sets, scales), e.scale = o.scale;
  if (!o.sample.empty()) e.sample = SamplingOptions::parse(o.sample).text();
  e.sets.insert(e.sets.end(), o.sets.begin(), o.sets.end());
  return e;
}

int sweep(const SweepOptions& o) {
  const Experiment e = read_for(o);
  std::string folder = o.folder.empty() ? "results/" + fs::path(o.file).stem().string() : o.folder;
  while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
  std::vector<Selected> points = select(e, o);
  for (const Selected& s : points) {
    if (o.list)
      effective_config(e, s.point);  // a list is also of workloads that are still to be recorded
    else
      check_point(e, s.point);
  }
  PointInspector inspector(e, folder);
  for (Selected& s : points) s.status = inspector.inspect(s.point);
  if (!o.force && (!o.list || o.missing)) refuse_to_replace(points, folder);
  if (o.list) {
    o.missing ? print_missing(points) : print_list(points);
    if (!o.missing) tell_versions(points, true);
    return 0;
  }
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw IoError(folder, "cannot be created: " + error.message());
  store_experiment(e, folder);
  tell_versions(points, false);
  return run_missing(e, points, o, folder, inspector);
}

}  // namespace

void add_sweep(Commands& c) {
  auto o = std::make_shared<SweepOptions>();
  CLI::App* cmd = c.app.add_subcommand("sweep", "Run an experiment: every workload on every variant, what is missing of it");
  cmd->footer(
      "Examples:\n"
      "  atoll sweep inputs/experiments/quick.json                 everything, into results/quick\n"
      "  atoll sweep E.json --list                                 points with their numbers and states\n"
      "  atoll sweep E.json --only 'BFS__*' --jobs 4               one workload, four runs at a time\n"
      "  atoll sweep E.json --point 3,7                            two points, by number\n"
      "  atoll sweep E.json --list --missing                       what a sweep would run, for scripts (slurm/submit.sh)\n"
      "  atoll sweep E.json --scale 8 --out results/e8             an eighth of the LLC and of the footprints\n"
      "Results stay in DIR as WORKLOAD__VARIANT.h5, the log of a failed point beside as .log. Started again, it runs what "
      "is\n"
      "not there. A result of other settings is never replaced without --force. Exit code: 0, or 1 if a point failed.\n"
      "The file's format: docs/experiments.md.");
  cmd->add_option("EXPERIMENT", o->file, "experiment (.json), or the name of one that comes with Atoll")
      ->required()
      ->check(kNamed);
  cmd->add_option("-o,--out", o->folder, "folder for the results; default: results/ and the experiment's name")
      ->type_name("DIR")
      ->check(kNamed);
  cmd->add_option("-j,--jobs", o->jobs, "runs at a time; default: as many as there are processors")->check(whole(1, 4096));
  CLI::Option* list = cmd->add_flag("--list", o->list, "show the points, run nothing");
  cmd->add_flag("--missing", o->missing, "with --list: only what a sweep would run, as lines of number and name")
      ->needs(list);
  cmd->add_option("--only", o->only, "only points whose name fits, e.g. 'BFS__*'")->type_name("GLOB")->check(kNamed);
  cmd->add_option("--point", o->numbers, "only the points of these numbers (--list)")
      ->type_name("N,...")
      ->delimiter(',')
      ->check(whole(1, 1 << 30));
  cmd->add_option("-s,--set", o->sets, "override a configuration key in all points; repeatable, the last of a key counts")
      ->type_name("KEY=VALUE");
  cmd->add_option("--scale", o->scale, "instead of the experiment's `scale`")->check(whole(1, 1024));
  cmd->add_option("--sample", o->sample, "in all points, instead of the experiment's `sample` (docs/sampling.md)")
      ->check(kNamed);
  cmd->add_flag("-f,--force", o->force, "run points again whose results differ from what would be run now");
  cmd->callback([&c, o] {
    c.chosen = [&c, o] {
      if (const std::string hidden = hidden_experiment(o->file); !hidden.empty()) tell("note: {}\n", hidden);
      o->file = experiment_file(o->file);
      c.exit_code = sweep(*o);
    };
  });
}

}  // namespace atl
