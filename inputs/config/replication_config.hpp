#pragma once
#include <cstdint>

#include "inputs/config/table.hpp"

/// Replication of lines across the LLC slices of one chip: SelRep (Zhao et al., MICRO 2020) and the Adaptive LLC (Zhao et
/// al., ISCA 2019) it is compared with.
namespace atl {

enum class Replication : std::uint8_t { shared, degree_2, degree_4, degree_8, per_cluster, adaptive, selrep, policy };

/// In how many slices of its memory-side router a line may live, and what the machine must know of it.
struct ReplicationRow {
  Replication value;
  std::string_view word, doc;
  std::uint32_t degree = 1;  ///< of read-only lines, if it never changes; 0: one for each slice of a router
  bool profiles = false;     ///< chips count what each degree would do (`ReplicationModes::profile`)
  bool all_lines = false;    ///< written lines may be replicated too (`ReplicationModes::all_lines`)
  bool read_only = true;     ///< lines that a kernel only reads may be, at any time and without a change of mode
};

inline constexpr std::array kReplications{
    ReplicationRow{Replication::shared, "shared", "one: the slice follows from the address"},
    ReplicationRow{Replication::degree_2, "degree_2", "two, each for half of the clusters", 2},
    ReplicationRow{Replication::degree_4, "degree_4", "four", 4},
    ReplicationRow{Replication::degree_8, "degree_8", "eight", 8},
    ReplicationRow{Replication::per_cluster, "private", "every slice of its router: each for its own clusters", 0},
    ReplicationRow{Replication::adaptive, "adaptive", "shared, or all lines private, chosen from a profile (ISCA 2019)", 1,
                   true, true, false},
    ReplicationRow{Replication::selrep, "selrep", "the degree that promises most bandwidth, chosen every epoch (MICRO 2020)",
                   1, true},
    ReplicationRow{Replication::policy, "policy", "what the plug-in of `llc.organisation` = plugin decides", 1, true, true},
};
static_assert(in_order(kReplications));

constexpr const ReplicationRow& row_of(Replication r) { return kReplications[static_cast<std::size_t>(r)]; }

/// How the Replication Degree Directory predicts hits: from one tag per line, as published, or from tags per degree.
enum class DegreePrediction : std::uint8_t { line_tags, shadow_tags };

/// Whether epochs, counts and the directory's tags go on from one kernel to the next, or begin with each. The paper speaks
/// of epochs of the execution and not of kernels (SelRep section III-C).
enum class EpochRestart : std::uint8_t { never, kernel };

/// Of degrees whose bandwidths are alike.
enum class DegreeTie : std::uint8_t { lowest, highest };

/// What a degree's bandwidth is limited by in SelRep's model: the slices alone, as published, or also what replies lose to
/// each other on their way to the clusters, which is a variant of ours.
enum class DegreeLimit : std::uint8_t { slices, replies };

/// What a kernel's end takes from an LLC with replicas: "flush the LLC on kernel boundaries" (SelRep section III-B) can mean
/// everything, or what the next kernel must not find. Replicas are never dirty.
enum class ReplicaFlush : std::uint8_t { everything, replicas };

/// SelRep's epochs, decision and directory (SelRep sections III-B to III-D).
struct SelrepConfig {
  std::uint32_t epoch_cycles = 20000;
  EpochRestart restart = EpochRestart::never;
  double margin = 0;
  DegreeTie tie = DegreeTie::lowest;
  DegreeLimit limit = DegreeLimit::slices;
  ReplicaFlush flush = ReplicaFlush::everything;
  DegreePrediction directory = DegreePrediction::line_tags;
  std::uint32_t directory_sets = 2, directory_ways = 16;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.epoch_cycles, {"epoch_cycles", "cycles", 1000, 1e9, "the degree is chosen anew so often"});
    v(s.restart, {"restart", "", 0, 0, "when epochs and the directory begin anew"});
    v(s.margin,
      {"margin", "", 0, 0.5, "part of the best bandwidth within which degrees are alike; the published rule has 0"});
    v(s.tie, {"tie", "", 0, 0, "which of the degrees that are alike is taken"});
    v(s.limit, {"limit", "", 0, 0, "what limits a degree's bandwidth in the model"});
    v(s.flush,
      {"flush", "", 0, 0, "what leaves an LLC with replicas when a kernel ends; everything under adaptive and policy"});
    v(s.directory, {"directory", "", 0, 0, "how the Replication Degree Directory predicts the hits of each degree"});
    v(s.directory_sets,
      {"directory_sets", "", 1, 4096, "LLC sets it samples; with shadow_tags set indices, in every slice of its router"});
    v(s.directory_ways, {"directory_ways", "", 1, 64, "its associativity"});
  }
};

/// The Adaptive LLC's profile and rules. Window, epoch, sets and margin could not be checked against its text.
struct AdaptiveConfig {
  std::uint32_t window_cycles = 50000, epoch_cycles = 1000000;
  std::uint32_t directory_sets = 8;
  double miss_margin = 0.02;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.window_cycles, {"window_cycles", "cycles", 1000, 1e9, "profile, shared, at the start of a kernel and of an epoch"});
    v(s.epoch_cycles, {"epoch_cycles", "cycles", 1000, 1e9, "the LLC returns to shared so long after each decision"});
    v(s.directory_sets, {"directory_sets", "", 1, 4096, "LLC sets that the profile samples"});
    v(s.miss_margin, {"miss_margin", "", 0, 1, "private at once if its miss rate is at most so much higher"});
  }
};

/// The degree that never changes, of `slices` slices per memory-side router; 1 where it does.
constexpr std::uint32_t fixed_degree(Replication r, std::uint32_t slices) {
  return row_of(r).degree == 0 ? slices : row_of(r).degree;
}

template <> std::span<const Word<Replication>> words();
template <> std::span<const Word<DegreePrediction>> words();
template <> std::span<const Word<EpochRestart>> words();
template <> std::span<const Word<DegreeTie>> words();
template <> std::span<const Word<DegreeLimit>> words();
template <> std::span<const Word<ReplicaFlush>> words();

}  // namespace atl
