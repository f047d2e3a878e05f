#include <array>

#include "inputs/config/system_config.hpp"

/// The words that configuration files use for enum values, with the line that `atoll config --explain` prints.
namespace atl {

template <> std::span<const Word<WarpScheduler>> words() {
  static constexpr auto list = std::to_array<Word<WarpScheduler>>({
      {WarpScheduler::gto, "gto", "greedy then oldest: stay with one warp while it is ready, then take the oldest"},
      {WarpScheduler::lrr, "lrr", "loose round robin over the ready warps"},
  });
  return list;
}

template <> std::span<const Word<LocalStores>> words() {
  static constexpr auto list = std::to_array<Word<LocalStores>>({
      {LocalStores::allocate, "allocate",
       "whole sectors stay, so that what is spilled is found again; not with cluster.sharing"},
      {LocalStores::pass, "pass", "nothing that was not there before, as with other stores"},
  });
  return list;
}

template <> std::span<const Word<SetIndex>> words() {
  static constexpr auto list = std::to_array<Word<SetIndex>>({
      {SetIndex::linear, "linear", "the lowest line-address bits"},
      {SetIndex::xor_fold, "xor_fold", "all line-address bits folded by XOR, so that power-of-two strides use every set"},
  });
  return list;
}

template <> std::span<const Word<ClusterShare>> words() {
  static constexpr auto list = std::to_array<Word<ClusterShare>>({
      {ClusterShare::none, "none", "every L1 miss goes to the network"},
      {ClusterShare::colab, "colab", "COLAB: a table of line ownership sends read misses to the L1 that may have the line"},
  });
  return list;
}

template <> std::span<const Word<L1Arbitration>> words() {
  static constexpr auto list = std::to_array<Word<L1Arbitration>>({
      {L1Arbitration::colab_first, "colab_first", "reads of neighbours before the SM's own accesses"},
      {L1Arbitration::local_first, "local_first", "reads of neighbours when the SM presents nothing"},
      {L1Arbitration::round_robin, "round_robin", "in turn, when both want the L1"},
  });
  return list;
}

template <> std::span<const Word<LlcOrganisation>> words() {
  static constexpr auto list = words_of(kOrganisations);
  return list;
}

template <> std::span<const Word<RemoteWrites>> words() {
  static constexpr auto list = std::to_array<Word<RemoteWrites>>({
      {RemoteWrites::through, "through", "to the home at once; a copy is updated, none is made"},
      {RemoteWrites::back, "back", "into the own slice, and home on replacement or at the kernel's end"},
  });
  return list;
}

template <> std::span<const Word<L2Writes>> words() {
  static constexpr auto list = std::to_array<Word<L2Writes>>({
      {L2Writes::back, "back", "on replacement, or at the kernel's end"},
      {L2Writes::through, "through", "at once; a copy is updated, none is made"},
  });
  return list;
}

template <> std::span<const Word<MemoryFull>> words() {
  static constexpr auto list = std::to_array<Word<MemoryFull>>({
      {MemoryFull::peak, "peak", "its design bandwidth"},
      {MemoryFull::attainable, "attainable",
       "what it attains: time lost while requests waited for longer than an idle channel takes counts as used"},
  });
  return list;
}

template <> std::span<const Word<CrdClear>> words() {
  static constexpr auto list = std::to_array<Word<CrdClear>>({
      {CrdClear::profile, "profile", "before each profile"},
      {CrdClear::change, "change", "when the LLC was flushed because the organisation changed"},
      {CrdClear::never, "never", "never"},
  });
  return list;
}

template <> std::span<const Word<LlcNetwork>> words() {
  static constexpr auto list = std::to_array<Word<LlcNetwork>>({
      {LlcNetwork::automatic, "automatic", "separate for organisation = sm_side, shared for all others"},
      {LlcNetwork::separate, "separate", "slices reach links and memory over wires of their own"},
      {LlcNetwork::shared, "shared", "what slices and links exchange takes its share of the slices' crossbar ports"},
  });
  return list;
}

template <> std::span<const Word<LlcBypass>> words() {
  static constexpr auto list = std::to_array<Word<LlcBypass>>({
      {LlcBypass::look_up, "look_up", "the time and the bandwidth of a look-up"},
      {LlcBypass::direct, "direct", "neither: it goes on to memory at once"},
  });
  return list;
}

template <> std::span<const Word<Replication>> words() {
  static constexpr auto list = words_of(kReplications);
  return list;
}

template <> std::span<const Word<DegreePrediction>> words() {
  static constexpr auto list = std::to_array<Word<DegreePrediction>>({
      {DegreePrediction::line_tags, "line_tags", "one tag per line with the clusters that asked for it, as published"},
      {DegreePrediction::shadow_tags, "shadow_tags", "tags for every degree, which see its loss of capacity too"},
  });
  return list;
}

template <> std::span<const Word<EpochRestart>> words() {
  static constexpr auto list = std::to_array<Word<EpochRestart>>({
      {EpochRestart::never, "never", "they go on from kernel to kernel"},
      {EpochRestart::kernel, "kernel", "with each kernel; the degree stays until its first epoch ends"},
  });
  return list;
}

template <> std::span<const Word<DegreeTie>> words() {
  static constexpr auto list = std::to_array<Word<DegreeTie>>({
      {DegreeTie::lowest, "lowest", "the one of fewest replicas"},
      {DegreeTie::highest, "highest", "the one of most replicas"},
  });
  return list;
}

template <> std::span<const Word<DegreeLimit>> words() {
  static constexpr auto list = std::to_array<Word<DegreeLimit>>({
      {DegreeLimit::slices, "slices", "requests of the busiest slice, hits and memory, as published"},
      {DegreeLimit::replies, "replies", "also what replies of slices lose to each other at the routers' outputs"},
  });
  return list;
}

template <> std::span<const Word<ReplicaFlush>> words() {
  static constexpr auto list = std::to_array<Word<ReplicaFlush>>({
      {ReplicaFlush::everything, "everything", "all lines are written back and forgotten"},
      {ReplicaFlush::replicas, "replicas", "replicas are forgotten; other lines are written back and stay"},
  });
  return list;
}

template <> std::span<const Word<Topology>> words() {
  static constexpr auto list = words_of(kTopologies);
  return list;
}

template <> std::span<const Word<Mapping>> words() {
  static constexpr auto list = std::to_array<Word<Mapping>>({
      {Mapping::pae, "pae", "slice, channel and bank bits are XOR trees over page-address bits"},
      {Mapping::interleaved, "interleaved", "consecutive chunks rotate over the channels; any number of channels"},
      {Mapping::hashed, "hashed",
       "interleaved, each round over the channels turned by a hash of its number; any number of channels"},
      {Mapping::ipoly, "ipoly",
       "the slice is the address modulo a polynomial over GF(2), in Accel-Sim's division of addresses"},
  });
  return list;
}

template <> std::span<const Word<Placement>> words() {
  static constexpr auto list = std::to_array<Word<Placement>>({
      {Placement::first_touch, "first_touch", "the chip that accesses the page first"},
      {Placement::interleaved, "interleaved", "chunks of interleave_kib rotate over the chips"},
      {Placement::fixed, "fixed", "every page lives on fixed_chip"},
  });
  return list;
}

template <> std::span<const Word<CtaToChip>> words() {
  static constexpr auto list = std::to_array<Word<CtaToChip>>({
      {CtaToChip::contiguous, "contiguous", "each chip gets one range of consecutive CTAs"},
      {CtaToChip::round_robin, "round_robin", "CTAs are dealt out to the chips one by one"},
      {CtaToChip::per_sm, "per_sm",
       "consecutive CTAs, as many for each SM of the system as one needs so that all have a place: the last chips may get "
       "fewer, or none (MGPUSim)"},
  });
  return list;
}

template <> std::span<const Word<CtaToSm>> words() {
  static constexpr auto list = std::to_array<Word<CtaToSm>>({
      {CtaToSm::two_level, "two_level", "round robin over the clusters, then over the SMs of the cluster"},
      {CtaToSm::bcs, "bcs", "blocks of bcs_block consecutive CTAs share an SM"},
      {CtaToSm::round_robin, "round_robin", "round robin over all SMs of the chip"},
  });
  return list;
}

template <> std::span<const Word<CoherenceProtocol>> words() {
  static constexpr auto list = words_of(kProtocols);
  return list;
}

template <> std::span<const Word<DirectoryReplacement>> words() {
  static constexpr auto list = std::to_array<Word<DirectoryReplacement>>({
      {DirectoryReplacement::automatic, "automatic", "lru for rec and rec_adaptive, fifo for the others, as published"},
      {DirectoryReplacement::fifo, "fifo", "the entry allocated first"},
      {DirectoryReplacement::lru, "lru", "the least recently used entry"},
  });
  return list;
}

template <> std::span<const Word<InvalidationMessage>> words() {
  static constexpr auto list = std::to_array<Word<InvalidationMessage>>({
      {InvalidationMessage::line, "line",
       "one line, or the lines that share a field of sharers, as HMG's four do: a message for each sharer"},
      {InvalidationMessage::each_line, "each_line", "one line, HMG's as well"},
      {InvalidationMessage::range, "range",
       "the lines of an entry that end together: a message for each sharer, which looks every line up"},
  });
  return list;
}

}  // namespace atl
