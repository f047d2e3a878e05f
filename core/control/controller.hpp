#pragma once
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "comm/control_message.hpp"
#include "core/chip/control_protocol.hpp"
#include "core/control/kernel_sampler.hpp"
#include "core/control/live_sample.hpp"
#include "core/control/llc_warming.hpp"
#include "core/control/mode_rules.hpp"
#include "core/control/rate_watch.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/digest.hpp"
#include "core/engine/event_queue.hpp"
#include "core/engine/logical_process.hpp"
#include "core/engine/parked_messages.hpp"
#include "core/stats/progress.hpp"
#include "core/stats/run_result.hpp"
#include "core/stats/wait_census.hpp"
#include "inputs/config/system_config.hpp"
#include "inputs/workload/workload.hpp"
#include "partition/page_placement.hpp"
#include "policies/registry.hpp"

namespace atl {

/// The logical process that launches kernels, settles first touches and gathers counters. It is not on any chip's
/// critical path: chips only wait for it where the modelled machine waits.
class Controller final : public LogicalProcess {
 public:
  /// `max_cycles`: ends the run there (kNever: runs to the end, which must come before kCycleLimit). `sampler`: chooses
  /// which kernels of `workload` are simulated; none: all.
  Controller(const Machine& machine, std::vector<Edge> edges, const std::vector<KernelInfo>& kernels, Cycle max_cycles,
             LoadedPolicy policy, KernelSampler* sampler = nullptr, Workload* workload = nullptr);

  void receive(std::span<const Message>) override {}
  void receive(const ControlMessage& message) override;
  void run_until(Cycle end) override;
  Cycle next_event() const override { return std::min(queue_.next(), limit_); }
  std::uint64_t digest() const override { return digest_.value(); }
  std::uint64_t events() const override { return queue_.handled(); }

