#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/stats/counters.hpp"
#include "core/stats/decision.hpp"
#include "inputs/config/organisations.hpp"
#include "policies/llc/llc_profile.hpp"
#include "policies/replication/degree_counts.hpp"

/// Decisions. A policy runs in the controller and is a function of what it is told: it knows no chip, no message, no file.
namespace atl {

/// How lines are replicated across the slices of a chip.
struct ReplicationModes {
  std::uint32_t level = 0;  ///< logarithm of the degree
  /// Written lines too: slices write through, and atomics go to the line's shared slice (Adaptive). The same for all chips.
  bool all_lines = false;
  bool profile = false;  ///< the chip counts what each degree would do
  bool restart = false;  ///< from nothing
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, level, all_lines, profile, restart); }
  bool operator==(const ReplicationModes&) const = default;
};

/// What a chip obeys. Plain values that travel with a kernel's launch or a change of mode; the chip's hot path reads them
/// and asks nobody. Whatever follows from a change (draining, writing back, invalidating) is the chips' business: a policy
/// may return any modes that its traits and the protocol allow, and the controller refuses others.
struct Modes {
  LlcRole llc = LlcRole::memory_side;  ///< the same for all chips
  std::uint32_t local_ways = 0;        ///< split: ways per set for lines of the own chip; the others are for remote lines
  bool profile = false;                ///< SAC's profilers count (SAC section 3.2)
  /// The chip reports its counters so long after these modes take effect, and so on; 0: not. The same for all chips.
  std::uint32_t epoch_cycles = 0;
  ReplicationModes replication{};
  std::uint32_t range_bytes = 0;  ///< that an entry of the home directory covers; 0: as configured
  /// Where an organisation and replication each have epochs (combined.hpp): what of the first one has gone by before these
  /// modes, and another length of epochs, at whose ends the chips report as well. A plug-in leaves them 0.
  std::uint32_t epoch_gone = 0, beside_cycles = 0, beside_gone = 0;
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, llc, local_ways, profile, epoch_cycles, replication, range_bytes, epoch_gone, beside_cycles, beside_gone);
  }
  bool operator==(const Modes&) const = default;
};

/// What one chip counted in one epoch.
struct ChipEpoch {
  Counters count;  ///< increments
  LlcProfile profile;
  DegreeCounts degrees;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, count, profile, degrees); }
};

struct Epoch {
  std::uint64_t kernel = 0;
  Cycle end = 0, length = 0;
  std::span<const ChipEpoch> chips;
};

/// A kernel that has ended everywhere.
struct KernelEnd {
  std::uint64_t kernel = 0;
  Cycle end = 0;
  std::span<const Counters> chips;  ///< increments, until each chip's part had ended
};

/// Decisions and what follows from them.
struct Verdict {
  std::vector<Decision> decisions;
  std::vector<Modes> modes;  ///< [chip]
};

class Policy {
 public:
  virtual ~Policy() = default;
  /// Modes of all chips for kernel `kernel` of the workload, and what was decided for it. Asked for once, right before its
  /// launch at cycle `start`, or a little later if lines have to leave the LLCs first.
  virtual Verdict at_kernel_start(std::size_t kernel, Cycle start) = 0;
  /// Asked when every chip has reported the epoch, while the kernel runs. Nothing: all stays as it is.
  virtual std::optional<Verdict> at_epoch_end(const Epoch&) { return std::nullopt; }
  /// Told before the next kernel's modes are asked for. Returns what it decided for them.
  virtual std::vector<Decision> at_kernel_end(const KernelEnd&) { return {}; }
  /// What it remembers, for checkpoints (policy_state.hpp). Nothing: it decides by what it is told.
  virtual void save(SaveArchive&) {}
  virtual void load(LoadArchive&) {}
};

}  // namespace atl
