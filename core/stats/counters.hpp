#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

/// Counters, declared once: the order here is the order of every counter array in memory, in messages and in results.
namespace atl {

enum class Counter : std::uint16_t {
  warp_instructions,
  ctas,
  l1_accesses,
  l1_sector_accesses,
  l1_hits,
  l1_merges,
  l1_misses,
  l1_sector_misses,
  l1_stores,
  l1_store_sectors,
  l1_stalls,
  llc_accesses,
  llc_sector_accesses,
  llc_reads,
  llc_writes,
  llc_atomics,
  llc_hits,
  llc_merges,
  llc_misses,
  llc_sector_misses,
  llc_bypasses,
  llc_writebacks,
  llc_writeback_sectors,
  llc_stalls,
  llc_flushed_lines,
  llc_local_lines,
  llc_remote_lines,
  coherence_notices,
  coherence_invalidations,
  coherence_invalidation_hits,
  coherence_referrals,
  coherence_evict_invalidations,
  coherence_evict_invalidation_hits,
  coherence_invalidation_bytes,
  directory_lookups,
  directory_allocations,
  directory_evictions,
  directory_evicted_lines,
  dram_reads,
  dram_writes,
  dram_read_bytes,
  dram_write_bytes,
  dram_row_hits,
  dram_row_misses,
  dram_row_conflicts,
  dram_bus_busy,
  noc_request_packets,
  noc_request_bytes,
  noc_response_packets,
  noc_response_bytes,
  noc_link_bytes,
  link_packets,
  link_bytes,
  link_forwarded,
  link_received_bytes,
  requests_local,
  requests_remote,
  page_touches,
  cluster_lookups,
  cluster_table_hits,
  cluster_table_misses,
  cluster_own_entries,
  cluster_input_full,
  cluster_access_full,
  cluster_served,
  cluster_false_positives,
  cluster_false_negatives,
  cluster_held,
  cluster_pending,
  cluster_bytes,
  sm_port_stall,
  sm_reply_stall,
  sm_issue_busy,
  load_latency_cycles,
  loads_completed,
  queue_looked,
  queue_l1_mshrs,
  queue_request,
  queue_slice,
  queue_llc_mshrs,
  queue_dram,
  queue_response,
  queue_link_out,
  queue_link_in,
  count_  ///< number of counters
};

inline constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::count_);

/// Counters from here on are absent from results of schema versions 3 and 4.
inline constexpr Counter kSinceVersion5 = Counter::queue_looked;

struct CounterInfo {
  Counter id;
  std::string_view name;  ///< `group.quantity`, as in results and on the command line
  std::string_view unit;
  std::string_view doc;
};

/// All counters merge by summing over chips and over time; ratios are formed on output only.
std::span<const CounterInfo, kCounters> counter_table();

/// One chip's counters. Plain data: sampled by copying.
struct Counters {
  using PlainState = void;
  std::array<std::uint64_t, kCounters> value{};
  std::uint64_t& operator[](Counter c) { return value[static_cast<std::size_t>(c)]; }
  std::uint64_t operator[](Counter c) const { return value[static_cast<std::size_t>(c)]; }
  Counters& operator+=(const Counters& other) {
    for (std::size_t i = 0; i < kCounters; ++i) value[i] += other.value[i];
    return *this;
  }
  Counters operator-(const Counters& other) const {
    Counters d = *this;
    for (std::size_t i = 0; i < kCounters; ++i) d.value[i] -= other.value[i];
    return d;
  }
};

/// Nothing has to happen for it to grow: the lines that a cache holds, the depth of a queue.
inline constexpr bool looked_at(Counter c) {
  return c == Counter::llc_local_lines || c == Counter::llc_remote_lines ||
         (c >= Counter::queue_looked && c <= Counter::queue_link_in);
}

/// Something happened.
inline bool moved(const Counters& increments) {
  for (std::size_t i = 0; i < kCounters; ++i)
    if (increments.value[i] != 0 && !looked_at(static_cast<Counter>(i))) return true;
  return false;
}

}  // namespace atl
