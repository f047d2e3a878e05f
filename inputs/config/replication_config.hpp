#pragma once
#include <cstdint>

#include "inputs/config/field.hpp"

/// Replication of lines across the LLC slices of one chip: SelRep (Zhao et al., MICRO 2020) and the Adaptive LLC (Zhao et
/// al., ISCA 2019) it is compared with.
namespace atl {

/// In how many slices of its memory-side router a read-only line may live: one, so many, or one for each cluster.
/// `adaptive` and `selrep` choose while kernels run.
enum class Replication : std::uint8_t { shared, degree_2, degree_4, degree_8, per_cluster, adaptive, selrep };

/// How the Replication Degree Directory predicts hits: from one tag per line, as published, or from tags per degree.
enum class DegreePrediction : std::uint8_t { line_tags, shadow_tags };

/// SelRep's epochs and directory (SelRep sections III-C and III-D).
struct SelrepConfig {
  std::uint32_t epoch_cycles = 20000;
  DegreePrediction directory = DegreePrediction::line_tags;
  std::uint32_t directory_sets = 2, directory_ways = 16;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.epoch_cycles, {"epoch_cycles", "cycles", 1000, 1e9, "the degree is chosen anew so often"});
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

/// The degree that a fixed organisation stands for, of `slices` slices per memory-side router; 1 for the others.
constexpr std::uint32_t fixed_degree(Replication r, std::uint32_t slices) {
  switch (r) {
    case Replication::degree_2:
      return 2;
    case Replication::degree_4:
      return 4;
    case Replication::degree_8:
      return 8;
    case Replication::per_cluster:
      return slices;
    default:
      return 1;
  }
}

template <> std::span<const Word<Replication>> words();
template <> std::span<const Word<DegreePrediction>> words();

}  // namespace atl
