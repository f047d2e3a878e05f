#include "core/engine/function_name.hpp"

#include <cxxabi.h>
#include <fnmatch.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace atl {
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

/// Of a member function, behind its parameters.
std::string_view without_qualifiers(std::string_view name) {
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view qualifier : {" const", " volatile", " &&", " &"}) {
      if (!name.ends_with(qualifier)) continue;
      name.remove_suffix(qualifier.size());
      found = true;
    }
  }
  return name;
}

/// The parameters are the last brackets, since template arguments may have some as well; what stands before a blank outside
/// of brackets is the result.
std::string_view without_signature(std::string_view name) {
  name = without_qualifiers(name);
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

std::string function_declaration(const std::string& mangled_name) {
  if (!mangled_name.starts_with("_Z")) return mangled_name;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(mangled_name.c_str(), nullptr, nullptr, &status),
                                                    std::free);
  return status == 0 && text ? text.get() : mangled_name;
}

std::string function_name(const std::string& mangled_name) {
  const std::string whole = function_declaration(mangled_name);
  return whole == mangled_name ? whole : std::string(without_signature(whole));
}

std::string function_template_name(const std::string& mangled_name) {
  const std::string name = function_name(mangled_name);
  return name == mangled_name ? name : name.substr(0, last_opening(name, '<', '>'));
}

bool fits_function(const std::string& pattern, const std::string& mangled_name) {
  const auto fits = [&](const std::string& name) { return fnmatch(pattern.c_str(), name.c_str(), 0) == 0; };
  if (fits(mangled_name)) return true;
  for (std::string name :
       {function_declaration(mangled_name), function_name(mangled_name), function_template_name(mangled_name)}) {
    if (fits(name)) return true;
    constexpr std::string_view kNowhere = "(anonymous namespace)::";
    for (std::size_t at = 0; (at = name.find(kNowhere)) != name.npos;) name.erase(at, kNowhere.size());
    if (fits(name)) return true;
  }
  return false;
}

std::vector<std::string> split_patterns(const std::string& list) {
  std::vector<std::string> out(1);
  int depth = 0;
  for (const char c : list) {
    depth += c == '<' || c == '(';
    depth -= c == '>' || c == ')';
    if (c == ',' && depth <= 0)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

}  // namespace atl
