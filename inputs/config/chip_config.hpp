#pragma once
#include <cstdint>
#include <string>

#include "inputs/config/field.hpp"
#include "inputs/config/organisations.hpp"
#include "inputs/config/replication_config.hpp"

/// What one GPU chip is made of. All chips of a system are alike. Immutable once read.
namespace atl {

enum class WarpScheduler : std::uint8_t { gto, lrr };
enum class LocalStores : std::uint8_t { allocate, pass };
enum class SetIndex : std::uint8_t { linear, xor_fold };

/// Streaming multiprocessors.
struct SmConfig {
  std::uint32_t count = 64;
  std::uint32_t warps = 64;
  std::uint32_t ctas = 32;
  std::uint32_t schedulers = 4;
  WarpScheduler scheduler = WarpScheduler::gto;
  std::uint32_t registers = 65536;
  std::uint32_t shared_kib = 96;
  std::uint32_t shared_latency_cycles = 29;
  bool exit_waits = false;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.count, {"count", "", 1, 1024, "SMs per chip"});
    v(s.warps, {"warps", "", 1, 64, "warps an SM can hold"});
    v(s.ctas, {"ctas", "", 1, 64, "CTAs an SM can hold"});
    v(s.schedulers,
      {"schedulers", "", 1, 8,
       "warp schedulers per SM; each issues one instruction per cycle, those of a compute run one after another"});
    v(s.scheduler, {"scheduler", "", 0, 0, "which ready warp issues next"});
    v(s.registers, {"registers", "", 1024, 1 << 20, "32-bit registers per SM; limits resident CTAs"});
    v(s.shared_kib, {"shared_kib", "KiB", 0, 1024, "shared memory per SM; limits resident CTAs"});
    v(s.shared_latency_cycles, {"shared_latency_cycles", "cycles", 1, 1000, "shared-memory access to result"});
    v(s.exit_waits, {"exit_waits", "", 0, 1, "true: a warp ends, and a CTA leaves, once its stores are acknowledged"});
  }
};

/// Per-SM data cache: write-through, no-write-allocate but for local memory.
struct L1Config {
  bool enabled = true;
  std::uint32_t size_kib = 128;
  std::uint32_t ways = 4;
  bool sectored = false;
  SetIndex index = SetIndex::linear;
  std::uint32_t latency_cycles = 28;
  std::uint32_t mshrs = 256;
  std::uint32_t mshr_merges = 8;
  std::uint32_t pending_stores = 64;
  LocalStores local_stores = LocalStores::allocate;
  std::uint32_t reply_sectors = 0;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.enabled, {"enabled", "", 0, 1,
                  "false: loads go straight to the LLC, and l1.hits, l1.misses and the like stay 0; l1.stores and "
                  "l1.sector_accesses count"});
    v(s.size_kib, {"size_kib", "KiB", 1, 4096, "capacity per SM"});
    v(s.ways, {"ways", "", 1, 512, "associativity"});
    v(s.sectored, {"sectored", "", 0, 1, "fetch 32-byte sectors instead of whole lines"});
    v(s.index, {"index", "", 0, 0, "set index function"});
    v(s.latency_cycles, {"latency_cycles", "cycles", 1, 1000, "issue of a load to its result on a hit"});
    v(s.mshrs, {"mshrs", "", 1, 4096, "outstanding missed lines per SM, and as many loads that pass the L1 by"});
    v(s.mshr_merges, {"mshr_merges", "", 1, 256, "requests that may wait for one missed line"});
    v(s.pending_stores, {"pending_stores", "", 1, 4096, "stores and atomics an SM may have unacknowledged"});
    v(s.local_stores, {"local_stores", "", 0, 0, "what a store of local memory leaves in the L1; it is written through"});
    v(s.reply_sectors, {"reply_sectors", "sectors/cycle", 0, 64, "that loads take from lines that arrive; 0: all at once"});
  }
};

