#include "core/app/sweep_results.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>

#include "core/app/damaged_result.hpp"
#include "core/app/point_state.hpp"
#include "core/engine/error.hpp"
#include "core/engine/file_exists.hpp"
#include "core/stats/human.hpp"
#include "core/stats/unlike_work.hpp"
#include "inputs/config/reader.hpp"
#include "inputs/workload/workload_files.hpp"

namespace atl {
namespace {

using RunKey = std::pair<std::string, std::string>;  // workload, variant

/// Leaves out runs whose `digest` is not that of the first of `runs` that is there: what they are held against.
void leave_out_other_versions(SweepResults& s, std::span<const RunKey> runs, std::string Provenance::*digest,
                              std::string_view what) {
  const auto first = std::ranges::find_if(runs, [&](const RunKey& key) { return s.runs.contains(key); });
  if (first == runs.end()) return;
  const std::string like = s.runs.at(*first).provenance.*digest;
  for (const RunKey& key : runs) {
    const auto run = s.runs.find(key);
    if (run == s.runs.end() || run->second.provenance.*digest == like) continue;
    s.missing.push_back(fmt::format("{}__{} (of another version of the {} than {}__{})", key.first, key.second, what,
                                    first->first, first->second));
    s.runs.erase(run);
  }
}

/// One version of each workload, that of the baselines, and of each policy, that of the newest run.
void leave_out_other_versions(SweepResults& s) {
  for (const ExperimentWorkload& w : s.experiment.workloads) {
    std::vector<RunKey> runs;
    for (const Variant& v : s.experiment.variants) runs.emplace_back(w.name, v.baseline);
    for (const Variant& v : s.experiment.variants) runs.emplace_back(w.name, v.name);
    leave_out_other_versions(s, runs, &Provenance::workload_digest, "workload");
  }
  std::map<std::string, std::vector<RunKey>> of_policy;
  for (const auto& [key, run] : s.runs)
    of_policy[parse_effective(run.provenance.effective_config).llc.policy].push_back(key);
  for (auto& [policy, runs] : of_policy) {
    const auto began = [&](const RunKey& key) { return s.runs.at(key).provenance.started_at; };
    std::ranges::stable_sort(runs, std::greater<>(), began);
    leave_out_other_versions(s, runs, &Provenance::policy_digest, "policy " + policy);
  }
}

/// Files of policies that are others than they were. One that is not there may be so because the folder was taken elsewhere.
std::set<std::string> changed_policies(const SweepResults& s) {
  std::set<std::string> out;
  for (const auto& [key, run] : s.runs) {
    const std::string policy = parse_effective(run.provenance.effective_config).llc.policy;
    if (!out.contains(policy) && policy_has_changed(run.provenance, policy)) out.insert(policy);
  }
  return out;
}

/// "": its system is not to be had, as where a folder of results was taken elsewhere.
std::string wanted_config(SweepResults& s, const Point& p) {
  try {
    return effective_config(s.experiment, p);
  } catch (const InputError& error) {
    s.unchecked = error.what();
    return "";
  }
}

using Moment = std::pair<std::int64_t, std::int64_t>;  // seconds and nanoseconds

std::optional<struct stat> stat_of(const std::string& file) {
  struct stat s {};
  return ::stat(file.c_str(), &s) == 0 ? std::optional(s) : std::nullopt;
}
Moment moment(const timespec& t) { return {t.tv_sec, t.tv_nsec}; }

/// Which files of workloads are others than they were. One is read only if it has been written to, moved or copied since a
/// result was, as traces are large, and once.
class ChangedWorkloads {
 public:
  void look(const std::string& workload, const std::string& result, const std::string& digest) {
    const auto then = stat_of(result), now = stat_of(workload);
    // What has an old time of writing, from an archive say, has that of its coming here besides.
    if (!then || !now || std::max(moment(now->st_mtim), moment(now->st_ctim)) <= moment(then->st_mtim)) return;
    if (!digests_.contains(workload)) digests_[workload] = digest_of(workload);
    if (digests_[workload] != digest) files_.insert(workload);
  }
  const std::set<std::string>& files() const { return files_; }

