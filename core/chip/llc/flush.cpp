#include "core/chip/llc/flush.hpp"

namespace atl {
namespace {

/// Lines outside of their shared slices go and the others stay, clean: a replica of the next kernel's is fetched past the
/// slice that may hold the line dirty. Where written lines have copies too, the one in the shared slice may be stale.
bool spares_lines(const SystemConfig& c) {
  return c.selrep.flush == ReplicaFlush::replicas && !row_of(c.llc.replication).all_lines;
}

/// Directories have forgotten which chips hold lines of this one, and so these go. `all_dirty`: the others are written back.
KernelEndFlush leave_directories(bool all_dirty) { return {all_dirty ? Flush::settle : Flush::remote, true}; }

}  // namespace

KernelEndRule kernel_end_rule(const SystemConfig& config, const PolicyTraits& traits) {
  const ProtocolRow& protocol = row_of(config.coherence.protocol);
  const bool never_memory_side = !traits.roles.has(LlcRole::memory_side);
  return {.any_role_next = traits.switches,
          .clean = !traits.switches && never_memory_side && (protocol.home.present || !protocol.llc_keeps_remote)};
}

bool ends_together(const Machine& m, LlcRole role, const ReplicationModes& replication, const KernelEndRule& rule) {
  const bool home_directory = m.home_directory && (role != LlcRole::memory_side || m.has_l2);
  return role == LlcRole::sm_side || home_directory || rule.clean || rule.write_back || m.replicates_read_only ||
         replication.level != 0;
}

/// Directories spare slices the flush, unless the next kernel may be memory-side, where nobody would find remote lines.
/// Replicas go in any case: what this kernel only read the next may write (SelRep section III-B).
KernelEndFlush kernel_end_flush(const Machine& m, LlcRole role, bool replicas, const KernelEndRule& rule) {
  if (rule.clean) return {Flush::clean, false};
  if (m.directories() && m.has_l2) return {rule.write_back ? Flush::clean : Flush::none, false};
  if (m.directories() && role != LlcRole::memory_side)
    return rule.any_role_next ? leave_directories(m.replicates || rule.write_back)
                              : KernelEndFlush{m.replicates || rule.write_back ? Flush::clean : Flush::none, false};
  // Shared all the while, or only replicas go.
  if ((!replicas || spares_lines(m.config)) && role != LlcRole::sm_side) return {Flush::settle, false};
  return {Flush::all, false};
}

/// Before SM-side caching begins, dirty lines go to memory, where other chips' reads will find them; clean ones may stay.
/// Before it ends all lines go: any of them may have been written by another chip. A private LLC holds copies that others'
/// writes have passed by; it has no dirty lines. With directories only remote lines go, and only when the slices turn
/// memory-side: the home's dirty lines are looked up, and its stale ones are gone already.
KernelEndFlush step_flush(const Machine& m, const ModeStep& s) {
  if (m.directories()) {
    const bool leaves = s.from != LlcRole::memory_side && s.to == LlcRole::memory_side;
    return leaves ? leave_directories(m.replicates) : KernelEndFlush{};
  }
  if (s.from_all_lines) return {Flush::all, false};
  if (s.to_all_lines) return {s.from == LlcRole::memory_side ? Flush::dirty : Flush::all, false};
  if (s.from == s.to) return {};
  if (s.from == LlcRole::sm_side) return {Flush::all, false};
  if (s.from == LlcRole::split) return {Flush::remote, false};
  return {s.to == LlcRole::sm_side ? Flush::dirty : Flush::none, false};
}

ModeStep next_step(const Machine& m, const ModeStep& whole) {
  const bool two = !m.directories() && whole.from == LlcRole::split && whole.to == LlcRole::sm_side;
  ModeStep first = whole;
  if (two) first.to = LlcRole::memory_side, first.to_all_lines = whole.from_all_lines;
  return first;
}

bool step_before_kernel(const Machine& m, LlcRole last, LlcRole next) {
  return !m.directories() && next == LlcRole::sm_side && last != LlcRole::sm_side;
}

}  // namespace atl
