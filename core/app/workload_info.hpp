#pragma once
#include <string>

/// What `atoll info` says of a workload: a trace of any format, or a parametric one.
namespace atl {

/// `count`: reads every CTA, for instructions and the lines that they touch. Throws InputError, as open_workload().
std::string workload_text(const std::string& path, bool count);
std::string workload_json(const std::string& path, bool count);

}  // namespace atl
