#pragma once
#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/chip/llc/flush.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"
#include "core/stats/counters.hpp"
#include "policies/policy.hpp"

/// What chips and the controller tell each other. Bodies of control messages.
namespace atl {

enum class ControlKind : std::uint32_t {
  launch,            ///< controller to chips
  page_touches,      ///< chip to controller
  page_homes,        ///< controller to chip
  kernel_drained,    ///< chip to controller: its CTAs have ended, and it has lines to flush
  curtail,           ///< controller to chips: start no further CTAs of the kernel, which is to end early
  flush,             ///< controller to chips: every chip is drained
  kernel_done,       ///< chip to controller
  epoch_report,      ///< chip to controller
  adjust,            ///< controller to chip: modes that take effect at once
  pause,             ///< controller to chips: send no more requests, the organisation is about to change
  paused,            ///< chip to controller: none of its requests is under way
  flush_for_change,  ///< controller to chips: every chip is paused or between kernels, flush what this step needs
  flushed,           ///< chip to controller: what the step needed has left
  resume,            ///< controller to chips: go on, with new modes
  sample,            ///< chip to controller
  status_request,    ///< controller to chips: nothing moves, say why
  status_report,     ///< chip to controller
  finish,            ///< controller to chips: report and stop
  chip_report,       ///< chip to controller
};

struct LaunchBody {
  std::uint64_t kernel = 0;
  Modes modes;
  KernelEndRule end;
  std::vector<std::uint64_t> warm{};  ///< lines of this chip that kernels which were skipped have left (LlcWarming)
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, kernel, modes, end, warm); }
};

struct ModesBody {
  Modes modes;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, modes); }
};

struct ModeStepBody {
  ModeStep step;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, step); }
};

struct EpochBody {
  std::uint32_t modes = 0;  ///< how many modes the chip had obeyed: tells reports of old ones
  Cycle end = 0;
  std::vector<std::uint64_t> counters;
  LlcProfile profile;  ///< of this home: `at_requester` is [chip][slice]; empty without a profile
  DegreeCounts degrees;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, modes, end, counters, profile, degrees); }
};

/// Counters of a message, which a checkpoint may have kept.
inline void copy_counters(const std::vector<std::uint64_t>& from, Counters& to) {
  require_course(from.size() == to.value.size());
  std::copy(from.begin(), from.end(), to.value.begin());
}

struct EmptyBody {
  template <class Archive> void serialize(Archive&, unsigned) {}
};

struct PageTouchesBody {
  std::vector<std::pair<Cycle, std::uint64_t>> touches;  ///< cycle, page
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, touches); }
};

struct PageHomesBody {
  /// Page, chip. Two numbers of one size: pairs travel as they lie in memory, and padding would be what was there before.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> homes;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, homes); }
};

struct KernelDoneBody {
  Cycle cycle = 0;
  std::vector<std::uint64_t> counters{};  ///< increments since the kernel's start
  /// Increments that belong to the kernel before: a chip serves others after its own part has ended.
  std::vector<std::uint64_t> late{};
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, cycle, counters, late); }
};

struct SampleBody {
  Cycle end = 0;
  std::vector<std::uint64_t> counters;  ///< increments since the last sample
  std::vector<std::uint64_t> look{};    ///< of chips that are watched (Chip::look); else empty
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, end, counters, look); }
};

struct StatusBody {
  std::string text;
  Cycle next;  ///< in which something happens here of itself; kNever: nothing does
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, text, next); }
};

struct ChipReportBody {
  std::vector<std::uint64_t> late;  ///< as KernelDoneBody's, of a run that came to its end
  std::vector<std::uint64_t> counters, slice_accesses, slice_hits, channel_reads, channel_writes;
  std::vector<std::uint64_t> slice_requests, slice_queue_cycles, slice_miss_cycles;
  std::vector<std::uint64_t> latency;     ///< [origin][bucket], flattened
  std::vector<std::uint64_t> census;      ///< of every kernel begun (wait_census.hpp)
  std::vector<std::uint64_t> structures;  ///< how they were used (structure_use.hpp)
  std::uint64_t structure_homes = 0;      ///< numbers of these that are about homes
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, late, counters, slice_accesses, slice_hits, channel_reads, channel_writes);
    state(a, slice_requests, slice_queue_cycles, slice_miss_cycles, latency, census, structures, structure_homes);
  }
};

}  // namespace atl
