#pragma once
#include <cstdint>
#include <vector>

#include "inputs/config/system_config.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::bench {

/// How many events each part of each chip handles in each step of a run: what threads could share of a chip. Parts of a
/// chip are its SM clusters, each with its ports of the crossbars, its slices, each with its share of the channels, and
/// what is left: links, credits within the chip, dispatch and samples.
struct PartLog {
  /// Cycles of a step: the shortest way between two parts, a crossbar's (noc.response_latency_cycles, or less).
  Cycle length = 1;
  std::uint32_t parts = 0;
  std::vector<std::uint32_t> events;  ///< [step][part], without steps in which there are none
  std::uint64_t total = 0;
  std::uint64_t uncore = 0;  ///< of these: events of the uncore, where two threads run a chip (core/chip/chip_halves.hpp)

  std::size_t steps() const { return parts == 0 ? 0 : events.size() / parts; }
};

PartLog log_parts(const SystemConfig& config, Workload& workload);

/// Speed-up on so many threads. Parts go to threads by their work in the whole run, the greatest first; a thread begins a
/// step when all have ended the one before, `sync` events later: the time in which it hears of it.
double speed_up(const PartLog& log, std::uint32_t threads, double sync);

}  // namespace atl::bench
