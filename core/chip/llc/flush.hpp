#pragma once
#include <cstdint>

#include "core/chip/base/machine.hpp"
#include "policies/policy.hpp"

/// What must leave the LLC slices so that any sequence of modes stays coherent: at the end of a kernel, before another role
/// begins in the middle of one, and before a kernel with another role than the last. Pure functions; the chip obeys them,
/// and the controller knows by them whether a step is needed.
namespace atl {

/// Which lines a flush writes back, if dirty, and forgets. `all`: software coherence at the end of a kernel under SM-side
/// caching. `dirty`: before SM-side caching begins. `remote`: those of other chips, at the end of a kernel under
/// split, and when directories have forgotten them. `clean`: dirty ones are written back, and none forgotten.
/// `settle`: both, before slices may hold replicas: other chips' lines go, and dirty ones of this chip are written back.
/// `clean`, `remote` and `settle` forget replicas too, which no directory knows of.
enum class Flush : std::uint8_t { none, all, dirty, remote, clean, settle };

/// What a kernel must leave behind. It follows from the policy's traits and the protocol, and for the last kernel from a
/// key.
struct KernelEndRule {
  bool any_role_next = false;  ///< the next kernel may have another role: lines leave that only this role finds
  bool clean = false;          ///< dirty lines are written back, and stay (REC section 2.3)
  bool write_back = false;     ///< dirty lines are written back in any case: `llc.write_back_at_end`, after the last kernel
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, any_role_next, clean, write_back); }
};

KernelEndRule kernel_end_rule(const SystemConfig& config, const PolicyTraits& traits);

/// At the end of a kernel, when every chip is drained: what slices do, and whether directories forget their sharers.
struct KernelEndFlush {
  Flush scope = Flush::none;
  bool forget_sharers = false;
};
KernelEndFlush kernel_end_flush(const Machine& m, LlcRole role, bool replicas, const KernelEndRule& rule);
/// Slices flush only when every chip is drained; else each chip ends its kernel by itself.
bool ends_together(const Machine& m, LlcRole role, const ReplicationModes& replication, const KernelEndRule& rule);

/// One step of a change of mode, for every chip at the same time. With all lines before it and after, it is for another
/// degree, and all leave.
struct ModeStep {
  LlcRole from = LlcRole::memory_side, to = LlcRole::memory_side;
  bool from_all_lines = false, to_all_lines = false;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, from, to, from_all_lines, to_all_lines); }
};
KernelEndFlush step_flush(const Machine& m, const ModeStep& step);
/// The first step of `whole`. Under software coherence, split and SM-side caching meet by way of
/// memory-side: remote dirty lines must be at their homes before the homes' dirty lines go to memory.
ModeStep next_step(const Machine& m, const ModeStep& whole);
/// A kernel may not begin under SM-side caching while homes hold dirty lines past which other chips would read.
bool step_before_kernel(const Machine& m, LlcRole last, LlcRole next);

}  // namespace atl
