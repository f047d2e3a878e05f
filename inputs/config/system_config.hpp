#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "inputs/config/chip_config.hpp"
#include "inputs/config/dram_config.hpp"
#include "inputs/config/energy_config.hpp"
#include "inputs/config/protocols.hpp"
#include "inputs/config/topologies.hpp"

/// A whole simulated system: chips, how they are linked, who owns what, and how it is controlled.
namespace atl {

/// Inter-chip network. Default figures: SAC's ring, 96 GB/s per direction between neighbours (docs/systems.md).
struct LinkConfig {
  Topology topology = Topology::ring;
  double bandwidth_gbps = 96;
  std::uint32_t latency_cycles = 32;
  std::uint32_t buffer_packets = 256;
  std::uint32_t credit_cycles = 8;
  std::uint32_t slot_bytes = 1;
  std::string edges;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.topology, {"topology", "", 0, 0, "how the chips are linked"});
    v(s.bandwidth_gbps,
      {"bandwidth_gbps", "GB/s", 0.01, 1e6, "per direction: of one edge (ring, full, graph) or of a chip's port (switch)"});
    v(s.latency_cycles, {"latency_cycles", "cycles", 1, 1e6, "one hop; also the lookahead of the parallel simulation"});
    v(s.buffer_packets, {"buffer_packets", "", 1, 1 << 16, "packets a receiving port buffers per virtual channel"});
    v(s.credit_cycles, {"credit_cycles", "cycles", 1, 1e6, "freed buffers are reported to the sender at multiples of this"});
    v(s.slot_bytes,
      {"slot_bytes", "B", 1, 4096, "a message takes whole slots of so many bytes, on links only; 1: what it has"});
    v(s.edges,
      {"edges", "", 0, 0,
       "graph: its links, such as \"0-1 1-2:1500 0-2:1500/1200@40\": chips, GB/s there and back, cycles; what is not "
       "said is bandwidth_gbps and latency_cycles"});
  }
};

enum class Mapping : std::uint8_t { pae, interleaved, hashed, ipoly };
enum class Placement : std::uint8_t { first_touch, interleaved, fixed };
enum class CtaToChip : std::uint8_t { contiguous, round_robin, per_sm };
enum class CtaToSm : std::uint8_t { two_level, bcs, round_robin };

/// Who owns what: address mapping, page placement, CTA distribution.
struct PartitionConfig {
  Mapping mapping = Mapping::pae;
  double page_kib = 4;
  Placement placement = Placement::first_touch;
  double interleave_kib = 4;
  std::uint32_t fixed_chip = 0;
  std::uint32_t compute_chips = 0, memory_chips = 0;
  CtaToChip cta_to_chip = CtaToChip::contiguous;
  CtaToSm cta_to_sm = CtaToSm::round_robin;
  std::uint32_t bcs_block = 2;

  std::uint32_t page_bytes() const { return static_cast<std::uint32_t>(page_kib * 1024); }
  /// Of a chunk of placement = interleaved.
  std::uint32_t chunk_pages() const { return std::max(1u, static_cast<std::uint32_t>(interleave_kib / page_kib)); }

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.mapping, {"mapping", "", 0, 0, "address bits to slice, channel and bank"});
    v(s.page_kib, {"page_kib", "KiB", 0.5, 2048, "page size, a power of two"});
    v(s.placement, {"placement", "", 0, 0, "which chip becomes the home of a page"});
    v(s.interleave_kib, {"interleave_kib", "KiB", 0.5, 1 << 20, "chunk of placement = interleaved; a multiple of page_kib"});
    v(s.fixed_chip, {"fixed_chip", "", 0, 255, "home of every page for placement = fixed"});
    v(s.compute_chips, {"compute_chips", "", 0, 64, "only the first so many chips have SMs (compute dies); 0: all"});
    v(s.memory_chips, {"memory_chips", "", 0, 64, "only the last so many chips have memory (base dies); 0: all"});
    v(s.cta_to_chip, {"cta_to_chip", "", 0, 0, "how a kernel's CTAs are spread over the chips"});
    v(s.cta_to_sm, {"cta_to_sm", "", 0, 0, "how a chip's CTAs are spread over its SMs"});
    v(s.bcs_block, {"bcs_block", "", 1, 64, "consecutive CTAs that cta_to_sm = bcs keeps on one SM"});
  }
};

/// How a workload of several devices (`atoll record --devices`) meets the chips.
struct WorkloadConfig {
  std::vector<std::uint32_t> device_chips;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.device_chips, {"device_chips", "", 0, 63, "chip of each device of a program of several; []: device i is chip i"});
  }
};