/// Crossbars between SM clusters and LLC slices: one for requests, one for responses.
/// A flat crossbar has one memory-side router; SelRep's H-Xbar has one per memory stack (SelRep section IV).
struct NocConfig {
  std::uint32_t sms_per_cluster = 2;
  std::uint32_t memory_routers = 1;
  double cluster_gbps = 125;
  double slice_gbps = 250;
  double link_port_gbps = 0;
  std::uint32_t flit_bytes = 1;
  std::uint32_t header_bytes = 8;
  std::uint32_t request_latency_cycles = 16;
  std::uint32_t response_latency_cycles = 16;
  std::uint32_t memory_latency_cycles = 8;
  std::uint32_t queue_packets = 16;
  std::uint32_t virtual_channels = 0, channel_flits = 8;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.sms_per_cluster, {"sms_per_cluster", "", 1, 64, "SMs that share one crossbar port"});
    v(s.memory_routers, {"memory_routers", "", 1, 64, "memory-side routers; every cluster has one port to each"});
    v(s.cluster_gbps, {"cluster_gbps", "GB/s", 0.1, 1e6, "bandwidth of a cluster's port, per direction"});
    v(s.slice_gbps, {"slice_gbps", "GB/s", 0.1, 1e6, "bandwidth of an LLC slice's port, per direction"});
    v(s.link_port_gbps, {"link_port_gbps", "GB/s", 0, 1e6,
                         "at which what has come over a link enters the crossbar; 0: 250, or the link's if more"});
    v(s.flit_bytes, {"flit_bytes", "B", 1, 256, "packets occupy whole flits, on links too; 1: exact bytes"});
    v(s.header_bytes,
      {"header_bytes", "B", 1, 64, "size of a read request or an acknowledgement, and of a data packet's header"});
    v(s.request_latency_cycles, {"request_latency_cycles", "cycles", 1, 1000, "traversal of the request crossbar"});
    v(s.response_latency_cycles, {"response_latency_cycles", "cycles", 1, 1000, "traversal of the response crossbar"});
    v(s.memory_latency_cycles, {"memory_latency_cycles", "cycles", 1, 1000,
                                "LLC slice to memory controller and back; SM-side slice to inter-chip port and back"});
    v(s.queue_packets, {"queue_packets", "", 1, 4096, "packets a crossbar queue holds"});
    v(s.virtual_channels, {"virtual_channels", "", 0, 64,
                           "of each input of the response crossbar's routers; 0: queues at their outputs instead"});
    v(s.channel_flits, {"channel_flits", "flits", 1, 1024, "that a virtual channel holds"});
  }
};

enum class ClusterShare : std::uint8_t { none, colab };
enum class L1Arbitration : std::uint8_t { colab_first, local_first, round_robin };

/// What the L1s of a cluster do for each other: COLAB's table of line ownership and its queues.
struct ClusterConfig {
  ClusterShare sharing = ClusterShare::none;
  std::uint32_t table_sets = 0, table_ways = 0;
  std::uint32_t table_latency_cycles = 8;
  std::uint32_t input_queue = 32, access_queue = 8, response_buffer = 8;
  std::uint32_t port_bytes = 32;
  L1Arbitration arbitration = L1Arbitration::colab_first;
  bool keep_table = false, owner_lru = true;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.sharing, {"sharing", "", 0, 0, "whether an L1 read miss may be served by another L1 of the cluster"});
    v(s.table_sets, {"table_sets", "", 0, 65536, "sets of the ownership table, a power of two; 0: as an L1"});
    v(s.table_ways, {"table_ways", "", 0, 4096, "its associativity; 0: that of all L1s of the cluster together"});
    v(s.table_latency_cycles, {"table_latency_cycles", "cycles", 1, 1000, "its look-up; one begins per cycle"});
    v(s.input_queue, {"input_queue", "", 1, 1024, "reads that the table of a cluster holds until they have gone on"});
    v(s.access_queue, {"access_queue", "", 1, 1024, "reads of neighbours that wait for an SM's L1"});
    v(s.response_buffer, {"response_buffer", "", 1, 1024, "lines of an L1 that wait for the crossbar of the cluster"});
    v(s.port_bytes, {"port_bytes", "B", 1, 4096, "per cycle, SM and direction on the crossbar within the cluster"});
    v(s.arbitration, {"arbitration", "", 0, 0, "who goes first at an L1"});
    v(s.keep_table, {"keep_table", "", 0, 1, "the table survives the invalidation of the L1s at a kernel's start"});
    v(s.owner_lru, {"owner_lru", "", 0, 1, "a neighbour's read counts as a use of the owner's line"});
  }
};

enum class RemoteWrites : std::uint8_t { through, back };
enum class LlcNetwork : std::uint8_t { automatic, separate, shared };
enum class LlcBypass : std::uint8_t { look_up, direct };

