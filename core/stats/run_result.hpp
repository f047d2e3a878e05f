#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"
#include "core/stats/bottleneck_stack.hpp"
#include "core/stats/counters.hpp"
#include "core/stats/data_origin.hpp"
#include "core/stats/decision.hpp"
#include "core/stats/energy.hpp"
#include "core/stats/sampling.hpp"
#include "core/stats/sharing.hpp"
#include "core/stats/sm_sharing.hpp"
#include "core/stats/structure_use.hpp"

/// Everything that one run leaves behind. The controller fills it; results are written from it and read back into it.
namespace atl {

struct KernelResult {
  std::string name;
  std::uint64_t ctas = 0;
  Cycle launched = 0;  ///< end of the kernel before, 0 for the first: its launch latency counts
  Cycle started = 0;   ///< the first chip received it
  Cycle finished = 0;  ///< the last chip was done, flush included
  /// Launch to end; nothing for a kernel that --max-cycles cut off.
  std::optional<Cycle> cycles() const {
    return finished == kNever || finished <= launched ? std::nullopt : std::optional(finished - launched);
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, name, ctas, launched, started, finished); }
};

/// Counters of every chip over one sampling period that ends at `end` (exclusive).
struct Sample {
  Cycle end = 0;
  std::vector<Counters> chips;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, end, chips); }
};

inline constexpr std::size_t kLatencyBuckets = 24;  ///< bucket b holds latencies in [2^b, 2^(b+1)) cycles

/// Per-chip detail that is not sampled over time.
struct ChipResult {
  Counters totals;
  std::vector<std::uint64_t> slice_accesses, slice_hits;  ///< [slice]
  /// [slice] reads, writes and atomics that left the slice's queues; cycles in the queues; cycles of waiting for missing
  /// data. Empty in files of a schema version below 5.
  std::vector<std::uint64_t> slice_requests, slice_queue_cycles, slice_miss_cycles;
  std::vector<std::uint64_t> channel_reads, channel_writes;                    ///< [channel]
  std::array<std::array<std::uint64_t, kLatencyBuckets>, kOrigins> latency{};  ///< L1-miss latency by origin
  Energy energy;                                                               ///< of the chip and its memory
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, totals, slice_accesses, slice_hits, slice_requests, slice_queue_cycles, slice_miss_cycles);
    state(a, channel_reads, channel_writes, latency);
  }
};

struct Provenance {
  std::string version, git_commit, command, system, workload, started_at;
  std::string workload_digest;                ///< of the workload's file: tells whether it has changed since
  std::string selection;                      ///< which part of the workload was run; empty: all of it
  std::string sampling;                       ///< what --sample asked for, with every key; empty: all was simulated
  std::string incomplete;                     ///< what traces of kernels lack, a line for each; empty: nothing known
  std::string warnings;                       ///< what the run warned of, a line each; empty: nothing, or not in the file
  std::string policy, policy_digest;          ///< of `llc.organisation` = plugin: its name, and of its file; else empty
  std::string effective_config;               ///< JSON
  std::vector<std::string> hosts;             ///< [rank]
  double host_seconds = 0;                    ///< wall clock of the simulation loop
  std::uint64_t events = 0;                   ///< events handled
  std::uint64_t windows = 0;                  ///< time windows of the controller's rank that were not skipped
  std::vector<std::uint64_t> process_events;  ///< of these: each chip's, then the controller's
  double link_bytes_per_cycle = 0;            ///< most that a chip can send, mean; 0: no links, or not in the file
  std::vector<double> links_of_chips;         ///< [chip] the same of each; empty likewise
  std::vector<std::uint64_t> llc_chips;       ///< chips whose LLC holds lines, ascending; empty: not in the file
  std::vector<double> wait_shares;            ///< [rank] part of its time that it exchanged messages or waited for others
  std::uint64_t moves = 0;                    ///< of chips between threads while it ran; 0 also if not in the file
};

/// The texts of a provenance, as files and tables name them.
struct ProvenanceText {
  const char* name;
  std::string Provenance::*field;
  bool optional = false;  ///< absent where empty
};
inline constexpr ProvenanceText kProvenanceTexts[] = {
    {"version", &Provenance::version},           {"git_commit", &Provenance::git_commit},
    {"command", &Provenance::command},           {"system", &Provenance::system},
    {"workload", &Provenance::workload},         {"workload_digest", &Provenance::workload_digest},
    {"started_at", &Provenance::started_at},     {"effective_config", &Provenance::effective_config},
    {"selection", &Provenance::selection, true}, {"incomplete", &Provenance::incomplete, true},
    {"warnings", &Provenance::warnings, true},   {"sampling", &Provenance::sampling, true},
    {"policy", &Provenance::policy, true},       {"policy_digest", &Provenance::policy_digest, true},
};

struct RunResult {
  Provenance provenance;
  std::vector<KernelResult> kernels;
  std::vector<Sample> samples;
  std::vector<Decision> decisions;  ///< in order of time
  std::vector<ChipResult> chips;
  std::vector<PricedEnergy> energy_prices;     ///< the chips' energy by price; empty in files of Atoll 0.2
  StackResult stack;                           ///< [kernel][chip]; empty in files of schema version 3
  std::optional<StructuresResult> structures;  ///< of workloads that know theirs
  std::optional<SharingResult> sharing;        ///< of runs with `observe.sharing`
  std::optional<SmSharingResult> sm_sharing;   ///< of runs with `observe.sm_sharing`
  std::optional<SamplingResult> sampling;      ///< of runs with --sample: all else is of the launches that were simulated
  std::vector<Counter> not_in_file;            ///< counters that the Atoll that wrote the file did not have: all zero
  Cycle cycles = 0;                            ///< end of the last kernel
  bool complete = true;                        ///< false: stopped by --max-cycles
  std::uint64_t digest = 0;                    ///< over everything simulated, independent of ranks and of host time
  /// In a checkpoint: what the controller gathers during the run. The rest is worked out when it has ended.
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, kernels, samples, decisions, chips, cycles, complete);
  }
};

}  // namespace atl
