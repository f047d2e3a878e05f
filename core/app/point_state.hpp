#pragma once
#include <map>
#include <string>

#include "core/stats/run_result.hpp"
#include "inputs/experiment/experiment.hpp"

namespace atl {

enum class PointState {
  done,        ///< a complete result of what would be run now
  differs,     ///< a result of something else, which is not replaced unasked
  incomplete,  ///< a result of a run that was cut short
  running,     ///< by another process
  failed,      ///< a log and no result
  missing
};

struct PointStatus {
  PointState state = PointState::missing;
  std::string note;       ///< what differs, why it failed, or that there is no workload
  std::string version{};  ///< that wrote the result; "": there is none that could be read
};

std::string_view word_of(PointState state);

/// Where a point's result and its log are.
std::string result_path(const std::string& folder, const Point& point);
std::string log_path(const std::string& folder, const Point& point);

/// Looks at what earlier runs left in `folder`.
class PointInspector {
 public:
  PointInspector(const Experiment& experiment, std::string folder) : experiment_(experiment), folder_(std::move(folder)) {}
  PointStatus inspect(const Point& point);
  /// The same of its result alone: for who holds the lock of its log.
  PointStatus inspect_result(const Point& point);

 private:
  std::string difference(const Point& point, const Provenance& stored);

  const Experiment& experiment_;
  std::string folder_;
  std::map<std::string, std::string> digests_;  ///< by path: every workload is read once
};

/// By what a result says of itself: how it is of something else than a point whose effective configuration is `config`; an
/// empty one is not known, and not compared. Empty: it is of that point, or of another version of its files.
std::string other_point(const Provenance& stored, const Point& point, const std::string& config, const std::string& sample);
/// Whether the file of its policy is there and is another than the result's; false without a policy.
bool policy_has_changed(const Provenance& stored, const std::string& policy);

/// The first key in which two effective configurations differ, with both values; "" if they are equal.
std::string first_difference(const std::string& stored, const std::string& wanted);

}  // namespace atl