/// Last-level cache: sliced, write-back, LRU.
struct LlcConfig {
  LlcOrganisation organisation = LlcOrganisation::memory_side;
  std::string policy, policy_options;
  Replication replication = Replication::shared;
  std::uint32_t slices = 16;
  std::uint32_t size_kib = 4096;
  std::uint32_t ways = 16;
  bool sectored = false;
  SetIndex index = SetIndex::xor_fold;
  std::uint32_t latency_cycles = 100;
  double slice_gbps = 250;
  std::uint32_t mshrs = 64;
  std::uint32_t mshr_merges = 16;
  std::uint32_t remote_mshrs = 0;
  std::uint32_t bypass_reads = 64;
  std::uint32_t write_buffer = 16;
  std::uint32_t local_ways = 8;
  RemoteWrites remote_writes = RemoteWrites::through;
  LlcNetwork network = LlcNetwork::automatic;
  LlcBypass bypass = LlcBypass::look_up;
  bool write_back_at_end = false;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.organisation, {"organisation", "", 0, 0, "whose lines a slice caches"});
    v(s.policy,
      {"policy", "", 0, 0, "organisation = plugin: the policy's file, a .so or .py; a path from where the program runs"});
    v(s.policy_options, {"policy_options", "", 0, 0, "organisation = plugin: numbers of the policy's own, NAME=NUMBER ..."});
    v(s.replication, {"replication", "", 0, 0, "in how many slices of a chip a read-only line may live"});
    v(s.slices, {"slices", "", 1, 256, "slices per chip"});
    v(s.size_kib, {"size_kib", "KiB", 16, 1 << 20, "capacity per chip"});
    v(s.ways, {"ways", "", 1, 64, "associativity"});
    v(s.sectored, {"sectored", "", 0, 1, "fetch 32-byte sectors instead of whole lines"});
    v(s.index, {"index", "", 0, 0, "set index function"});
    v(s.latency_cycles, {"latency_cycles", "cycles", 1, 1000, "arrival at the slice to hit data leaving it"});
    v(s.slice_gbps,
      {"slice_gbps", "GB/s", 0.1, 1e6, "look-up bandwidth of one slice, in lines or, if sectored, in sectors"});
    v(s.mshrs, {"mshrs", "", 1, 4096, "outstanding missed lines per slice"});
    v(s.mshr_merges, {"mshr_merges", "", 1, 256, "requests that may wait for one missed line"});
    v(s.remote_mshrs,
      {"remote_mshrs", "", 0, 4096,
       "static, dynamic, home directories: MSHRs of a slice that other chips' lines which its own SMs miss may hold; 0: "
       "all"});
    v(s.bypass_reads, {"bypass_reads", "", 1, 4096,
                       "reads of remote chips, and their write-backs, that may bypass a slice at a time (sm_side)"});
    v(s.write_buffer, {"write_buffer", "", 1, 4096, "dirty lines a slice may hold for write-back before it stalls"});
    v(s.local_ways, {"local_ways", "", 1, 64,
                     "static: ways of a set for local lines; dynamic: at the start of a kernel; not given: half"});
    v(s.remote_writes, {"remote_writes", "", 0, 0, "static, dynamic: where writes to remote lines go"});
    v(s.network, {"network", "", 0, 0, "how slices reach the links and the memory"});
    v(s.bypass,
      {"bypass", "", 0, 0, "SM-side without directory: what another chip's request costs that passes the home's slice by"});
    v(s.write_back_at_end,
      {"write_back_at_end", "", 0, 1,
       "the last kernel ends when every dirty line is in memory; otherwise only where its organisation asks for that"});
  }
};

enum class L2Writes : std::uint8_t { back, through };

/// A second shared level on the SMs' side: sliced, for the SMs of its own chip, in front of the memory-side LLC. Absent
/// without slices.
struct L2Config {
  std::uint32_t slices = 0;
  std::uint32_t size_kib = 4096;
  std::uint32_t ways = 16;
  bool sectored = false;
  SetIndex index = SetIndex::xor_fold;
  std::uint32_t latency_cycles = 100;
  double slice_gbps = 250;
  std::uint32_t mshrs = 64;
  std::uint32_t mshr_merges = 16;
  L2Writes writes = L2Writes::back;
  std::uint32_t write_buffer = 16;
  double memory_gbps = 250;
  std::uint32_t memory_latency_cycles = 16;

  bool present() const { return slices != 0; }

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.slices, {"slices", "", 0, 256, "slices per chip; 0: there is no L2, and SMs ask the LLC"});
    v(s.size_kib, {"size_kib", "KiB", 16, 1 << 20, "capacity per chip"});
    v(s.ways, {"ways", "", 1, 64, "associativity"});
    v(s.sectored, {"sectored", "", 0, 1, "fetch 32-byte sectors instead of whole lines"});
    v(s.index, {"index", "", 0, 0, "set index function"});
    v(s.latency_cycles, {"latency_cycles", "cycles", 1, 1000, "arrival at the slice to hit data leaving it"});
    v(s.slice_gbps,
      {"slice_gbps", "GB/s", 0.1, 1e6, "look-up bandwidth of one slice, in lines or, if sectored, in sectors"});
    v(s.mshrs, {"mshrs", "", 1, 4096, "outstanding missed lines per slice"});
    v(s.mshr_merges, {"mshr_merges", "", 1, 256, "requests that may wait for one missed line"});
    v(s.writes, {"writes", "", 0, 0, "when what is written goes on to the home's LLC"});
    v(s.write_buffer,
      {"write_buffer", "", 1, 4096, "dirty lines and atomics a slice may hold for the memory side before it stalls"});
    v(s.memory_gbps, {"memory_gbps", "GB/s", 0.1, 1e6, "bandwidth of a slice's port to the memory side, per direction"});
    v(s.memory_latency_cycles,
      {"memory_latency_cycles", "cycles", 1, 1000, "between any two of L2 slice, LLC slice and inter-chip port"});
  }
};

