#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "core/engine/file_exists.hpp"
#include "inputs/config/dump.hpp"
#include "inputs/config/reader.hpp"
#include "inputs/config/section.hpp"
#include "inputs/experiment/experiment.hpp"
#include "inputs/workload/workload_files.hpp"

namespace atl {
namespace {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

/// A section as its keys: `llc={"ways":8}` is `llc.ways=8`.
void add_leaves(ordered_json& out, const std::string& key, const ordered_json& value) {
  if (!value.is_object()) {
    out[key] = value;
    return;
  }
  for (const auto& [name, part] : value.items()) add_leaves(out, key + "." + name, part);
}

/// `llc.ways=8` as {"llc.ways": 8}; what is no JSON is a text, as on the command line.
ordered_json sets_json(const std::vector<std::string>& sets) {
  ordered_json out = ordered_json::object();
  for (const std::string& set : sets) {
    const auto equals = set.find('=');
    const std::string value = set.substr(std::min(set.size(), equals + 1));
    add_leaves(out, set.substr(0, equals), ordered_json::accept(value) ? ordered_json::parse(value) : ordered_json(value));
  }
  return out;
}

std::string relative(const std::string& path, const std::string& folder) {
  const fs::path file = fs::absolute(path).lexically_normal(), base = fs::absolute(folder).lexically_normal();
  // Above a link, `..` by name and on disk are two things.
  std::error_code error;
  const bool linked = fs::weakly_canonical(base, error) != base || error;
  const fs::path out = linked ? fs::path() : file.lexically_relative(base);
  return out.empty() ? file.string() : out.string();
}

/// The name in the same folder that was probably meant.
std::string neighbour_hint(const fs::path& path) {
  std::string best;
  std::size_t least = std::max<std::size_t>(2, path.filename().string().size() / 3) + 1;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(path.parent_path().empty() ? "." : path.parent_path(), error)) {
    const std::string name = entry.path().filename().string();
    const std::size_t distance = edit_distance(name, path.filename().string());
    if (distance < least || (distance == least && name < best)) least = distance, best = name;
  }
  return best.empty() ? "" : fmt::format(", did you mean `{}`?", best);
}

}  // namespace

std::string to_json(const Experiment& e, const std::string& folder) {
  ordered_json out;
  if (!e.doc.empty()) out["doc"] = e.doc;
  if (!e.recorded_by.empty()) out["recorded_by"] = e.recorded_by;
  if (!e.sample.empty()) out["sample"] = e.sample;
  out["system"] = e.system.ends_with(".json") ? relative(e.system, folder) : e.system;
  if (e.scale > 0) out["scale"] = e.scale;
  out["ranks"] = e.ranks;
  out["set"] = sets_json(e.sets);
  for (const ExperimentWorkload& w : e.workloads)
    out["workloads"].push_back(
        {{"name", w.name}, {"path", relative(w.path, folder)}, {"group", w.group}, {"set", sets_json(w.sets)}});
  for (const Variant& v : e.variants)
    out["variants"].push_back({{"name", v.name}, {"baseline", v.baseline}, {"set", sets_json(v.sets)}});
  if (!e.reference.speedup.empty() || !e.reference.mean.empty())
    out["reference"] = {{"source", e.reference.source}, {"speedup", e.reference.speedup}, {"mean", e.reference.mean}};
  return out.dump(2) + "\n";
}

std::vector<Point> expand(const Experiment& e) {
  std::vector<Point> out;
  for (const ExperimentWorkload& w : e.workloads)
    for (const Variant& v : e.variants) out.push_back({w.name + "__" + v.name, &w, &v});
  return out;
}

std::vector<std::string> keys_set(const std::vector<std::string>& sets) {
  const ordered_json all = sets_json(sets);
  std::vector<std::string> out;
  for (const auto& [key, value] : all.items()) out.push_back(key);
  return out;
}

std::vector<std::string> keys_given(const std::string& system, const std::vector<std::string>& sets) {
  std::vector<std::string> out = keys_set(sets);
  if (const std::optional<OwnLayer> own = own_layer(system))
    for (const std::string& key : own->keys)
      if (std::ranges::find(out, key) == out.end()) out.push_back(key);
  return out;
}

std::vector<std::string> overrides(const Experiment& e, const Point& point) {
  std::vector<std::string> out;
  if (e.scale > 0) out.push_back(fmt::format("scale={}", e.scale));  // first: workloads and variants know better
  out.insert(out.end(), e.sets.begin(), e.sets.end());
  out.insert(out.end(), point.workload->sets.begin(), point.workload->sets.end());
  out.insert(out.end(), point.variant->sets.begin(), point.variant->sets.end());
  return out;
}

std::string effective_config(const Experiment& e, const Point& point) {
  try {
    return effective_json(read_system(e.system, overrides(e, point)));
  } catch (const InputError& error) {
    throw InputError(point.name, error.what());
  }
}

std::string absent_workload(const Experiment& e, const Point& point) {
  const fs::path path(point.workload->path);
  if (file_exists(path)) return "";
  const std::string hint =
      e.recorded_by.empty() ? neighbour_hint(path) : fmt::format("; it is recorded by {}", e.recorded_by);
  return fmt::format("there is no workload {}{}", path.string(), hint);
}

void check_point(const Experiment& e, const Point& point) {
  const SystemConfig config = parse_effective(effective_config(e, point));
  if (const std::string absent = absent_workload(e, point); !absent.empty()) throw InputError(point.name, absent);
  const std::string& path = point.workload->path;
  if (config.scale > 1 && first_character(main_file(path)) != '{')
    throw InputError(point.name, fmt::format("{} is a recorded trace, which cannot be scaled by {}: give this workload a "
                                             "\"set\" of {{\"scale\": 1}}",
                                             path, config.scale));
}

}  // namespace atl
