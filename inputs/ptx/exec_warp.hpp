#pragma once
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "inputs/ptx/exec.hpp"
#include "inputs/ptx/exec_cluster.hpp"
#include "inputs/ptx/exec_code.hpp"
#include "inputs/ptx/exec_spin.hpp"
#include "inputs/ptx/exec_standing.hpp"
#include "inputs/ptx/global_races.hpp"
#include "inputs/ptx/record_sink.hpp"
#include "inputs/ptx/shared_races.hpp"

namespace atl::ptx::exec {

enum class WarpState : std::uint8_t { ready, at_barrier, at_cluster, at_meeting, done };

struct Range {
  std::uint64_t low = 1, high = 0;
};

struct Cta;
struct Launch;

/// A warp, or after a divergent barrier a part of one.
struct Warp {
  // What every instruction touches.
  std::byte* bank[4] = {};
  std::uint32_t active = 0;  ///< lanes that execute the current instruction
  std::uint32_t mask = 0;    ///< lanes of the current path
  std::uint32_t pc = 0, reconverge = kNone;
  std::int64_t budget = 0;  ///< instructions left in this turn
  const Inst* code = nullptr;
  std::uint32_t carry = 0;  ///< flag of each lane: 1 where a sum carried, or a difference did not borrow
  WarpState state = WarpState::ready;
  bool suspicious = false;  ///< in this turn, executed something that spin loops are made of
  bool changed = false;     ///< in this turn, changed memory
  bool stirred = false;     ///< in this turn, changed memory that is not its CTA's alone, or read a clock
  bool polled = false;      ///< was suspicious in some turn since this was cleared
  bool timed = false;       ///< read a clock since this was cleared

  std::vector<Path> paths;  ///< suspended ones; the current one is in mask, pc and reconverge
  std::vector<Frame> frames;
  Bytes registers, local, specials;
  std::array<Range, 32> seen{};  ///< allocations that instructions touched last
  std::uint64_t seen_at = 0;     ///< DeviceMemory::changes when it was empty last
  std::uint64_t executed = 0, thread_executed = 0;

  std::uint32_t number = 0;         ///< in its CTA
  std::uint32_t alive = 0;          ///< lanes of this object that have not exited
  std::uint32_t slot = 0;           ///< in Cta::warps
  std::uint32_t first_turns = 0;    ///< turns that are short, as it has just left a barrier with the others
  std::uint32_t stuck = 0;          ///< turns that a part of its lanes has been spinning
  bool whole = true;                ///< false after a split
  std::uint32_t members = 0;        ///< at_meeting: the lanes that its instruction names
  bool alone = false;               ///< nobody can come any more: it meets those that are there
  std::uint64_t missed = 0;         ///< meetings without some of the lanes named
  std::uint64_t cluster_phase = 0;  ///< Cluster::completed when lanes arrived there last
  std::uint32_t cluster_lanes = 0;  ///< those that did
  SpinPoint spin;
  std::uint64_t repeated_polls = 0;  ///< that the recorder did not hear of
  Cta* cta = nullptr;
  Launch* launch = nullptr;
  RecordSink* recorder = nullptr;
  std::vector<WarpEvent> events;
  std::vector<std::uint64_t> addresses;

  template <class T> T* at(Ref ref) { return reinterpret_cast<T*>(bank[ref >> 30] + (ref & kOffsetMask)); }
  Frame& frame() { return frames.back(); }
  /// It has changed memory.
  void change() { changed = stirred = true, spin.known = false; }
  /// It has changed memory of its own CTA, or stored what was there already.
  void change_own() { changed = true, spin.known = false; }