 private:
  /// "": it is a workload no more.
  static std::string digest_of(const std::string& workload) {
    try {
      return workload_digest(workload);
    } catch (const Error&) {
      return "";
    }
  }
  std::map<std::string, std::string> digests_;
  std::set<std::string> files_;
};

}  // namespace

SweepResults read_sweep(const std::string& folder) {
  const std::string file = folder + "/experiment.json";
  if (!file_exists(file))
    throw InputError(folder, "is not the folder of a sweep (it has no experiment.json); `atoll sweep --out` makes one");
  SweepResults s{read_experiment(file), {}, {}, {}, {}, {}};
  ChangedWorkloads changed;
  for (const Point& p : expand(s.experiment)) {
    const std::string path = result_path(folder, p);
    if (!file_exists(path)) {
      s.missing.push_back(p.name);
      continue;
    }
    const std::string wanted = wanted_config(s, p);
    RunResult run;
    try {
      run = read_within_bounds(path);
    } catch (const InputError& error) {
      s.missing.push_back(fmt::format("{} ({})", p.name, std::string(error.what()).substr(path.size() + 2)));
      continue;
    }
    run.samples = {};  // a table needs totals only
    const std::string other = other_point(run.provenance, p, wanted, s.experiment.sample);
    if (!other.empty()) {  // left by another sweep into this folder
      s.missing.push_back(fmt::format("{} ({})", p.name, other));
    } else if (run.complete) {
      changed.look(p.workload->path, path, run.provenance.workload_digest);
      s.runs.emplace(std::pair(p.workload->name, p.variant->name), std::move(run));
    } else {
      s.missing.push_back(p.name + " (incomplete)");
    }
  }
  s.changed = changed.files();
  leave_out_other_versions(s);
  if (s.unchecked.empty()) s.idle = idle_points(s.experiment);
  s.changed.merge(changed_policies(s));
  return s;
}

const RunResult* run_of(const SweepResults& s, const std::string& workload, const std::string& variant) {
  const auto it = s.runs.find({workload, variant});
  return it == s.runs.end() ? nullptr : &it->second;
}

std::set<std::string> unlike_work(const SweepResults& s) {
  std::set<std::string> names;
  for (const ExperimentWorkload& w : s.experiment.workloads)
    for (const Variant& v : s.experiment.variants)
      if (const RunResult* ours = run_of(s, w.name, v.name), *base = run_of(s, w.name, v.baseline); ours && base)
        for (std::string& name : unlike_work(*ours, *base)) names.insert(std::move(name));
  return names;
}

std::vector<std::string> without_baseline(const SweepResults& s) {
  std::vector<std::string> out;
  for (const ExperimentWorkload& w : s.experiment.workloads)
    for (const Variant& v : s.experiment.variants)
      if (!v.baseline.empty() && run_of(s, w.name, v.name) && !run_of(s, w.name, v.baseline))
        out.push_back(fmt::format("{}__{} (over {})", w.name, v.name, v.baseline));
  return out;
}

std::string different_baselines(const Experiment& e) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;  // baselines and who refers to them
  for (const Variant& v : e.variants) {
    auto group = std::ranges::find(groups, v.baseline, [](const auto& g) { return g.first; });
    if (group == groups.end()) group = groups.insert(group, {v.baseline, {}});
    if (v.baseline != v.name) group->second.push_back(v.name);
  }
  if (groups.size() < 2 || std::ranges::all_of(groups, [](const auto& g) { return g.second.empty(); })) return "";
  std::ranges::stable_sort(groups, {}, [](const auto& g) { return g.second.size(); });
  constexpr std::size_t kShown = 5;
  // Most of an experiment's variants have its own baseline, and need not be named.
  const bool others = groups.back().second.size() > groups[groups.size() - 2].second.size() && groups.size() <= kShown;
  std::vector<std::string> words;
  for (const auto& [baseline, names] : groups) {
    const bool last = words.size() + 1 == groups.size();
    words.push_back(names.empty() ? baseline + " to itself"
                                  : fmt::format("{} to {}", last && others ? "others" : listed(names), baseline));
  }
  std::string out = fmt::format(
      "columns refer to different baselines: {}",
      fmt::join(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(std::min(words.size(), kShown)), "; "));
  if (words.size() > kShown) out += fmt::format("; and {} more", words.size() - kShown);
  return out;
}

std::map<std::string, std::string> incomplete_workloads(const SweepResults& s) {
  std::map<std::string, std::string> out;
  for (const auto& [point, run] : s.runs)
    if (!run.provenance.incomplete.empty()) out.emplace(point.first, first_line(run.provenance.incomplete));
  return out;
}

std::map<std::string, std::vector<std::string>> warnings_of(const SweepResults& s) {
  std::map<std::string, std::vector<std::string>> out;
  for (const auto& [point, run] : s.runs)
    for (const std::string& what : lines_of(run.provenance.warnings))
      if (!s.idle.somewhere.contains(what)) out[what].push_back(point.first + "__" + point.second);
  return out;
}

ResultVersions versions_of(const SweepResults& s) {
  ResultVersions out;
  for (const auto& [point, run] : s.runs) ++out[written_by(run.provenance)];
  return out;
}

std::vector<std::vector<std::string>> same_simulations(const SweepResults& s) {
  std::map<std::string, std::map<std::string, std::uint64_t>> digests;  // of each variant, by workload
  for (const auto& [point, run] : s.runs) digests[point.second][point.first] = run.digest;
  std::map<std::map<std::string, std::uint64_t>, std::vector<std::string>> alike;
  for (const Variant& v : s.experiment.variants)
    if (digests.contains(v.name)) alike[digests[v.name]].push_back(v.name);
  std::vector<std::vector<std::string>> out;
  for (const auto& [of, variants] : alike)
    if (variants.size() > 1) out.push_back(variants);
  return out;
}

}  // namespace atl
