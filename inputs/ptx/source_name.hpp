#pragma once
#include <string>

/// Names as in the source, of those in the PTX. One that is not mangled is itself (core/engine/function_name.hpp).
namespace atl::ptx {

/// function_name() for one name among others in a line: "ns::f<...>" where there are more than some 80 characters, as of
/// libraries.
std::string short_source_name(const std::string& mangled_name);
/// "ns::v" of a variable; of one that is local to its file without nvcc's names for that, which have a hash of the file.
std::string source_name_of_variable(const std::string& mangled_name);

}  // namespace atl::ptx
