#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

/// The ready-made systems of inputs/systems. They are compiled in (inputs/embed.cmake), so that the program finds them
/// from a build tree, an installed copy or a compute node alike.
namespace atl {

struct EmbeddedFile {
  std::string_view name;  ///< file name without folder and extension
  std::string_view text;
};

/// Defined in a generated source file; sorted by name.
std::span<const EmbeddedFile> embedded_systems();

struct PresetInfo {
  std::string name;
  std::string doc;
};
std::vector<PresetInfo> list_presets();

/// The preset's JSON text, or nullptr.
const EmbeddedFile* find_preset(std::string_view name);

/// For error messages: ", did you mean preset `x`?" where one is close, and the list of all presets.
std::string preset_hint(const std::string& name);

}  // namespace atl
