#include "inputs/config/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "core/engine/error.hpp"
#include "core/engine/input_file.hpp"

namespace atl {
namespace {

/// The part of the library's message that tells the fault: "[...] parse error at line 1, column 2: <this>".
std::string reason(const std::string& what) {
  const auto at = what.find("column ");
  const auto colon = what.find(": ", at == std::string::npos ? 0 : at);
  if (at != std::string::npos && colon != std::string::npos) return what.substr(colon + 2);
  const auto bracket = what.find("] ");
  return bracket == std::string::npos ? what : what.substr(bracket + 2);
}

}  // namespace

nlohmann::json parse_json(std::string_view text, const std::string& where) {
  using Event = nlohmann::json::parse_event_t;
  // The library keeps the last of two equal keys. In a configuration that hides a mistake, so count them here.
  std::vector<std::set<std::string>> open;
  const auto watch = [&](int depth, Event event, nlohmann::json& parsed) {
    if (depth > kDeepestJson) throw InputError(where, fmt::format("more than {} levels of objects and lists", kDeepestJson));
    if (event == Event::object_start) open.emplace_back();
    if (event == Event::object_end) open.pop_back();
    if (event == Event::key && !open.back().insert(parsed.get<std::string>()).second) {
      throw InputError(where, fmt::format("key `{}` is given twice in one object", parsed.get<std::string>()));
    }
    return true;
  };
  try {
    return nlohmann::json::parse(text, watch);
  } catch (const nlohmann::json::parse_error& e) {
    const auto end = text.begin() + static_cast<std::ptrdiff_t>(std::min<std::size_t>(e.byte, text.size()));
    const auto last = e.byte > 0 && e.byte <= text.size() ? end - 1 : end;  // `byte` counts from 1
    const auto line = 1 + std::count(text.begin(), last, '\n');
    const auto line_start = text.substr(0, static_cast<std::size_t>(last - text.begin())).rfind('\n');
    const auto column = last - text.begin() - (line_start == std::string_view::npos ? -1 : std::ptrdiff_t(line_start));
    throw InputError(where, fmt::format("malformed JSON at line {}, column {}: {}", line, column, reason(e.what())));
  } catch (const nlohmann::json::exception& e) {  // a number that no double can hold
    throw InputError(where, "malformed JSON: " + reason(e.what()));
  }
}

nlohmann::json read_json(const std::string& path, JsonKind wanted) {
  nlohmann::json root = parse_json(read_text(path), path);
  const auto has = [&](auto... keys) { return (root.contains(keys) || ...); };
  const auto refuse = [&](const char* what) { throw InputError(path, what); };
  // Keys that a file of the kind cannot do without, or that no other has.
  if (wanted != JsonKind::workload && has("kernels"))
    refuse("is a parametric workload: `atoll run SYSTEM --workload` simulates it");
  if (wanted != JsonKind::experiment && has("workloads")) refuse("is an experiment: `atoll sweep` runs it");
  if (wanted != JsonKind::system && !has("kernels", "workloads") && has("base", "sm", "llc", "dram", "link"))
    refuse("is a system: `atoll config` shows it, `atoll run` takes it first");
  return root;
}

}  // namespace atl