  /// The bytes of local memory at an offset of a lane. Memory is interleaved in granules of 16 bytes, so that it grows at
  /// its end; no aligned access crosses one.
  static std::size_t local_index(std::uint64_t offset, unsigned lane) {
    return ((offset >> 4) * kLanes + lane) * 16 + (offset & 15);
  }
};

struct Barrier {
  std::uint32_t arrived = 0;           ///< threads
  std::uint32_t expected = 0;          ///< 0: all that are alive
  std::uint32_t ones = 0, voters = 0;  ///< of bar.red
  struct Waiter {
    std::uint32_t warp = 0;  ///< index in Cta::warps
    const Inst* instruction = nullptr;
    std::uint32_t mask = 0;
  };
  std::vector<Waiter> waiters;
};

struct Cta {
  std::uint64_t number = 0;
  std::uint32_t id[3] = {};
  std::vector<std::unique_ptr<Warp>> warps;
  Bytes shared;
  std::shared_ptr<Cluster> cluster;  ///< of this CTA alone where the launch has none
  std::uint32_t rank = 0;            ///< in it
  std::array<Barrier, 16> barriers;
  std::uint32_t alive = 0;  ///< threads that have not exited
  bool recorded = false;
  bool progressed = false;  ///< something changed since this was cleared
  bool stirred = false;     ///< as Warp::stirred, since this was cleared
  bool polled = false;      ///< some warp was suspicious since this was cleared
  Standing standing;
  std::unique_ptr<SharedRaces> races;                        ///< only with LaunchSpec::check
  RaceView view;                                             ///< of LaunchSpec::races
  alignas(64) std::array<std::byte, 16 * kLanes> nowhere{};  ///< Bank::kSink
  alignas(64) std::array<std::byte, 64 * kLanes> beyond{};   ///< where lanes go that are out of bounds
};

struct Launch {
  const LaunchSpec* spec = nullptr;
  Device* device = nullptr;
  const Image* image = nullptr;
  std::array<std::uint32_t, 3> cluster{1, 1, 1};  ///< CTAs
  RecordSink* sink = nullptr;
  std::uint32_t shared_bytes = 0;
  std::uint64_t clock = 0;
  std::uint64_t waited = 0;  ///< cycles that have passed besides, while nothing but a clock was waited for
  bool concurrent = false;   ///< other CTAs run at the same time
  bool short_turns = false;  ///< a turn ends at an access that other CTAs may notice
  bool only_polls = false;   ///< nothing else was seen for a while: is it the same each time?
  bool by_value = false;     ///< it is looked whether stores to global memory change what is there
  std::uint8_t watched = 0;  ///< Inst::watch of these accesses
  Bytes params;              ///< at an address of its own, aligned
  bool own_memory = false;   ///< instructions may access params or grid_barrier by address
  Bytes grid_barrier;        ///< workspace that envreg1 and envreg2 name
};

/// Thrown by handlers; the scheduler adds kernel, thread and line.
struct Fault {
  ExecutionError::Kind kind;
  unsigned lane;
  std::string what;
};

// ---- how lanes are walked ----

/// d[lane] = f(lane) for the active lanes. All lanes are computed, which vectorises; operands are always readable.
template <class D, class F> inline void each_lane(Warp& w, Ref ref, F f) {
  D* const d = w.at<D>(ref);
  if (w.active == kFullMask) {
#pragma GCC ivdep
    for (unsigned lane = 0; lane < kLanes; ++lane) d[lane] = f(lane);
    return;
  }
  D result[kLanes];
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane) result[lane] = f(lane);
  const std::uint32_t active = w.active;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane) d[lane] = (active >> lane & 1) != 0 ? result[lane] : d[lane];
}

/// The same for what is slow and does not vectorise: only active lanes are computed.
template <class D, class F> inline void each_active(Warp& w, Ref ref, F f) {
  D* const d = w.at<D>(ref);
  for (std::uint32_t left = w.active; left != 0; left &= left - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(left));
    d[lane] = f(lane);
  }
}

template <class F> inline void for_active(std::uint32_t active, F f) {
  for (; active != 0; active &= active - 1) f(static_cast<unsigned>(std::countr_zero(active)));
}

/// The mask of lanes for which f holds.
template <class F> inline std::uint32_t lanes_where(F f) {
  std::uint32_t bits = 0;
#pragma GCC ivdep
  for (unsigned lane = 0; lane < kLanes; ++lane) bits |= (f(lane) ? 1u : 0u) << lane;
  return bits;
}

inline void set_predicate(Warp& w, Ref ref, std::uint32_t bits) {
  auto* d = w.at<std::uint32_t>(ref);
  *d = (*d & ~w.active) | (bits & w.active);
}
inline std::uint32_t predicate(Warp& w, Ref ref) { return *w.at<std::uint32_t>(ref); }

// ---- control (exec_control.cpp) ----

/// The place in its block of a lane's thread.
std::array<std::uint32_t, 3> thread_of(const Warp& w, unsigned lane);
/// Puts a warp at the kernel's first instruction.
void start_warp(Warp& w, std::uint32_t lanes);
/// Executes until the turn's budget is spent, the warp waits at a barrier, or it has ended.
void run_warp(Warp& w);
void flush_events(Warp& w);
/// Goes on with the suspended path on top, or returns to the caller, or ends the warp.
void pop_path(Warp& w);
/// Keeps `lanes` and gives the others to a warp object of their own, which the CTA then runs as well.
void split_off(Warp& w, std::uint32_t lanes);
/// The lanes of this warp, in all its parts, that have not exited.
std::uint32_t living(const Warp& w);
/// Takes the lanes of another part of the warp in, if it stands where this one does; that part has ended then.
bool merge(Warp& w, Warp& other);
/// Some lanes have exited: parts that may have waited for them look again.
void wake_meetings(const Warp& w);
/// Lets those go on for whom a barrier is complete: some arrived, or some that they waited for have exited.
void check_barrier(Cta& cta, Barrier& barrier);

// ---- memory (exec_memory.cpp) ----

/// Host address of one lane's generic address, checked.
std::byte* translate(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment);
/// A zero-terminated string.
std::string read_string(Warp& w, unsigned lane, std::uint64_t address);

/// Of the device's heap, by `free` or what is like it.
void release_memory(Warp& w, std::uint64_t address);
/// External functions: vprintf, __assertfail, malloc, free, the runtime on the device.
void call_external(Warp& w, const Function& function, const CallSite& site);
/// `__cudaCDP2...`: what one lane gets from it.
bool is_device_runtime(std::string_view function);
std::uint64_t call_device_runtime(Warp& w, std::string_view function, const CallSite& site, unsigned lane);
/// Moves `size` bytes of a parameter or register; `frame` says whose.
std::uint64_t read_argument(Warp& w, const Frame& frame, const CallArgument& from, unsigned lane);
void write_argument(Warp& w, const Frame& frame, const CallArgument& to, unsigned lane, std::uint64_t value);

}  // namespace atl::ptx::exec
