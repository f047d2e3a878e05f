#include "core/control/controller.hpp"

#include <algorithm>

// Epochs, decisions and changes of mode. What a policy decides takes effect at once where it can (way quotas, profilers);
// a change of organisation goes through the steps of chip_modes.cpp, for all chips together.
namespace atl {
namespace {

/// A degree changes at once where copies are of read-only lines: those that nobody reaches are replaced in time. Copies of
/// written lines would grow stale meanwhile, and be read when a later change leads back to them.
bool leaves_stale_copies(const std::vector<Modes>& from, const std::vector<Modes>& to) {
  const auto level = [](const Modes& m) { return m.replication.level; };
  return from[0].replication.all_lines && !std::ranges::equal(from, to, {}, level, level);
}

}  // namespace

/// A chip forgets what it has told: what comes between two kernels, or as a change of organisation begins, counts in the
/// next epoch (SelRep section III-C: epochs are of the execution).
void Controller::keep_degrees(LpId chip, const EpochBody& body) {
  require_course(are_of_machine(body.degrees));
  if (body.modes >= restarted_) degrees_[chip] += body.degrees;
}

bool Controller::are_of_machine(const DegreeCounts& d) const {
  const std::size_t levels = d.sampled.size();
  return d.hits.size() == levels && d.routed.size() == levels * machine_.replicas.slices() &&
         (levels == 0 || levels == machine_.replicas.levels());
}

void Controller::on_epoch(LpId chip, const EpochBody& body) {
  keep_degrees(chip, body);
  if (!running_ || finishing_ || changing_ || body.modes != modes_sent_) return;
  epoch_.resize(config_.chips);
  ChipEpoch& e = epoch_[chip];
  copy_counters(body.counters, e.count);
  require_course(are_of_machine(body.profile));
  e.profile = body.profile;
  if (++epoch_reports_ < config_.chips) return;
  epoch_reports_ = 0;
  decide(body.end);
}

bool Controller::are_of_machine(const LlcProfile& p) const {
  const std::size_t slices = p.at_home.size();
  return (slices == 0 || slices == config_.llc.slices) && p.at_requester.size() == config_.chips * slices;
}

namespace {

/// Requests as SM-side caching routes them: each home has counted them for all chips that ask it.
void route_to_requesters(std::vector<ChipEpoch>& chips) {
  std::vector<std::vector<std::uint64_t>> sum(chips.size());
  for (const ChipEpoch& home : chips) {
    const std::size_t slices = home.profile.at_home.size();
    for (std::size_t i = 0; i < home.profile.at_requester.size(); ++i) {
      sum[i / slices].resize(slices);
      sum[i / slices][i % slices] += home.profile.at_requester[i];
    }
  }
  for (std::size_t i = 0; i < chips.size(); ++i) chips[i].profile.at_requester = std::move(sum[i]);
}

}  // namespace

void Controller::decide(Cycle end) {
  if (chips_drained_ == config_.chips) return;  // the kernel is over, and no chip would obey
  const Cycle begin = std::exchange(epoch_begin_, end);
  for (LpId chip = 0; chip < config_.chips; ++chip) epoch_[chip].degrees = std::exchange(degrees_[chip], {});
  route_to_requesters(epoch_);
  auto verdict = policy_->at_epoch_end({kernel_, end, end - begin, epoch_});
  epoch_.clear();
  if (!verdict) return;
  take_down(std::move(verdict->decisions), end);
  take_up(rules_.accept(std::move(verdict->modes), modes_, kernel_));
}

/// Into the result, where values are columns under their names.
void Controller::take_down(std::vector<Decision>&& decisions, Cycle now) {
  for (Decision& d : decisions) {
    rules_.check(d, kernel_, d.kernel <= kernel_ ? result_.kernels[d.kernel].launched : 0, now);
    result_.decisions.push_back(std::move(d));
  }
}

void Controller::take_up(const std::vector<Modes>& modes) {
  if (modes == modes_) return;
  // The organisation is one for all chips.
  step_ = {modes_[0].llc, modes[0].llc, modes_[0].replication.all_lines, modes[0].replication.all_lines};
  changing_ = step_.from != step_.to || step_.from_all_lines != step_.to_all_lines || leaves_stale_copies(modes_, modes);
  modes_ = modes;
  if (changing_) {
    chips_paused_ = 0;
    for (LpId chip = 0; chip < config_.chips; ++chip) tell(chip, 0, ControlKind::pause, EmptyBody{});
  } else {
    send_modes(ControlKind::adjust);
  }
}

/// To all chips, even to those that nothing changes for: their epochs begin together.
void Controller::send_modes(ControlKind kind) {
  for (LpId chip = 0; chip < config_.chips; ++chip) tell(chip, 0, kind, ModesBody{modes_[chip]});
  expect_epochs(queue_.now() + config_.control.latency_cycles);
}

void Controller::expect_epochs(Cycle begin) {
  ++modes_sent_;
  if (modes_[0].replication.restart) restarted_ = modes_sent_, degrees_.assign(config_.chips, {});
  epoch_reports_ = 0;
  epoch_begin_ = begin;
  if (rate_) modes_since_ = begin, rate_->restart();
}

void Controller::on_paused() {
  if (++chips_paused_ < config_.chips || finishing_) return;
  take_step(next_step(machine_, step_));
}

void Controller::take_step(const ModeStep& step) {
  step_ = step;
  chips_flushed_ = 0;
  for (LpId chip = 0; chip < config_.chips; ++chip) tell(chip, 0, ControlKind::flush_for_change, ModeStepBody{step});
}

void Controller::on_flushed() {
  if (++chips_flushed_ < config_.chips || finishing_) return;
  if (launching_ != kNever) return launch(std::exchange(launching_, kNever));
  const ModeStep left{step_.to, modes_[0].llc, step_.to_all_lines, modes_[0].replication.all_lines};
  if (left.from != left.to || left.from_all_lines != left.to_all_lines) return take_step(next_step(machine_, left));
  send_modes(ControlKind::resume);
  // From here on the chips say anew that their part of the kernel has ended.
  changing_ = false;
  chips_done_ = chips_drained_ = 0;
}

}  // namespace atl