/// What the Dynamic LLC takes for a memory's full use: its design bandwidth, or what it can attain with the requests it
/// gets.
enum class MemoryFull : std::uint8_t { peak, attainable };

/// The Dynamic LLC's rules (Milic et al., MICRO 2017).
struct DynamicConfig {
  std::uint32_t period_cycles = 5000;
  double saturation = 0.9;
  MemoryFull memory = MemoryFull::attainable;
  std::uint32_t step_ways = 1, min_ways = 1;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.period_cycles, {"period_cycles", "cycles", 100, 1e9, "the division of the ways is reconsidered so often"});
    v(s.saturation, {"saturation", "", 0.01, 1, "utilisation from which incoming links or memory count as saturated"});
    v(s.memory, {"memory", "", 0, 0, "what utilisation of the memory is relative to"});
    v(s.step_ways, {"step_ways", "", 1, 32, "ways that one period moves"});
    v(s.min_ways, {"min_ways", "", 1, 32, "ways that either kind of line keeps at least"});
  }
};

/// When SAC's Chip Request Directory forgets: before each profile, when the LLC has been flushed because the organisation
/// changed, or never.
enum class CrdClear : std::uint8_t { profile, change, never };

/// SAC's profile and decision (SAC sections 3.2 to 3.6).
struct SacConfig {
  std::uint32_t window_cycles = 2000;
  double threshold = 0.05;
  std::uint32_t reprofile_cycles = 0;
  std::uint32_t crd_sets = 8, crd_ways = 16, crd_tag_bits = 30;
  std::uint32_t crd_choice = 0;
  CrdClear crd_clear = CrdClear::profile;
  bool crd_always = false, crd_counts_copies = false, merged_is_hit = true;
  double confidence = 0;
  std::uint32_t confidence_windows = 10;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.window_cycles, {"window_cycles", "cycles", 100, 1e9, "profile at the start of a kernel"});
    v(s.threshold, {"threshold", "", 0, 10, "theta: SM-side must promise so much more bandwidth than memory-side"});
    v(s.reprofile_cycles, {"reprofile_cycles", "cycles", 0, 1e9, "a new profile so long after each decision; 0: none"});
    v(s.crd_sets, {"crd_sets", "", 1, 4096, "LLC sets per chip that the Chip Request Directory samples"});
    v(s.crd_ways, {"crd_ways", "", 1, 64, "associativity of the Chip Request Directory"});
    v(s.crd_tag_bits, {"crd_tag_bits", "bits", 1, 64, "width of its tags; counts for the storage only"});
    v(s.crd_counts_copies,
      {"crd_counts_copies", "", 0, 1, "a set holds crd_ways copies, as SM-side caches would, instead of crd_ways tags"});
    v(s.crd_choice, {"crd_choice", "", 0, 1e6, "which sets it samples: each number stands for another choice"});
    v(s.crd_clear, {"crd_clear", "", 0, 0, "when the directory is emptied"});
    v(s.crd_always, {"crd_always", "", 0, 1,
                     "the directory also follows the requests between profiles, as long as the LLC is memory-side"});
    v(s.merged_is_hit, {"merged_is_hit", "", 0, 1, "a request that joins a pending miss counts as a hit of the LLC"});
    v(s.confidence,
      {"confidence", "", 0, 10, "not published: profile on while the choice lies within so many standard errors; 0: off"});
    v(s.confidence_windows,
      {"confidence_windows", "", 1, 1000, "with confidence: windows after which it is decided anyway"});
  }
};

template <> std::span<const Word<WarpScheduler>> words();
template <> std::span<const Word<LocalStores>> words();
template <> std::span<const Word<SetIndex>> words();
template <> std::span<const Word<ClusterShare>> words();
template <> std::span<const Word<L1Arbitration>> words();
template <> std::span<const Word<RemoteWrites>> words();
template <> std::span<const Word<L2Writes>> words();
template <> std::span<const Word<MemoryFull>> words();
template <> std::span<const Word<CrdClear>> words();
template <> std::span<const Word<LlcNetwork>> words();
template <> std::span<const Word<LlcBypass>> words();

}  // namespace atl