  /// Called with every sample; for display only.
  void on_progress(std::function<void(const ProgressState&)> f) { progress_ = std::move(f); }
  /// The same, for who wants to see more than how far it is. Chips send looks if they were told to.
  void on_live_sample(std::function<void(const LiveSample&)> f) { live_ = std::move(f); }
  /// Ends the run at `cycle` instead of where the run that was loaded would have.
  void limit(Cycle cycle) { limit_ = finishing_ ? kNever : std::min(cycle, kCycleLimit); }
  /// Between two windows. Not in it: who shows the progress.
  void save(SaveArchive& a);
  void load(LoadArchive& a, Cycle boundary);
  /// Every chip has reported: the run has come to an end, its own or that of a limit.
  bool done() const { return reports_ == config_.chips; }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, queue_, parked_, digest_, limit_, first_touch_, settle_at_, kernel_, chips_done_, chips_drained_, reports_);
    state(a, kernel_end_, kernel_counts_, running_, finishing_, modes_, epoch_, degrees_, modes_sent_, restarted_);
    state(a, epoch_reports_, chips_paused_, chips_flushed_, epoch_begin_, changing_, step_, launching_, open_samples_,
          last_move_, patient_until_, asked_at_move_, status_, next_of_chips_, ctas_done_);
    state(a, requests_, periods_, in_last_, result_, census_, all_kernel_counts_, structures_);
  }
  const LoadedPolicy& policy() const { return policy_; }
  /// Everything simulated. Valid when the run has ended.
  const RunResult& result() const { return result_; }
  /// [chip][kernel] what warps and packets waited for. Valid when the run has ended.
  const std::vector<std::vector<WaitCensus>>& census() const { return census_; }
  /// [chip] how it used the workload's data structures. Valid when the run has ended.
  const std::vector<StructureLog>& structures() const { return structures_; }
  /// [simulated kernel][chip] of kernels that have ended.
  const std::vector<std::vector<Counters>>& kernel_counts() const { return all_kernel_counts_; }

 private:
  void check_state_at(Cycle boundary) const;
  enum class EventKind : std::uint8_t { message, settle, launch, limit };
  struct Event {
    EventKind kind;
    std::uint32_t index;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, kind, index); }
  };

  void handle(const Event& e);
  void on_message(const ControlMessage& m);
  void on_sample(LpId chip, const SampleBody& body);
  void take_look(LpId chip, const std::vector<std::uint64_t>& look);
  void keep_sample(Sample&& sample);
  void on_kernel_done(LpId chip, const KernelDoneBody& body);
  void on_status(LpId chip, StatusBody answer);
  void on_report(LpId chip, const ChipReportBody& r);
  std::size_t next_kernel();
  void prepare_kernel(Cycle earliest_start);
  void launch(Cycle earliest_start);
  void warm();
  void settle();
  void finish();
  void on_limit();
  void watch(Cycle end);
  void watch_rate(Cycle end, const Sample& sample);
  // controller_modes.cpp
  void on_epoch(LpId chip, const EpochBody& body);
  void keep_degrees(LpId chip, const EpochBody& body);
  bool are_of_machine(const DegreeCounts& d) const;
  bool are_of_machine(const LlcProfile& p) const;
  void decide(Cycle end);
  void take_down(std::vector<Decision>&& decisions, Cycle now);
  void take_up(const std::vector<Modes>& modes);
  void send_modes(ControlKind kind);
  void expect_epochs(Cycle begin);
  void on_paused();
  void take_step(const ModeStep& step);
  void on_flushed();
  template <class Body> void tell(LpId chip, Cycle arrival, ControlKind kind, const Body& body) {
    const auto number = static_cast<std::uint32_t>(kind);
    for (const Edge& e : edges()) {
      if (e.to == chip)
        outbox().control.push_back({chip, {std::max(arrival, queue_.now() + e.latency), id(), number, pack(body)}});
    }
  }

  const SystemConfig& config_;
  const std::vector<KernelInfo> kernels_;
  const Machine& machine_;
  LoadedPolicy policy_;
  KernelSampler* const sampler_;
  Workload* const workload_;  ///< of a sampled run
  const ModeRules rules_;
  const KernelEndRule end_rule_;
  EventQueue<Event> queue_;
  ParkedMessages parked_;
  Digest digest_;
  Cycle limit_;  ///< --max-cycles or kCycleLimit, until it is reached
  FirstTouch first_touch_;
  Cycle settle_at_ = kNever;
  std::size_t kernel_ = 0;
  std::uint32_t chips_done_ = 0, chips_drained_ = 0, reports_ = 0;
  Cycle kernel_end_ = 0;
  std::vector<Counters> kernel_counts_;  ///< [chip] of the kernel that is ending
  bool running_ = false, finishing_ = false;
  // Modes, epochs and changes of organisation.
  std::vector<Modes> modes_;  ///< [chip] sent last
  std::vector<ChipEpoch> epoch_;
  std::vector<DegreeCounts> degrees_;  ///< [chip] told since the last decision
  std::uint32_t modes_sent_ = 0;       ///< number of modes sent so far
  std::uint32_t restarted_ = 0;        ///< of these that began the profile of degrees anew last
  std::uint32_t epoch_reports_ = 0, chips_paused_ = 0, chips_flushed_ = 0;
  Cycle epoch_begin_ = 0;
  bool changing_ = false;     ///< chips are paused, or about to be; modes_ are those to come
  ModeStep step_;             ///< of the change, or before a kernel, that chips are at
  Cycle launching_ = kNever;  ///< earliest start of the kernel for which chips make that step
  // Samples in progress: a period is complete when every chip has sent it.
  std::map<Cycle, std::pair<std::uint32_t, Sample>> open_samples_;
  Cycle longest_wire_ = 0;                   ///< what a packet between chips may take before a sample knows that it has come
  std::uint64_t periods_ = 1, in_last_ = 0;  ///< periods of chips in a sample that is kept, and in the last of them
  Cycle last_move_ = 0;
  Cycle patient_until_ = 0;       ///< a chip waits for a cycle that comes of itself; 0: none was found to do so since
  Cycle asked_at_move_ = kNever;  ///< last_move_ when the chips were asked for their status
  std::map<LpId, std::string> status_;
  Cycle next_of_chips_ = kNever;  ///< the earliest of these answers
  std::uint64_t ctas_done_ = 0, ctas_total_ = 0, requests_ = 0;
  std::function<void(const ProgressState&)> progress_;
  std::function<void(const LiveSample&)> live_;
  std::vector<ChipLook> looks_;  ///< [chip] the latest; shown, and neither simulated nor saved
  RunResult result_;
  std::vector<std::vector<WaitCensus>> census_;
  std::vector<std::vector<Counters>> all_kernel_counts_;
  std::vector<StructureLog> structures_;
  // Of sampled runs, which leave no checkpoints: nothing of it changes in others.
  std::optional<LlcWarming> warming_;             ///< of a sampled run
  StaticPlacement placement_;                     ///< for it
  std::size_t skipped_ = 0;                       ///< first kernel that was not simulated whole since the last one began
  std::vector<std::vector<std::uint64_t>> warm_;  ///< [chip] lines for the next launch
  std::optional<RateWatch> rate_;                 ///< of a sampled run whose launches may end early
  /// [chip] what belongs to the launch simulated before, though it came after the chip's part of that had ended.
  std::vector<Counters> late_counts_;
  std::uint64_t ctas_skipped_ = 0;  ///< of launches so far
  Cycle modes_since_ = 0;           ///< all chips have obeyed modes_ since then
  bool curtailed_ = false;          ///< the kernel starts no further CTAs
};

}  // namespace atl
