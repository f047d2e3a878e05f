#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "inputs/cuda/device_model.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl::cuda {

inline constexpr std::uint64_t kMostDevices = 64;  ///< as chips of a system

/// What `atoll record` was asked for. It reaches the recorder inside the program through the environment.
struct RecordOptions {
  std::string output;                                      ///< the trace, an absolute path
  std::string kernels;                                     ///< LaunchSelection; empty: all launches
  std::uint64_t stop_after = 0;                            ///< recorded launches; 0: never
  std::uint64_t first_cta = 0;                             ///< of each kernel: recorded from this one on
  std::uint64_t max_ctas = ~0ull;                          ///< of each kernel: so many are recorded
  std::uint64_t max_ops = 0;                               ///< of each kernel: reached, no further CTA is recorded; 0: all
  std::uint64_t threads = 0;                               ///< that execute CTAs; 0: as many as there are processors
  std::uint64_t compression = trace_format::kCompression;  ///< of the trace: deflate 1 to 9; 0: none
  std::optional<std::uint64_t> schedule_seed;              ///< of the interleaved schedule (docs/recording.md); not given: 0
  bool long_turns = false;                                 ///< the other schedule
  bool tolerate_oob = false;                               ///< accesses near allocations, but out of bounds, are no errors
  DeviceModel device;                                      ///< what the program is told
  std::uint64_t devices = 1;                               ///< how many of them it has
  bool check = false;  ///< compare what recorded launches do with the read-only analysis, and look for races
  bool quiet = false;
  std::string ptx_folder;  ///< gets the PTX that messages name lines of, an absolute path; empty: nobody asked
  std::string source;      ///< the recorded command line
  std::string importer;    ///< program and version that records
};

/// Environment variables as NAME=VALUE. A seed that is not given is taken from ATOLL_SCHEDULE_SEED of this process.
std::vector<std::string> to_environment(const RecordOptions& options);

/// What the environment says; nothing where the program was not started by `atoll record`.
std::optional<RecordOptions> options_from_environment();

}  // namespace atl::cuda
