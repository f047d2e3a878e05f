#include "inputs/ptx/source_name.hpp"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace atl::ptx {
namespace {

/// Where the bracket that closes at the end of `name` opens; npos: none closes there.
std::size_t last_opening(std::string_view name, char open, char close) {
  if (name.empty() || name.back() != close) return std::string_view::npos;
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    depth += name[at] == close;
    depth -= name[at] == open;
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

/// "void ns::f<int>(int*)" -> "ns::f<int>": what the demangler puts around the name is not part of it.
std::string_view without_signature(std::string_view name) {
  name = name.substr(0, last_opening(name, '(', ')'));
  int depth = 0;
  for (std::size_t at = name.size(); at-- > 0;) {
    depth += name[at] == '>' || name[at] == ')';
    depth -= name[at] == '<' || name[at] == '(';
    if (depth == 0 && name[at] == ' ') return name.substr(at + 1);
  }
  return name;
}

}  // namespace

std::string source_declaration(const std::string& mangled_name) {
  if (!mangled_name.starts_with("_Z")) return mangled_name;  // "f" is a name of C, not the type float
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled_name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : mangled_name;
}

std::string source_name(const std::string& mangled_name) {
  const std::string whole = source_declaration(mangled_name);
  return std::string(without_signature(whole));
}

std::string short_source_name(const std::string& mangled_name) {
  constexpr std::size_t kLong = 80;
  const std::string name = source_name(mangled_name), plain = source_name_of_template(mangled_name);
  return name.size() <= kLong || plain == name ? name : plain + "<...>";
}

std::string source_name_of_variable(const std::string& mangled_name) {
  const std::string whole = source_declaration(mangled_name);
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

std::string source_name_of_template(const std::string& mangled_name) {
  const std::string name = source_name(mangled_name);
  return name.substr(0, last_opening(name, '<', '>'));
}

}  // namespace atl::ptx
