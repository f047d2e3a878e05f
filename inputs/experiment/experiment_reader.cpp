#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "core/engine/file_exists.hpp"
#include "core/engine/printable.hpp"
#include "inputs/config/json_text.hpp"
#include "inputs/config/section.hpp"
#include "inputs/experiment/experiment.hpp"
#include "inputs/sampling/sampling_options.hpp"

namespace atl {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kWhole = "the experiment";

/// {"llc.ways": 8} as llc.ways=8.
std::vector<std::string> read_sets(const json& object, const Origin& origin) {
  std::vector<std::string> out;
  const auto it = object.find("set");
  if (it == object.end()) return out;
  if (!it->is_object()) wrong_type(origin, "an object of configuration keys and values", *it);
  for (const auto& [key, value] : it->items()) {
    if (!value.is_primitive() || value.is_null())
      wrong_type({origin.where, origin.key + "." + key}, "a number, a text, true or false (write `section.key`)", value);
    out.push_back(key + "=" + value.dump());
  }
  return out;
}

/// Names become parts of file names, joined by two underscores.
bool fits_in_a_name(const std::string& text) {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+-";
  return text.find_first_not_of(kLetters) == std::string::npos && !text.ends_with('_') &&
         text.find("__") == std::string::npos;
}

void check_name(const std::string& name, std::set<std::string>& taken, const Origin& origin) {
  const auto fail = [&](std::string_view what) { throw InputError(origin.where, fmt::format("`{}` {}", origin.key, what)); };
  if (name.empty()) fail("is missing");
  if (!fits_in_a_name(name) || name[0] == '.' || name[0] == '-' || name[0] == '_')
    fail(fmt::format("= \"{}\" cannot be part of a file name: use letters, digits, `.`, `+`, `-`, and single `_` within",
                     name));
  if (!taken.insert(name).second) fail(fmt::format("= \"{}\" is given twice", name));
}

std::string beside(const std::string& file, const std::string& path) {
  return (fs::path(file).parent_path() / path).lexically_normal().string();
}

/// One entry of `sweeps`, apart from its values.
struct Axis {
  std::string key;

