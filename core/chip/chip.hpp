#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>

#include "comm/control_message.hpp"
#include "core/chip/base/census.hpp"
#include "core/chip/base/epoch_clock.hpp"
#include "core/chip/chip_halves.hpp"
#include "core/chip/context.hpp"
#include "core/chip/control_protocol.hpp"
#include "core/chip/dram/dram_channel.hpp"
#include "core/chip/llc/llc_slice.hpp"
#include "core/chip/llc/protocol/home_agent.hpp"
#include "core/chip/noc/links.hpp"
#include "core/chip/noc/request_network.hpp"
#include "core/chip/noc/response_network.hpp"
#include "core/chip/observe/census_schedule.hpp"
#include "core/chip/sm/cluster_sharing.hpp"
#include "core/chip/sm/sm.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/digest.hpp"
#include "core/engine/logical_process.hpp"
#include "core/engine/parked_messages.hpp"
#include "core/stats/run_result.hpp"
#include "inputs/workload/workload.hpp"
#include "partition/cta_distribution.hpp"

namespace atl {

/// One GPU chip: wires its components, drives them by events, and runs the kernels that the controller launches.
class Chip final : public LogicalProcess {
 public:
  /// With several threads, a chip that can_halve() is run by two, and cannot be observed.
  Chip(const Machine& machine, LpId id, std::vector<Edge> edges, Workload& workload, const ChipThreads& threads = {});
  /// Of a system of one chip: whatever goes from its SMs to the rest of it takes a while, and nothing goes to links.
  static bool can_halve(const Machine& machine);

  void receive(std::span<const Message> messages) override { links_.receive(messages); }
  void receive(const ControlMessage& message) override;
  void run_until(Cycle end) override;
  Cycle next_event() const override { return parted() ? halves_->next() : c_.queue.next(); }
  std::uint64_t digest() const override { return digest_.value(); }
  std::uint64_t events() const override { return parted() ? halves_->handled_events() : c_.queue.handled() - uncounted_; }

  void observe(ChipObserver* observer) { c_.observer = observer; }
  /// Another copy of the same workload is used from here on: each thread has its own. Not of a chip that two threads run.
  void read_from(Workload& workload) {
    ATOLL_ASSERT(!halves_);
    workload_ = &workload;
  }
  /// Samples carry the census of the running kernel, for who watches the run. No checkpoint holds this.
  void show_looks() { shows_looks_ = true; }
  const Context& context() const { return c_; }
  /// Other chips that may have the line, one of this chip, as its directory knows: one bit each.
  std::uint64_t sharers(LineAddr line) const {
    return agent_ ? agent_->sharers(line) : slices_[c_.machine.map.slice(line)].sharers(line);
  }
  /// Calls see(line, home chip) for every line in the slices.
  template <class See> void for_each_line(See&& see) const {
    for (const LlcSlice& s : slices_) s.for_each_line(see);
  }
  /// Cycles in which two threads ran it.
  Cycle cycles_apart() const { return halves_ ? halves_->cycles_apart : 0; }
  /// For checks: no request, response or line is under way, and all credits are where they belong.
  bool drained() const;

