#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>

#include "core/control/controller.hpp"

namespace atl {

void Controller::save(SaveArchive& a) {
  serialize(a, 0);
  state(a, policy_.digest);
  policy_->save(a);
}

/// What the code relies on without asking; a chip's is in core/chip/state_check.cpp.
void Controller::check_state_at(Cycle boundary) const {
  const std::size_t chips = config_.chips;
  const auto of_chips = [&](std::size_t size) { require_state(size == chips); };
  require_state(queue_.now() <= boundary && queue_.next() >= boundary);
  require_state(kernels_.empty() ? kernel_ == 0 : kernel_ < kernels_.size());
  std::vector<bool> parked = parked_.taken();
  queue_.for_each([&](Cycle, const Event& e) {
    require_state(e.kind <= EventKind::limit);
    if (e.kind != EventKind::message) return;
    require_state(e.index < parked.size() && parked[e.index] && parked_.source(e.index) < chips);
    parked[e.index] = false;
  });
  require_state(chips_done_ <= chips && chips_drained_ <= chips && reports_ <= chips && epoch_reports_ <= chips &&
                chips_paused_ <= chips && chips_flushed_ <= chips);
  of_chips(kernel_counts_.size()), of_chips(result_.chips.size()), of_chips(census_.size()), of_chips(structures_.size());
  require_state(modes_.empty() ? !running_ && launching_ == kNever : modes_.size() == chips);
  require_state(epoch_.size() == chips || (epoch_.empty() && epoch_reports_ == 0));
  for (const ChipEpoch& e : epoch_) require_state(are_of_machine(e.profile));
  of_chips(degrees_.size());
  for (const DegreeCounts& d : degrees_) require_state(are_of_machine(d));
  require_state(step_.from <= LlcRole::split && step_.to <= LlcRole::split);
  for (const Modes& m : modes_) require_state(m.llc <= LlcRole::split);
  for (const auto& [end, open] : open_samples_)
    require_state(end <= boundary && open.first != 0 && open.first < chips && open.second.chips.size() == chips);
  for (const auto& [chip, text] : status_) require_state(chip < chips);
  require_state(result_.kernels.size() == kernels_.size() && all_kernel_counts_.size() <= kernels_.size());
  for (std::size_t k = 0; k < kernels_.size(); ++k)
    require_state(result_.kernels[k].name == kernels_[k].name && result_.kernels[k].ctas == kernels_[k].ctas());
  for (const auto& counts : all_kernel_counts_) of_chips(counts.size());
  for (const Sample& s : result_.samples) of_chips(s.chips.size());
  for (const auto& kernels : census_)
    for (const WaitCensus& w : kernels) of_chips(w.packets.size()), require_state(kernels.size() <= kernels_.size());
  first_touch_.homes().for_each([&](PageAddr, std::uint8_t home) { require_state(home < chips); });
  for (const FirstTouch::Touch& t : first_touch_.pending()) require_state(t.chip < chips);
  require_state(periods_ != 0 && (in_last_ == 0 || !result_.samples.empty()));
  require_state(last_move_ <= boundary + config_.control.launch_latency_cycles + config_.control.latency_cycles);
  require_state(asked_at_move_ == kNever || asked_at_move_ <= last_move_);
  require_state(patient_until_ < 2 * kCycleLimit);
}

void Controller::load(LoadArchive& a, Cycle boundary) {
  serialize(a, 0);
  std::string digest;
  state(a, digest);
  if (digest != policy_.digest) throw InputError(config_.llc.policy, "has changed since the run began");
  policy_->load(a);
  check_state_at(boundary);
}

}  // namespace atl