/// The controller: kernel launches, page homes, counters.
struct ControlConfig {
  std::uint32_t latency_cycles = 200;
  std::uint32_t launch_latency_cycles = 1000;
  std::uint32_t sample_cycles = 10000;
  std::uint32_t max_samples = 8192;
  std::uint64_t deadlock_cycles = 1000000;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.latency_cycles, {"latency_cycles", "cycles", 1, 1e6, "one way between a chip and the controller"});
    v(s.launch_latency_cycles,
      {"launch_latency_cycles", "cycles", 0, 1e9,
       "from the end of one kernel to the start of the next; there and back of latency_cycles at least"});
    v(s.sample_cycles, {"sample_cycles", "cycles", 100, 1e12, "sampling period of the counters"});
    v(s.max_samples, {"max_samples", "samples", 2, 1 << 24,
                      "kept of a run; when there are more, neighbours become one, and the period twice as long"});
    v(s.deadlock_cycles, {"deadlock_cycles", "cycles", 1000, 1e15,
                          "without progress for so long while requests are outstanding, the run ends with a report"});
  }
};

enum class DirectoryReplacement : std::uint8_t { automatic, fifo, lru };
enum class InvalidationMessage : std::uint8_t { line, each_line, range };

/// How copies of remote lines are kept coherent, and the directory at the home that does it (REC section 4).
struct CoherenceConfig {
  CoherenceProtocol protocol = CoherenceProtocol::software;
  std::uint32_t directory_entries = 8192;
  std::uint32_t directory_ways = 8;
  DirectoryReplacement directory_replacement = DirectoryReplacement::automatic;
  SetIndex directory_index = SetIndex::xor_fold;
  std::uint32_t range_bytes = 1024;
  std::uint32_t directory_latency_cycles = 0;
  std::uint32_t invalidation_queue = 0;
  InvalidationMessage invalidate = InvalidationMessage::line;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.protocol, {"protocol", "", 0, 0, "how cached remote lines are kept coherent"});
    v(s.directory_entries, {"directory_entries", "", 1, 1 << 22, "directory, hmg, rec, rec_adaptive: entries per chip"});
    v(s.directory_ways, {"directory_ways", "", 1, 64, "associativity of the directory"});
    v(s.directory_replacement, {"directory_replacement", "", 0, 0, "which entry a full set gives up"});
    v(s.directory_index, {"directory_index", "", 0, 0, "set index function of the directory"});
    v(s.range_bytes,
      {"range_bytes", "B", 128, 4096, "rec: addresses that an entry covers, a power of two; rec_adaptive begins with it"});
    v(s.directory_latency_cycles,
      {"directory_latency_cycles", "cycles", 0, 1000,
       "home directories: their look-up for a request of another chip, before the slice's; 0: beside it"});
    v(s.invalidation_queue,
      {"invalidation_queue", "", 0, 1 << 20,
       "home directories: so many invalidations may wait at a slice for a way to other chips before the own SMs' writes "
       "there wait; 0: any number"});
    v(s.invalidate, {"invalidate", "", 0, 0, "home directories: what an invalidation on a link names"});
  }
};

/// When `rec_adaptive` takes another range for the next kernel; ours, not REC's.
struct RecAdaptiveConfig {
  std::uint32_t min_range_bytes = 256, max_range_bytes = 4096;
  double widen_above = 0.75, narrow_below = 0.25;
  double min_evictions = 0.01;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.min_range_bytes, {"min_range_bytes", "B", 128, 4096, "the shortest range, a power of two"});
    v(s.max_range_bytes, {"max_range_bytes", "B", 128, 4096, "the longest range, a power of two"});
    v(s.widen_above, {"widen_above", "", 0, 1, "twice the range if entries track more than this part of it when evicted"});
    v(s.narrow_below, {"narrow_below", "", 0, 1, "half the range if they track less than this part"});
    v(s.min_evictions, {"min_evictions", "", 0, 1, "the range stays if fewer look-ups than this part evict an entry"});
  }
};

/// What is looked at besides the counters. Nothing simulated depends on it.
struct ObserveConfig {
  bool sharing = false, neighbours = false;
  std::uint64_t sharing_window_cycles = 100000;
  bool sm_sharing = false;
  std::uint64_t sm_window_cycles = 1000;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.sharing, {"sharing", "", 0, 0, "which data the chips share: footprint and working sets (docs/results.md)"});
    v(s.sharing_window_cycles, {"sharing_window_cycles", "cycles", 100, 1e12,
                                "an epoch of these working sets; shorter windows begin with it (SAC figure 11)"});
    v(s.neighbours, {"neighbours", "", 0, 0, "which L1 misses another L1 of the cluster could have served"});
    v(s.sm_sharing, {"sm_sharing", "", 0, 0, "which data the SMs of a chip share in a kernel (docs/results.md)"});
    v(s.sm_window_cycles,
      {"sm_window_cycles", "cycles", 1, 1e12, "windows in which SMs that ask for a line are counted (SelRep figure 5)"});
  }
};

