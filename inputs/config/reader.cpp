#include "inputs/config/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/engine/error.hpp"
#include "core/engine/file_exists.hpp"
#include "inputs/config/assign.hpp"
#include "inputs/config/dump.hpp"
#include "inputs/config/json_text.hpp"
#include "inputs/config/link_edges.hpp"
#include "inputs/config/suggest.hpp"
#include "inputs/config/validate.hpp"

namespace atl {
namespace {

using nlohmann::json;

template <class Section> void reject_unknown_keys(Section& section, const json& object, const Origin& origin) {
  const std::string prefix = origin.key.empty() ? "" : origin.key + ".";
  for (const auto& [key, value] : object.items()) {
    bool known = false;
    std::string keys;
    Section::fields(section, [&](auto&, const Field& field) {
      known |= field.key == key;
      keys += (keys.empty() ? "" : ", ") + std::string(field.key);
    });
    if (known) continue;
    if (const auto dot = key.find('.'); dot != std::string::npos && std::ranges::count(all_keys(), prefix + key) != 0)
      throw InputError(origin.where, fmt::format("`{}` is written as a section here: {{\"{}\": {{\"{}\": ...}}}}",
                                                 prefix + key, key.substr(0, dot), key.substr(dot + 1)));
    const std::string close = closest_key(prefix + key, all_keys());
    const std::string remedy =
        close.empty() ? fmt::format("; known here: {}", keys) : fmt::format(", did you mean `{}`?", close);
    throw InputError(origin.where, fmt::format("unknown key `{}`{}", prefix + key, remedy));
  }
}

/// Applies one layer to a section and everything below it.
template <class Section> void apply(Section& section, const json& object, const Origin& origin) {
  if (!object.is_object()) {
    const std::string what = origin.key.empty() ? "the configuration" : fmt::format("section `{}`", origin.key);
    throw InputError(origin.where, fmt::format("{} must be an object of keys, not {}", what, object.dump()));
  }
  reject_unknown_keys(section, object, origin);
  const auto origin_of = [&](std::string_view key) {
    return Origin{origin.where, (origin.key.empty() ? "" : origin.key + ".") + std::string(key)};
  };
  if constexpr (std::is_same_v<Section, DramConfig>) {
    if (const auto preset = object.find("preset"); preset != object.end()) {
      const DramPreset before = section.preset;
      assign(section.preset, {}, *preset, origin_of("preset"));
      // A system may have timings of its own for a kind of memory: to name the kind again is no change.
      if (section.preset != before || section.timing == DramTiming{}) section.timing = dram_timing(section.preset);
    }
  }
  Section::fields(section, [&]<class T>(T& value, const Field& field) {
    const auto it = object.find(field.key);
    if (it == object.end()) return;
    if constexpr (ConfigSection<T>) {
      apply(value, *it, origin_of(field.key));
    } else {
      assign(value, field, *it, origin_of(field.key));
    }
  });
}

bool is_utf8(const std::string& text) {
  try {
    json(text).dump();
    return true;
  } catch (const json::type_error&) {
    return false;
  }
}

std::string stem_of(const std::string& path) {
  std::string stem = std::filesystem::path(path).stem().string();
  if (!is_utf8(stem)) throw InputError(path, "the file's name, which would name the system, is not in UTF-8");
  return stem;
}

void apply_system(SystemConfig& config, const std::string& name_or_path, std::vector<std::string>& above);

/// What the layer of `where` is on top of: a preset, or a file named from the folder of `where`.
void apply_base(SystemConfig& config, const std::string& base, const std::string& where, std::vector<std::string>& above) {
  if (find_preset(base) != nullptr) return apply_system(config, base, above);
  const std::string path = (std::filesystem::path(where).parent_path() / base).string();
  if (base.empty() || !file_exists(path))
    throw InputError(where, fmt::format("`base` = \"{}\" is neither a preset nor a file{}", base, preset_hint(base)));
  apply_system(config, path, above);
}

/// A file's or preset's layer, on top of its "base". `above`: the files whose bases led here.
void apply_file(SystemConfig& config, json layer, const std::string& name, const std::string& where,
                std::vector<std::string>& above) {
  if (!layer.is_object()) apply(config, layer, {where, ""});  // reports it
  for (const char* key : {"doc", "base"}) {
    if (const auto it = layer.find(key); it != layer.end() && !it->is_string()) wrong_type({where, key}, "a text", *it);
  }
  if (const auto it = layer.find("base"); it != layer.end()) apply_base(config, it->get<std::string>(), where, above);
  layer.erase("doc");
  layer.erase("base");
  config.name = name;
  apply(config, layer, {where, ""});
}

void apply_system(SystemConfig& config, const std::string& name_or_path, std::vector<std::string>& above) {
  if (const EmbeddedFile* preset = find_preset(name_or_path))
    return apply_file(config, parse_json(preset->text, name_or_path), name_or_path, name_or_path, above);
  std::error_code unreadable;  // which reading the file says better
  const std::string file = std::filesystem::weakly_canonical(name_or_path, unreadable).string();
  if (std::ranges::count(above, file) != 0)
    throw InputError(above.back(), fmt::format("its `base` leads back to {}; a base may not build on what it is a base of",
                                               above.back() == file ? "itself" : file));
  above.push_back(file);
  apply_file(config, read_json(name_or_path, JsonKind::system), stem_of(name_or_path), name_or_path, above);
}

/// Joins objects key by key; any other value replaces. An override may not be both a value and a section.
void merge(json& into, const json& from, const std::string& key) {
  if (into.is_null()) {
    into = from;
  } else if (into.is_object() != from.is_object()) {
    throw InputError("--set", fmt::format("`{}` is given both as a value and as a section", key));
  } else if (from.is_object()) {
    for (const auto& [name, value] : from.items()) merge(into[name], value, key.empty() ? name : key + "." + name);
  } else {
    into = from;
  }
}

/// `llc.ways=8` as {"llc": {"ways": 8}}. What is not JSON is a text, so that words need no quotes.
json override_layer(const std::string& set) {
  const auto equals = set.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError("--set", fmt::format("`{}` is not of the form key.path=value", set));
  }
  if (!is_utf8(set)) throw InputError("--set", fmt::format("`{}` is not a text in UTF-8", set));
  if (std::count(set.begin(), set.begin() + static_cast<std::ptrdiff_t>(equals), '.') >= kDeepestJson)
    throw InputError("--set", fmt::format("`{}...` has more parts than any key", set.substr(0, 40)));
  const std::string text = set.substr(equals + 1);
  json value = json::accept(text) ? parse_json(text, "--set") : json(text);
  std::string path = set.substr(0, equals);
  for (auto dot = path.rfind('.'); dot != std::string::npos; dot = path.rfind('.')) {
    value = json{{path.substr(dot + 1), value}};
    path.resize(dot);
  }
  return json{{path, value}};
}

constexpr std::uint32_t kNotGiven = 0;

/// Half of the ways is what papers split off. Where nothing is split the key is idle, and files keep the value they had.
std::uint32_t usual_local_ways(const SystemConfig& config) {
  const bool splits = row_of(config.llc.organisation).traits.roles.has(LlcRole::split);
  return splits ? std::max(1u, config.llc.ways / 2) : LlcConfig{}.local_ways;
}

/// A sweep over a bandwidth that no link has would be a flat line.
void refuse_idle_link_keys(const SystemConfig& config, const json& overrides) {
  const auto link = overrides.find("link");
  if (config.link.topology != Topology::graph || link == overrides.end()) return;
  for (const auto& [key, sign] : {std::pair{"bandwidth_gbps", ':'}, {"latency_cycles", '@'}}) {
    if (link->contains(key) && edges_state(config.link.edges, sign))
      throw InputError("--set",
                       fmt::format("`link.{}` is no link's here: each of `link.edges` says its own; set these, \"{}\"", key,
                                   config.link.edges));
  }
}

}  // namespace