  /// Between two windows. Not in it: the observer, which its owner saves; programs of CTAs, which the workload has.
  void save(SaveArchive& a);
  void load(LoadArchive& a, Cycle boundary);
  /// What is to be handed over to the chip that was loaded.
  void check(const std::vector<Mail>& mail) const;
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, c_, digest_, links_, requests_, responses_, cluster_, sms_, slice_packets_, slices_, channels_);
    if (agent_) state(a, *agent_);
    state(a, phase_, change_, modes_taken_, epochs_[0], epochs_[1], at_epoch_start_, at_kernel_start_, at_kernel_end_, late_,
          kernel_, dispatched_, finished_, to_run_);
    state(a, ctas_, dispatcher_, fixed(free_slots_), last_dispatch_, replicated_, end_rule_, sampling_, sampled_, parked_,
          latency_);
    state(a, census_schedule_, census_, span_, span_since_);
  }

 private:
  friend struct ChipTestAccess;  // seeds faults
  /// `waiting`: drained, until all chips are. `emptying`: the L2.
  enum class Phase : std::uint8_t { idle, running, waiting, draining, emptying, flushing, stopped };

  void on_event(Cycle at, const Event& e);
  void handle(const Event& e);
  void prefetch(const Event& e) const;
  void resume(const Event& e);
  void on_control(std::uint32_t parked);
  void learn_homes(const PageHomesBody& body);
  void send_touches();
  void fill_l1(const Event& e);
  void run_events(Cycle end);
  /// Schedules what concerns the whole chip.
  void schedule_for_all(Cycle at, const Event& e) {
    c_.schedule(at, e);
    if (halves_) halves_->together_at(at);
  }
  // chip_kernels.cpp
  void begin_kernel(const LaunchBody& launch);
  void dispatch();
  void curtail();
  void advance_phase();
  void empty_l2();
  void leave_kernel();
  void begin_flush(const KernelEndFlush& flush);
  void flush_slices(const KernelEndFlush& flush);
  bool quiet() const;
  bool flushed() const;
  bool invalidated() const;
  void flush_after_kernel();
  void end_kernel();
  // chip_halves.cpp
  void run_halves(Cycle end);
  Cycle apart_until(Cycle from, Cycle end);
  bool kernel_lasts(Cycle now, Cycle cycles);
  void run_whole(Cycle end);
  void run_together(Cycle end);
  void run_apart(Cycle end);
  void run_cores(Cycle end);
  void run_uncore();
  void take_arrivals();
  void wait_for_cores();
  void wait_for_uncore();
  void join_halves();
  void part_halves();
  void swap_profiles();
  /// Events are in the queues of the halves, and not in c_.queue.
  bool parted() const { return c_.half != nullptr; }
  void tell_uncore();
  /// What slices, memory and response crossbar see of the chip.
  Context& uncore() { return uncore_ ? *uncore_ : c_; }
  /// The counters of the whole chip are in c_ afterwards.
  void add_up_counters();
  // chip_modes.cpp
  /// `kernel`: they are those that it begins with.
  void obey(const Modes& modes, bool kernel);
  void send_epoch(std::uint32_t of_modes);
  void await_epoch();
  void pause();
  void flush_for_change(const ModeStep& step);
  void advance_change();
  void resume_with(const Modes& modes);
  // chip_report.cpp
  void send_sample();
  ChipReportBody report();
  std::string status() const;
  Cycle next_of_itself() const;
  // census.cpp
  void take_census(Cycle until);
  void enter_span(Span next);
  void begin_census();
  void end_census();
  void complete_census(WaitCensus& kernel) const;
  std::vector<std::uint64_t> look() const;
  std::vector<Gate*> gates();
  // state_check.cpp
  void check_state_at(Cycle boundary);
  void check_event(StateCheck& s, const Event& e) const;
  void check_modes(const Modes& m) const;
  std::span<LlcSlice> llc() { return std::span(slices_).first(c_.machine.llc.slices); }
  std::span<LlcSlice> l2() { return std::span(slices_).last(c_.machine.l2.slices); }
  template <class F> void for_each_wait(F&& f) {
    for (Sm& s : sms_) s.for_each_wait(f);
    for (LlcSlice& s : slices_) s.for_each_wait(f);
    cluster_.for_each_wait(f);
  }
  template <class Body> void tell_controller(ControlKind kind, const Body& body) {
    const auto number = static_cast<std::uint32_t>(kind);
    for (const Edge& e : edges()) {
      if (e.to == c_.machine.config.chips)
        outbox().control.push_back({e.to, {c_.now() + e.latency, id(), number, pack(body)}});
    }
  }

  Context c_;
  std::optional<Context> uncore_;  ///< of a chip that two threads run; c_ is the cores' then
  Workload* workload_;
  /// With few chips lanes and channels stay in the host's caches, and hints for them cost more than they give: measured with
  /// 4 chips, where they lose, and with 16 and 64, where they gain. It lies between.
  const bool hints_lanes_;
  Digest digest_;
  std::uint64_t uncounted_ = 0;  ///< events that an observer needed (kHitsOnly); it is not there in a run with checkpoints
  Links links_;
  RequestNetwork requests_;
  ResponseNetwork responses_;
  ClusterSharing cluster_;
  std::vector<Sm> sms_;
  PacketQueues slice_packets_;    ///< that leave them
  std::vector<LlcSlice> slices_;  ///< of the LLC, and behind them those of an L2
  std::vector<DramChannel> channels_;
  std::optional<HomeAgent> agent_;

  /// A change of organisation in the middle of a kernel or between two. `waiting`: for the other chips.
  enum class Change : std::uint8_t { none, draining, waiting, flushing };

  Phase phase_ = Phase::idle;
  Change change_ = Change::none;
  std::uint32_t modes_taken_ = 0;     ///< number of modes obeyed so far
  std::array<EpochClock, 2> epochs_;  ///< the policy's, and those of another beside it
  Counters at_epoch_start_, at_kernel_start_, at_kernel_end_;
  Counters late_;  ///< what was counted between the end of this chip's part of the kernel before and the begin of this one
  std::uint64_t kernel_ = 0, dispatched_ = 0, finished_ = 0;
  std::uint64_t to_run_ = 0;  ///< CTAs of the kernel: all of this chip, unless it was curtailed
  std::optional<ChipCtas> ctas_;
  CtaDispatcher dispatcher_;
  std::vector<std::uint32_t> free_slots_;  ///< [SM]
  Cycle last_dispatch_ = kNever;
  bool replicated_ = false;  ///< slices may hold replicas
  KernelEndRule end_rule_;
  bool sampling_ = false, shows_looks_ = false;
  Counters sampled_;
  ParkedMessages parked_;
  CensusSchedule census_schedule_;
  std::vector<WaitCensus> census_;  ///< [kernel]
  Span span_ = Span::idle;
  Cycle span_since_ = 0;
  std::array<std::array<std::uint64_t, kLatencyBuckets>, kOrigins> latency_{};
  std::uint32_t last_sm_ = 0, last_warp_ = 0;  ///< of the warps that were looked at, the one with most to do
  Cycle kernel_lasts_until_ = 0;               ///< at least
  Cycle apart_from_ = 0;                       ///< the kernel was nearly over: not before this is it worth another look
  std::optional<ChipHalves> halves_;           ///< last: its thread ends before what it works on
};

}  // namespace atl
