#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "core/stats/run_result.hpp"

/// What else decides how a run's figures are to be read.
namespace atl {

struct RunCondition {
  std::string_view name;  ///< `scale`, `selection`, `incomplete` or `warning`
  std::string text;
  bool operator==(const RunCondition&) const = default;
};

/// By what it was divided, which part of the workload it is of, what its traces lack, and each thing that it warned of; as
/// far as there is something to say.
std::vector<RunCondition> conditions_of(const RunResult& result);
nlohmann::ordered_json conditions_json(const std::vector<RunCondition>& conditions);

}  // namespace atl
