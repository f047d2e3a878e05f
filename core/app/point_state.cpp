#include "core/app/point_state.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/app/child_process.hpp"
#include "core/app/damaged_result.hpp"
#include "core/app/job_pool.hpp"
#include "core/engine/error.hpp"
#include "core/engine/file_digest.hpp"
#include "core/engine/file_exists.hpp"
#include "core/stats/human.hpp"
#include "core/stats/result_versions.hpp"
#include "inputs/config/reader.hpp"
#include "inputs/workload/workload_files.hpp"

namespace atl {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

/// "/llc/ways" as "llc.ways".
std::string dotted(std::string pointer) {
  for (char& c : pointer) c = c == '/' ? '.' : c;
  return pointer.substr(1);
}

std::string name_of(const std::string& path) { return fs::path(path).filename().string(); }

/// How a result was sampled, and how it should be.
std::string other_sampling(const std::string& stored, const std::string& wanted) {
  const auto word = [](const std::string& s) { return s.empty() ? std::string("not sampled") : "sampled with " + s; };
  return fmt::format("it is {}, wanted {}", word(stored), word(wanted));
}

/// How the file's name of a result's workload differs from that of a point's; empty: it does not.
std::string other_workload(const Provenance& stored, const ExperimentWorkload& wanted) {
  const std::string is = name_of(stored.workload), should = name_of(wanted.path);
  return is == should ? "" : fmt::format("it is of the workload {}, wanted {}", is, should);
}

}  // namespace

std::string_view word_of(PointState state) {
  constexpr std::string_view kWords[] = {"done", "differs", "incomplete", "running", "failed", "missing"};
  return kWords[static_cast<std::size_t>(state)];
}

std::string result_path(const std::string& folder, const Point& point) { return folder + "/" + point.name + ".h5"; }
std::string log_path(const std::string& folder, const Point& point) { return folder + "/" + point.name + ".log"; }

std::string first_difference(const std::string& stored, const std::string& wanted) {
  const json was = json::parse(stored, nullptr, false), is = json::parse(wanted);
  if (!was.is_object()) return "it stores no configuration";
  const json a = was.flatten(), b = is.flatten();
  for (const auto& [key, value] : b.items()) {
    // An empty text says that there is none: a result of a version without the key is not of other settings.
    if (!a.contains(key) && value == "") continue;
    if (!a.contains(key)) return fmt::format("`{}` = {} is not in it", dotted(key), value.dump());
    if (a[key] != value) return fmt::format("`{}` = {} in it, now {}", dotted(key), a[key].dump(), value.dump());
  }
  for (const auto& [key, value] : a.items())
    if (!b.contains(key)) return fmt::format("`{}` = {} in it is no key any more", dotted(key), value.dump());
  return "";
}

std::string other_point(const Provenance& stored, const Point& point, const std::string& config, const std::string& sample) {
  if (!config.empty())
    if (std::string key = first_difference(stored.effective_config, config); !key.empty()) return key;
  if (stored.sampling != sample) return other_sampling(stored.sampling, sample);
  if (std::string other = other_workload(stored, *point.workload); !other.empty()) return other;
  return stored.selection.empty()
             ? ""
             : fmt::format("it is of a part of the workload {} ({})", name_of(stored.workload), stored.selection);
}

bool policy_has_changed(const Provenance& stored, const std::string& policy) {
  return !policy.empty() && file_exists(policy) && hex(digest_of_file(policy)) != stored.policy_digest;
}

std::string PointInspector::difference(const Point& point, const Provenance& stored) {
  std::string other = other_point(stored, point, effective_config(experiment_, point), experiment_.sample);
  if (!other.empty()) return other;
  if (std::string absent = absent_workload(experiment_, point); !absent.empty()) return absent;
  const std::string& path = point.workload->path;
  if (!digests_.contains(path)) digests_[path] = workload_digest(path);
  if (digests_[path] != stored.workload_digest) return fmt::format("the workload {} has changed since", path);
  const std::string policy = parse_effective(stored.effective_config).llc.policy;
  if (policy.empty()) return "";
  if (!file_exists(policy))
    return fmt::format("the policy {} is not to be found from {}", policy, fs::current_path().string());
  return policy_has_changed(stored, policy) ? fmt::format("the policy {} has changed since", policy) : "";
}

PointStatus PointInspector::inspect(const Point& point) {
  const std::string log = log_path(folder_, point);
  if (is_being_written(log)) return {PointState::running, ""};
  PointStatus status = inspect_result(point);
  if (status.state != PointState::missing || !file_exists(log)) return status;
  const std::string error = first_error(log);
  return {PointState::failed, error.empty() ? "ended without a result, see " + log : error};
}

PointStatus PointInspector::inspect_result(const Point& point) {
  const std::string result = result_path(folder_, point);
  if (!file_exists(result)) return {PointState::missing, absent_workload(experiment_, point)};
  RunResult stored;
  try {
    stored = read_within_bounds(result);
  } catch (const InputError& error) {  // of another version, or damaged
    return {PointState::differs, std::string(error.what()).substr(result.size() + 2)};
  }
  const std::string what = difference(point, stored.provenance), version = written_by(stored.provenance);
  if (!what.empty()) return {PointState::differs, what, version};
  return {stored.complete ? PointState::done : PointState::incomplete, "", version};
}

}  // namespace atl
