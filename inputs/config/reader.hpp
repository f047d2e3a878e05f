#pragma once
#include <optional>
#include <string>
#include <vector>

#include "inputs/config/presets.hpp"
#include "inputs/config/system_config.hpp"

namespace atl {

/// Reads a system: a preset's name or a JSON file, then overrides `key.path=value`.
///
/// Layers, later ones win: the structs' defaults, the preset or file named by the file's "base" (if any, and from the
/// file's folder), which may have a base in turn, the file, the overrides.
/// Within a layer `dram.preset` loads its timing set before the layer's `dram.timing` keys are applied, so the order in
/// which a user writes them does not matter. A file without "name" is named after the file.
///
/// Every fault is an InputError whose `where` is the file, the preset or `--set`, and whose text has the full dotted key.
SystemConfig read_system(const std::string& name_or_path, const std::vector<std::string>& sets = {});

/// What a system's file says itself: the system that it builds on, and the keys that are otherwise in it. Nothing for a
/// preset, or for a file without "base", which has every key.
struct OwnLayer {
  SystemConfig base;
  std::vector<std::string> keys;
};
std::optional<OwnLayer> own_layer(const std::string& name_or_path);

/// Reads back what effective_json() wrote: how the configuration travels from rank 0 to the others.
SystemConfig parse_effective(const std::string& text);

}  // namespace atl
