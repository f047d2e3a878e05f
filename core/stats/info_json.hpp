#pragma once
#include <string>

#include "core/stats/run_result.hpp"

namespace atl {

/// `atoll info FILE --json`: what info_text() says, for programs. Cycles of a kernel that did not finish are null; the
/// digest is a text, because 64 bits do not fit the numbers of most JSON readers.
std::string info_json(const RunResult& result);

}  // namespace atl
