#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// What to do with an instruction that Atoll does not execute (wmma, cp.async.bulk, ...).
enum class Unsupported {
  refuse,  ///< an error at once
  keep,    ///< Op::unsupported; an error only if a program comes to execute it
};

/// Parses one PTX text as nvcc emits it. Throws InputError(name:line, what). The result has reconvergence points and
/// shared-memory layouts; external functions and variables stay undefined until link().
Module parse(std::string_view text, const std::string& name, Unsupported unsupported = Unsupported::refuse);

/// Joins separately compiled modules (-rdc=true): `.extern` names find their `.visible` or `.weak` definition, file-local
/// names stay apart. External functions that nobody defines stay undefined (vprintf). Throws InputError for a variable
/// that nobody defines and for two strong definitions of one name.
Module link(std::vector<Module> modules);

}  // namespace atl::ptx
