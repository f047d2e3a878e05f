#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "inputs/trace/trace_format.hpp"

namespace atl::cuda {

/// What `atoll record` was asked for. It reaches the recorder inside the program through the environment.
struct RecordOptions {
  std::string output;                                      ///< the trace, an absolute path
  std::uint64_t first_kernel = 0;                          ///< launches, counted from 0
  std::uint64_t last_kernel = ~0ull;                       ///< inclusive
  std::uint64_t max_ctas = ~0ull;                          ///< of each kernel: the first so many are recorded
  std::uint64_t max_ops = 0;                               ///< of each kernel: reached, no further CTA is recorded; 0: all
  std::uint64_t threads = 0;                               ///< that execute CTAs; 0: as many as there are processors
  std::uint64_t compression = trace_format::kCompression;  ///< of the trace: deflate 1 to 9; 0: none
  std::optional<std::uint64_t> schedule_seed;              ///< of the interleaved schedule (docs/recording.md); not given: 0
  bool long_turns = false;                                 ///< the other schedule
  bool tolerate_oob = false;                               ///< accesses near allocations, but out of bounds, are no errors
  bool check = false;  ///< compare what recorded launches do with the read-only analysis, and look for races
  bool quiet = false;
  std::string source;    ///< the recorded command line
  std::string importer;  ///< program and version that records

  bool wants(std::uint64_t launch) const { return launch >= first_kernel && launch <= last_kernel; }
};

/// "3-10", "3", "3-" (to the end). Throws InputError.
std::pair<std::uint64_t, std::uint64_t> parse_kernel_range(const std::string& text);

/// Environment variables as NAME=VALUE. A seed that is not given is taken from ATOLL_SCHEDULE_SEED of this process.
std::vector<std::string> to_environment(const RecordOptions& options);

/// What the environment says; nothing where the program was not started by `atoll record`.
std::optional<RecordOptions> options_from_environment();

}  // namespace atl::cuda
