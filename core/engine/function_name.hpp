#pragma once
#include <string>
#include <vector>

/// Names of functions as in the source, of mangled ones. One that is not mangled is itself: `f` is a name of C, and not the
/// type float.
namespace atl {

/// `void ns::f<(Mode)1>(int*)`
std::string function_declaration(const std::string& mangled_name);
/// `ns::f<(Mode)1>`: without parameters and result. As tables and messages have it.
std::string function_name(const std::string& mangled_name);
/// `ns::f`: without template arguments, too.
std::string function_template_name(const std::string& mangled_name);

/// Whether a pattern with *, ? and [..] fits the mangled name or one of these, with or without `(anonymous namespace)::`.
bool fits_function(const std::string& pattern, const std::string& mangled_name);
/// A list of such patterns: `a<int, 2>,b` has two, since commas in brackets do not divide.
std::vector<std::string> split_patterns(const std::string& list);

}  // namespace atl
