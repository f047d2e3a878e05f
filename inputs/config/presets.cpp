#include "inputs/config/presets.hpp"

#include <fmt/format.h>

#include "inputs/config/json_text.hpp"
#include "inputs/config/suggest.hpp"

namespace atl {

std::vector<PresetInfo> list_presets() {
  std::vector<PresetInfo> list;
  for (const EmbeddedFile& file : embedded_systems()) {
    const std::string name(file.name);
    list.push_back({name, parse_json(file.text, name).value("doc", "")});
  }
  return list;
}

const EmbeddedFile* find_preset(std::string_view name) {
  for (const EmbeddedFile& file : embedded_systems()) {
    if (file.name == name) return &file;
  }
  return nullptr;
}

std::string preset_hint(const std::string& name) {
  std::vector<std::string> names;
  std::string list;
  for (const EmbeddedFile& file : embedded_systems()) {
    names.emplace_back(file.name);
    list += (list.empty() ? "" : ", ") + names.back();
  }
  const std::string close = closest_key(name, names);
  return (close.empty() ? "" : fmt::format(", did you mean `{}`?", close)) + fmt::format(" (presets: {})", list);
}

}  // namespace atl