SystemConfig read_system(const std::string& name_or_path, const std::vector<std::string>& sets) {
  SystemConfig config;
  config.llc.local_ways = kNotGiven;
  if (find_preset(name_or_path) == nullptr && !file_exists(name_or_path))
    throw InputError(name_or_path, "neither a preset nor a file" + preset_hint(name_or_path));
  std::vector<std::string> above;
  apply_system(config, name_or_path, above);
  json overrides = json::object();
  for (const std::string& set : sets) merge(overrides, override_layer(set), "");
  apply(config, overrides, {"--set", ""});
  if (config.llc.local_ways == kNotGiven) config.llc.local_ways = usual_local_ways(config);
  validate(config);
  refuse_idle_link_keys(config, overrides);
  return config;
}

std::optional<OwnLayer> own_layer(const std::string& name_or_path) {
  if (find_preset(name_or_path) != nullptr) return std::nullopt;
  const json layer = read_json(name_or_path, JsonKind::system);
  const auto named = layer.is_object() ? layer.find("base") : layer.end();
  if (named == layer.end() || !named->is_string()) return std::nullopt;
  OwnLayer own;
  std::vector<std::string> above;
  apply_base(own.base, named->get<std::string>(), name_or_path, above);
  SystemConfig whole;
  apply_system(whole, name_or_path, above = {});
  const json before = parse_json(effective_json(own.base), "base").flatten();
  const json after = parse_json(effective_json(whole), name_or_path).flatten();
  for (const auto& [path, value] : after.items()) {
    if (before.value(path, json()) == value) continue;
    own.keys.push_back(path.substr(1));
    std::ranges::replace(own.keys.back(), '/', '.');
  }
  return own;
}

SystemConfig parse_effective(const std::string& text) {
  SystemConfig config;
  std::vector<std::string> above;
  apply_file(config, parse_json(text, "effective configuration"), config.name, "effective configuration", above);
  validate(config);
  return config;
}

}  // namespace atl
