#pragma once
#include <cstdint>
#include <vector>

#include "inputs/config/system_config.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::bench {

/// How many events each process handles in each window of a run. It is simulated, so that every run gives the same.
struct WorkLog {
  struct Window {
    Cycle index = 0;                    ///< the window is [index, index + 1) x length
    std::vector<std::uint32_t> events;  ///< [process]
  };
  Cycle length = 1;  ///< of a window
  std::vector<Window> windows;
  std::uint64_t events = 0;
};

/// Runs the workload on one rank, and writes down every window that is run there.
WorkLog log_work(const SystemConfig& config, Workload& workload);

}  // namespace atl::bench
