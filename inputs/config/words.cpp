#include <array>

#include "inputs/config/system_config.hpp"

/// The words that configuration files use for enum values, with the line that `atoll config --explain` prints.
namespace atl {

template <> std::span<const Word<WarpScheduler>> words() {
  static constexpr std::array<Word<WarpScheduler>, 2> list{{
      {WarpScheduler::gto, "gto", "greedy then oldest: stay with one warp while it is ready, then take the oldest"},
      {WarpScheduler::lrr, "lrr", "loose round robin over the ready warps"},
  }};
  return list;
}

template <> std::span<const Word<SetIndex>> words() {
  static constexpr std::array<Word<SetIndex>, 2> list{{
      {SetIndex::linear, "linear", "the lowest line-address bits"},
      {SetIndex::xor_fold, "xor_fold", "all line-address bits folded by XOR, so that power-of-two strides use every set"},
  }};
  return list;
}

template <> std::span<const Word<ClusterShare>> words() {
  static constexpr std::array<Word<ClusterShare>, 2> list{{
      {ClusterShare::none, "none", "every L1 miss goes to the network"},
      {ClusterShare::colab, "colab", "COLAB: a table of line ownership sends read misses to the L1 that may have the line"},
  }};
  return list;
}

template <> std::span<const Word<L1Arbitration>> words() {
  static constexpr std::array<Word<L1Arbitration>, 3> list{{
      {L1Arbitration::colab_first, "colab_first", "reads of neighbours before the SM's own accesses"},
      {L1Arbitration::local_first, "local_first", "reads of neighbours when the SM presents nothing"},
      {L1Arbitration::round_robin, "round_robin", "in turn, when both want the L1"},
  }};
  return list;
}

template <> std::span<const Word<LlcOrganisation>> words() {
  static constexpr std::array<Word<LlcOrganisation>, 5> list{{
      {LlcOrganisation::memory_side, "memory_side", "lines of the chip's own memory, for the SMs of every chip"},
      {LlcOrganisation::sm_side, "sm_side", "lines of any chip's memory, for the chip's own SMs"},
      {LlcOrganisation::fixed_split, "static",
       "local_ways of each set as memory_side, the others as sm_side for remote lines"},
      {LlcOrganisation::dynamic_split, "dynamic", "as static, with a division that follows the load of links and memory"},
      {LlcOrganisation::sac, "sac", "memory_side or sm_side, whichever SAC's model prefers for the kernel"},
  }};
  return list;
}

template <> std::span<const Word<RemoteWrites>> words() {
  static constexpr std::array<Word<RemoteWrites>, 2> list{{
      {RemoteWrites::through, "through", "to the home at once; a copy is updated, none is made"},
      {RemoteWrites::back, "back", "into the own slice, and home on replacement or at the kernel's end"},
  }};
  return list;
}

template <> std::span<const Word<LlcNetwork>> words() {
  static constexpr std::array<Word<LlcNetwork>, 3> list{{
      {LlcNetwork::automatic, "automatic", "separate for organisation = sm_side, shared for all others"},
      {LlcNetwork::separate, "separate", "slices reach links and memory over wires of their own"},
      {LlcNetwork::shared, "shared", "what slices and links exchange takes its share of the slices' crossbar ports"},
  }};
  return list;
}

template <> std::span<const Word<Replication>> words() {
  static constexpr std::array<Word<Replication>, 7> list{{
      {Replication::shared, "shared", "one: the slice follows from the address"},
      {Replication::degree_2, "degree_2", "two, each for half of the clusters"},
      {Replication::degree_4, "degree_4", "four"},
      {Replication::degree_8, "degree_8", "eight"},
      {Replication::per_cluster, "private", "every slice of its router: each for its own clusters"},
      {Replication::adaptive, "adaptive", "shared, or all lines private, chosen from a profile (ISCA 2019)"},
      {Replication::selrep, "selrep", "the degree that promises most bandwidth, chosen every epoch (MICRO 2020)"},
  }};
  return list;
}

template <> std::span<const Word<DegreePrediction>> words() {
  static constexpr std::array<Word<DegreePrediction>, 2> list{{
      {DegreePrediction::line_tags, "line_tags", "one tag per line with the clusters that asked for it, as published"},
      {DegreePrediction::shadow_tags, "shadow_tags", "tags for every degree, which see its loss of capacity too"},
  }};
  return list;
}

template <> std::span<const Word<DramPreset>> words() {
  static constexpr std::array<Word<DramPreset>, 6> list{{
      {DramPreset::gddr5, "gddr5", "GDDR5 of the GTX 480 class"},
      {DramPreset::gddr5_titanx, "gddr5_titanx", "GDDR5 of the TITAN X class, 2.5 GHz"},
      {DramPreset::gddr6, "gddr6", "GDDR6 of the RTX 2060"},
      {DramPreset::hbm2, "hbm2", "HBM2 of the Quadro GV100"},
      {DramPreset::hbm, "hbm", "HBM of the Tesla P100"},
      {DramPreset::hbm_selrep, "hbm_selrep", "HBM as in SelRep's table of parameters, with a four-activate window"},
  }};
  return list;
}

template <> std::span<const Word<Topology>> words() {
  static constexpr std::array<Word<Topology>, 3> list{{
      {Topology::ring, "ring", "each chip is linked with two neighbours; chips in between forward"},
      {Topology::full, "full", "every pair of chips has a link of its own"},
      {Topology::switched, "switch", "every chip has one port on a common switch"},
  }};
  return list;
}

template <> std::span<const Word<Mapping>> words() {
  static constexpr std::array<Word<Mapping>, 2> list{{
      {Mapping::pae, "pae", "slice, channel and bank bits are XOR trees over page-address bits"},
      {Mapping::interleaved, "interleaved", "consecutive chunks rotate over the channels; any number of channels"},
  }};
  return list;
}

template <> std::span<const Word<Placement>> words() {
  static constexpr std::array<Word<Placement>, 3> list{{
      {Placement::first_touch, "first_touch", "the chip that accesses the page first"},
      {Placement::interleaved, "interleaved", "chunks of interleave_kib rotate over the chips"},
      {Placement::fixed, "fixed", "every page lives on fixed_chip"},
  }};
  return list;
}

template <> std::span<const Word<CtaToChip>> words() {
  static constexpr std::array<Word<CtaToChip>, 2> list{{
      {CtaToChip::contiguous, "contiguous", "each chip gets one range of consecutive CTAs"},
      {CtaToChip::round_robin, "round_robin", "CTAs are dealt out to the chips one by one"},
  }};
  return list;
}

template <> std::span<const Word<CtaToSm>> words() {
  static constexpr std::array<Word<CtaToSm>, 3> list{{
      {CtaToSm::two_level, "two_level", "round robin over the clusters, then over the SMs of the cluster"},
      {CtaToSm::bcs, "bcs", "blocks of bcs_block consecutive CTAs share an SM"},
      {CtaToSm::round_robin, "round_robin", "round robin over all SMs of the chip"},
  }};
  return list;
}

template <> std::span<const Word<CoherenceProtocol>> words() {
  static constexpr std::array<Word<CoherenceProtocol>, 9> list{{
      {CoherenceProtocol::software, "software", "caches are written back and invalidated at kernel boundaries"},
      {CoherenceProtocol::full_map, "full_map",
       "SM-side slices: a directory at the home invalidates copies when one is written"},
      {CoherenceProtocol::directory, "directory",
       "remote writes go through to the home, whose directory of single lines invalidates copies (REC's baseline)"},
      {CoherenceProtocol::hmg, "hmg", "as directory, with four lines and one set of sharers per entry (HMG, one level)"},
      {CoherenceProtocol::rec, "rec", "as directory, with an entry for range_bytes and sharers for each line in it"},
      {CoherenceProtocol::rec_adaptive, "rec_adaptive", "as rec, with a range chosen for each kernel (ours)"},
      {CoherenceProtocol::ideal, "ideal", "as directory, with room for all lines: nothing is evicted"},
      {CoherenceProtocol::none_remote, "none_remote", "remote lines are cached at their home only"},
      {CoherenceProtocol::l1_only, "l1_only", "remote lines are cached at their home and in L1s"},
  }};
  return list;
}

template <> std::span<const Word<DirectoryReplacement>> words() {
  static constexpr std::array<Word<DirectoryReplacement>, 3> list{{
      {DirectoryReplacement::automatic, "automatic", "lru for rec, fifo for the others, as published"},
      {DirectoryReplacement::fifo, "fifo", "the entry allocated first"},
      {DirectoryReplacement::lru, "lru", "the least recently used entry"},
  }};
  return list;
}

}  // namespace atl
