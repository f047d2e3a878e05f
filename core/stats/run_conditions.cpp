#include "core/stats/run_conditions.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "core/stats/human.hpp"
#include "core/stats/unlike_work.hpp"

namespace atl {

std::vector<RunCondition> conditions_of(const RunResult& result) {
  const Provenance& p = result.provenance;
  std::vector<RunCondition> out;
  if (const std::uint64_t scale = scale_of(result); scale > 1)
    out.push_back({"scale", fmt::format("{}: LLC and footprints are divided by it", scale)});
  if (!p.selection.empty()) out.push_back({"selection", p.selection});
  if (!p.incomplete.empty()) out.push_back({"incomplete", first_line(p.incomplete)});
  for (std::string& what : lines_of(p.warnings)) out.push_back({"warning", std::move(what)});
  return out;
}

nlohmann::ordered_json conditions_json(const std::vector<RunCondition>& conditions) {
  auto out = nlohmann::ordered_json::array();
  for (const RunCondition& c : conditions) out.push_back({{"name", c.name}, {"text", c.text}});
  return out;
}

}  // namespace atl