struct SystemConfig {
  std::string name = "custom";
  std::uint32_t chips = 4;
  double core_clock_mhz = 1000;
  std::uint32_t line_bytes = 128;
  std::uint32_t scale = 1;
  SmConfig sm;
  L1Config l1;
  NocConfig noc;
  ClusterConfig cluster;
  L2Config l2;
  LlcConfig llc;
  DynamicConfig dynamic;
  SacConfig sac;
  SelrepConfig selrep;
  AdaptiveConfig adaptive;
  DramConfig dram;
  LinkConfig link;
  WorkloadConfig workload;
  PartitionConfig partition;
  CoherenceConfig coherence;
  RecAdaptiveConfig rec_adaptive;
  ControlConfig control;
  ObserveConfig observe;
  EnergyConfig energy;

  /// Chips with SMs are the first, chips with memory the last; by default each has both.
  std::uint32_t compute_chips() const { return partition.compute_chips == 0 ? chips : partition.compute_chips; }
  std::uint32_t memory_chips() const { return partition.memory_chips == 0 ? chips : partition.memory_chips; }
  std::uint32_t first_memory_chip() const { return chips - memory_chips(); }
  bool computes(std::uint32_t chip) const { return chip < compute_chips(); }
  bool has_memory(std::uint32_t chip) const { return chip >= first_memory_chip(); }
  /// Where a chip's first touches put pages: itself, or the chip with memory that is its share of them.
  std::uint32_t nearest_memory(std::uint32_t chip) const {
    return has_memory(chip) ? chip : first_memory_chip() + chip * memory_chips() / compute_chips();
  }

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.name, {"name", "", 0, 0, "shown in results"});
    v(s.chips, {"chips", "", 1, 64, "GPU chips"});
    v(s.core_clock_mhz, {"core_clock_mhz", "MHz", 10, 1e5, "clock of the SMs, and the unit of simulated time"});
    v(s.line_bytes, {"line_bytes", "B", 64, 128, "cache line, a power of two"});
    v(s.scale,
      {"scale", "", 1, 1024, "divides L2, LLC, its directory and the footprint of a parametric workload; 1: as published"});
    v(s.sm, {"sm", "", 0, 0, "streaming multiprocessors"});
    v(s.l1, {"l1", "", 0, 0, "per-SM data cache"});
    v(s.noc, {"noc", "", 0, 0, "crossbars"});
    v(s.cluster, {"cluster", "", 0, 0, "sharing of lines between the L1s of a cluster"});
    v(s.l2, {"l2", "", 0, 0, "a second shared level, between the SMs and the LLC"});
    v(s.llc, {"llc", "", 0, 0, "last-level cache"});
    v(s.dynamic, {"dynamic", "", 0, 0, "rules of llc.organisation = dynamic"});
    v(s.sac, {"sac", "", 0, 0, "profile and decision of llc.organisation = sac"});
    v(s.selrep, {"selrep", "", 0, 0, "epochs and directory of llc.replication = selrep"});
    v(s.adaptive, {"adaptive", "", 0, 0, "profile and rules of llc.replication = adaptive"});
    v(s.dram, {"dram", "", 0, 0, "memory controllers and DRAM"});
    v(s.link, {"link", "", 0, 0, "inter-chip network"});
    v(s.partition, {"partition", "", 0, 0, "address mapping, page placement, CTA distribution"});
    v(s.workload, {"workload", "", 0, 0, "devices of the workload"});
    v(s.coherence, {"coherence", "", 0, 0, "coherence of cached remote lines"});
    v(s.rec_adaptive, {"rec_adaptive", "", 0, 0, "rules of coherence.protocol = rec_adaptive"});
    v(s.control, {"control", "", 0, 0, "controller"});
    v(s.observe, {"observe", "", 0, 0, "statistics that cost host time, off by default"});
    v(s.energy, {"energy", "", 0, 0, "energy of events, and power of parts (docs/energy.md)"});
  }
};

/// The machine to build: `l2.size_kib`, `llc.size_kib` and `coherence.directory_entries` divided by `scale`. Where it is,
/// `scale` is 1.
SystemConfig scaled(SystemConfig config);

/// GB/s at which what has come over a link of `link_gbps` enters the crossbar: `noc.link_port_gbps`. Where that is 0 the
/// port is never narrower than the link, so that a sweep over links measures links.
double link_port_gbps(const SystemConfig& config, double link_gbps);

template <> std::span<const Word<Mapping>> words();
template <> std::span<const Word<Placement>> words();
template <> std::span<const Word<CtaToChip>> words();
template <> std::span<const Word<CtaToSm>> words();
template <> std::span<const Word<DirectoryReplacement>> words();
template <> std::span<const Word<InvalidationMessage>> words();

}  // namespace atl
