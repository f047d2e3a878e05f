#pragma once
#include <string>

#include "core/stats/run_result.hpp"

/// The end of a run: nothing of what took days may be lost because a disk is full by then.
namespace atl {

/// Writes the result to `output`. If that fails: below $TMPDIR. Returns what the user is to be told
/// of `output`, empty if all is well.
std::string keep_result(const RunResult& result, const std::string& output, bool force);

/// Prints to stdout; what cannot be printed there goes to stderr, and an IoError says so.
void print_for_sure(const std::string& text);

}  // namespace atl
