#include "inputs/ptx/source_name.hpp"

#include <string_view>

#include "core/engine/function_name.hpp"

namespace atl::ptx {
std::string short_source_name(const std::string& mangled_name) {
  constexpr std::size_t kLong = 80;
  const std::string name = function_name(mangled_name), plain = function_template_name(mangled_name);
  return name.size() <= kLong || plain == name ? name : plain + "<...>";
}

std::string source_name_of_variable(const std::string& mangled_name) {
  const std::string whole = function_declaration(mangled_name);
  std::string name;
  for (std::size_t at = 0; at < whole.size();) {
    std::size_t end = whole.find("::", at);
    end = end == std::string::npos ? whole.size() : end + 2;
    const std::string_view part = std::string_view(whole).substr(at, end - at);
    if (part.starts_with("_GLOBAL__N_"))
      name += "(anonymous namespace)::";
    else if (!part.starts_with("_INTERNAL_"))
      name += part;
    at = end;
  }
  return name;
}

}  // namespace atl::ptx