  template <class Self, class V> static void fields(Self& s, V&& v) { v(s.key, {"key", "", 0, 0, "configuration key"}); }
};

constexpr std::size_t kMostVariants = 10'000;  ///< a few axes too many are a slip, and would fill memory

std::vector<std::string> names_of(const auto& list) {
  std::vector<std::string> out;
  for (const auto& item : list) out.push_back(item.name);
  return out;
}

/// What a value of an axis adds to the name of a variant.
std::string suffix_of(const std::string& short_key, const json& value) {
  return "_" + short_key + "-" + (value.is_string() ? value.get<std::string>() : value.dump());
}

/// Variants times the values of one axis. A baseline among them is their counterpart: at the same place of the axis.
std::vector<Variant> multiply(const std::vector<Variant>& variants, const json& axis, const Origin& origin) {
  Axis read;
  read_fields(read, axis, origin, {"values"}, kWhole);
  if (read.key.empty()) throw InputError(origin.where, fmt::format("`{}.key` is missing", origin.key));
  const json& values = list_of(axis, "values", {origin.where, origin.key + ".values"});
  if (values.size() > kMostVariants / variants.size())
    throw InputError(origin.where, fmt::format("`{}.values` makes more than {} variants", origin.key, kMostVariants));
  std::vector<Variant> out;
  const auto dot = read.key.rfind('.');
  const auto names = names_of(variants);
  const std::string short_key = dot == std::string::npos ? read.key : read.key.substr(dot + 1);
  if (!fits_in_a_name("v_" + short_key + "-0"))
    throw InputError(origin.where, fmt::format("`{}.key` = \"{}\" is no configuration key", origin.key, read.key));
  std::set<json> seen;  // 96 and 96.0 are one
  for (const json& value : values) {
    if (!value.is_primitive() || value.is_null())
      wrong_type({origin.where, origin.key + ".values"}, "a list of numbers, texts, true or false", axis["values"]);
    const std::string suffix = suffix_of(short_key, value);
    if (!fits_in_a_name("v" + suffix))
      throw InputError(origin.where, fmt::format("`{}.values`: {} cannot be part of a file name, and the names of an axis's "
                                                 "variants have its values: give `variants`, each with a `name` of your "
                                                 "own and `{}` in its `set`, instead",
                                                 origin.key, value.dump(), read.key));
    if (!seen.insert(value).second)
      throw InputError(origin.where, fmt::format("`{}.values` has {} twice", origin.key, value.dump()));
  }
  for (const Variant& variant : variants) {
    const auto names_key = [&](const std::string& set) { return set.substr(0, set.find('=')) == read.key; };
    if (std::ranges::any_of(variant.sets, names_key))
      throw InputError(origin.where, fmt::format("`{}.key` = `{}` is set by variant `{}` already: every value of the axis "
                                                 "would take its place; leave it out of one of them",
                                                 origin.key, read.key, variant.name));
    for (const json& value : values) {
      const std::string suffix = suffix_of(short_key, value);
      Variant& v = out.emplace_back(variant);
      if (std::ranges::find(names, v.baseline) != names.end()) v.baseline += suffix;
      v.name += suffix;
      v.sets.push_back(read.key + "=" + value.dump());
    }
  }
  return out;
}

template <class List> void require_known(const std::string& name, const List& known, const Origin& origin) {
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::string close = closest_key(name, std::vector<std::string>(known.begin(), known.end()));
  throw InputError(origin.where,
                   fmt::format("`{}` names \"{}\", which is none of: {}{}", origin.key, name, fmt::join(known, ", "),
                               close.empty() ? "" : fmt::format(" (did you mean `{}`?)", close)));
}

Reference::Figures read_figures(const json& reference, const char* key, const std::string& where,
                                const std::vector<std::string>& variants, const std::vector<std::string>& rows) {
  Reference::Figures out;
  const auto it = reference.find(key);
  if (it == reference.end()) return out;
  const std::string path = std::string("reference.") + key;
  if (!it->is_object()) wrong_type({where, path}, "an object of variants", *it);
  for (const auto& [variant, figures] : it->items()) {
    require_known(variant, variants, {where, path});
    const Origin at{where, fmt::format("{}.{}", path, variant)};
    if (!figures.is_object()) wrong_type(at, "an object of figures", figures);
    for (const auto& [row, figure] : figures.items()) {
      require_known(row, rows, at);
      assign(out[variant][row], {"", "", 1e-6, 1e6, ""}, figure, {where, fmt::format("{}.{}", at.key, row)});
    }
  }
  return out;
}

void read_reference(Experiment& e, const json& object, const std::string& where) {
  read_fields(e.reference, object, {where, "reference"}, {"speedup", "mean"}, kWhole);
  std::set<std::string> groups{std::string(kAllGroups)};
  for (const ExperimentWorkload& w : e.workloads)
    if (!w.group.empty()) groups.insert(w.group);
  const auto variants = names_of(e.variants);
  e.reference.speedup = read_figures(object, "speedup", where, variants, names_of(e.workloads));
  e.reference.mean = read_figures(object, "mean", where, variants, {groups.begin(), groups.end()});
}

/// A file beside comes first: it was there when the experiment was written.
std::string workload_at(const std::string& path, const std::string& where, const ShippedFile& shipped) {
  const std::string file = beside(where, path);
  const bool may_be_name = shipped && path.find_first_of("./") == std::string::npos && !file_exists(file);
  const std::string known = may_be_name ? shipped(path) : "";
  return known.empty() ? file : known;
}

void read_workloads(Experiment& e, const json& root, const std::string& where, const ShippedFile& shipped) {
  std::set<std::string> taken;
  for (const json& item : list_of(root, "workloads", {where, "workloads"})) {
    const std::string key = fmt::format("workloads[{}]", e.workloads.size());
    ExperimentWorkload& w = e.workloads.emplace_back();
    read_fields(w, item, {where, key}, {"set"}, kWhole);
    w.sets = read_sets(item, {where, key + ".set"});
    check_name(w.name, taken, {where, key + ".name"});
    if (w.path.empty()) throw InputError(where, fmt::format("`{}.path` is missing", key));
    if (w.group == kAllGroups) throw InputError(where, fmt::format("`{}.group` = \"ALL\" stands for all workloads", key));
    if (!printable(w.group)) throw InputError(where, fmt::format("`{}.group` has signs that do not print", key));
    w.path = workload_at(w.path, where, shipped);
  }
}

/// A combination that is left out: keys, and the values that they have in it.
using Exception = std::map<std::string, std::set<json>>;  // 96 and 96.0 are one

std::vector<Exception> read_exceptions(const json& root, const std::string& where) {
  std::vector<Exception> out;
  if (!root.contains("except")) return out;
  for (const json& item : list_of(root, "except", {where, "except"})) {
    const std::string at = fmt::format("except[{}]", out.size());
    if (!item.is_object() || item.empty()) wrong_type({where, at}, "an object of configuration keys and values", item);
    Exception& exception = out.emplace_back();
    for (const auto& [key, values] : item.items()) {
      for (const json& value : values.is_array() ? values : json::array({values})) {
        if (!value.is_primitive() || value.is_null())
          wrong_type({where, at + "." + key}, "a number, a text, true, false, or a list of them", values);
        exception[key].insert(value);
      }
    }
  }
  return out;
}

/// What a variant sets a key to; null: nothing.
json set_by(const Variant& variant, const std::string& key) {
  const auto last = std::find_if(variant.sets.rbegin(), variant.sets.rend(),
                                 [&](const std::string& set) { return set.compare(0, set.find('='), key) == 0; });
  return last == variant.sets.rend() ? json() : json::parse(last->substr(key.size() + 1));
}

bool matches(const Exception& exception, const Variant& variant) {
  return std::ranges::all_of(exception,
                             [&](const auto& entry) { return entry.second.contains(set_by(variant, entry.first)); });
}

/// Leaves out what `except` names. An exception that matches nothing is a mistake of the author's, and so is each value of
/// one that no variant has.
void leave_out(std::vector<Variant>& variants, const std::vector<Exception>& exceptions, const std::string& where) {
  for (std::size_t i = 0; i < exceptions.size(); ++i)
    for (const auto& [key, values] : exceptions[i])
      for (const json& value : values)
        if (std::ranges::none_of(variants, [&](const Variant& v) { return set_by(v, key) == value; }))
          throw InputError(where, fmt::format("`except[{}]`: no variant sets `{}` to {}: name keys that variants or sweeps "
                                              "set, and their values",
                                              i, key, value.dump()));
  const std::vector<Variant> all = variants;
  for (std::size_t i = 0; i < exceptions.size(); ++i) {
    if (std::ranges::none_of(all, [&](const Variant& v) { return matches(exceptions[i], v); }))
      throw InputError(where, fmt::format("`except[{}]` matches no variant: none has these values together", i));
    std::erase_if(variants, [&](const Variant& v) { return matches(exceptions[i], v); });
  }
  if (variants.empty()) throw InputError(where, "`except` leaves no variant");
}

void read_variants(Experiment& e, const json& root, const std::string& where) {
  std::set<std::string> taken;
  for (const json& item : list_of(root, "variants", {where, "variants"})) {
    const std::string key = fmt::format("variants[{}]", e.variants.size());
    Variant& v = e.variants.emplace_back();
    read_fields(v, item, {where, key}, {"set"}, kWhole);
    v.sets = read_sets(item, {where, key + ".set"});
    check_name(v.name, taken, {where, key + ".name"});
  }
  if (e.baseline.empty()) e.baseline = e.variants.front().name;
  std::vector<std::string> named = names_of(e.variants);  // at any step of the multiplication
  for (Variant& v : e.variants) {
    if (v.baseline.empty()) v.baseline = e.baseline;
  }
  const auto given = e.variants;
  if (root.contains("sweeps")) {
    std::size_t axis = 0;
    for (const json& item : list_of(root, "sweeps", {where, "sweeps"})) {
      e.variants = multiply(e.variants, item, {where, fmt::format("sweeps[{}]", axis++)});
      std::ranges::copy(names_of(e.variants), std::back_inserter(named));
    }
  }
  require_known(e.baseline, named, {where, "baseline"});
  for (std::size_t i = 0; i < given.size(); ++i)
    require_known(given[i].baseline, named, {where, fmt::format("variants[{}].baseline", i)});
  taken.clear();
  for (const Variant& v : e.variants)
    if (!taken.insert(v.name).second)
      throw InputError(where, fmt::format("`variants` and `sweeps` make two variants of the name \"{}\"", v.name));
  leave_out(e.variants, read_exceptions(root, where), where);
  const auto left = names_of(e.variants);
  for (const Variant& v : e.variants) {
    if (std::ranges::find(left, v.baseline) == left.end())
      throw InputError(where, fmt::format("`except` leaves out {}, the baseline of {}", v.baseline, v.name));
  }
}

}  // namespace

Experiment read_experiment(const std::string& path, const ShippedFile& shipped) {
  const json root = read_json(path, JsonKind::experiment);
  Experiment e;
  read_fields(e, root, {path, ""}, {"set", "workloads", "variants", "sweeps", "except", "reference"}, kWhole);
  if (e.system.empty()) throw InputError(path, "`system` is missing: give a preset (`atoll list`) or a JSON file");
  if (!e.sample.empty()) e.sample = SamplingOptions::parse(e.sample, path).text();
  if (e.system.ends_with(".json")) e.system = beside(path, e.system);
  e.sets = read_sets(root, {path, "set"});
  // Beside 1, which earlier versions stored of every experiment, `set` counts.
  if (const auto keys = keys_set(e.sets); e.scale > 1 && std::ranges::find(keys, "scale") != keys.end())
    throw InputError(path, "`scale` and `set.scale` set one key; use one of them");
  read_workloads(e, root, path, shipped);
  read_variants(e, root, path);
  if (const auto it = root.find("reference"); it != root.end()) read_reference(e, *it, path);
  return e;
}

}  // namespace atl
