#pragma once
#include <CLI/CLI.hpp>
#include <string>

#include "core/stats/run_result.hpp"

namespace atl {

/// How a command reads results: by their checksums or, if asked to, without. HDF5 can crash on damaged files, run for ever
/// or take all memory, and a checksum is no signature. So the process has bounds from then on, and ends with a message at
/// each of them.
struct ResultReading {
  bool force = false;

  void add_to(CLI::App& command);
  RunResult read(const std::string& path) const;
};

/// A checkpoint, whatever a command takes it for. Throws InputError.
void refuse_checkpoint(const std::string& path);

/// Reads one of many results, by its checksum: the same bounds hold for a child that reads it first, so that a file which
/// takes for ever, all memory, or HDF5 down with it is an InputError, and this process goes on to the next.
RunResult read_within_bounds(const std::string& path);

}  // namespace atl
