#pragma once
#include <string>

/// Names of functions as in the source, of those in the PTX. One that is not mangled is itself.
namespace atl::ptx {

/// "ns::f<int>" of "void ns::f<int>(int*)": for messages, and as `--kernels` takes it.
std::string source_name(const std::string& mangled_name);
/// The same for one name among others in a line: "ns::f<...>" where there are more than some 80 characters, as of libraries.
std::string short_source_name(const std::string& mangled_name);
/// "ns::f".
std::string source_name_of_template(const std::string& mangled_name);
/// "ns::v" of a variable; of one that is local to its file without nvcc's names for that, which have a hash of the file.
std::string source_name_of_variable(const std::string& mangled_name);
/// "void ns::f<int>(int*)".
std::string source_declaration(const std::string& mangled_name);

}  // namespace atl::ptx
