#include <boost/archive/binary_iarchive.hpp>
#include <boost/archive/binary_oarchive.hpp>

#include "core/chip/chip.hpp"

// A chip in a checkpoint. Its gates are numbered, so that who waits for a credit can say of which.
namespace atl {

std::vector<Gate*> Chip::gates() {
  std::vector<Gate*> all;
  const auto number = [&](Gate& g) { all.push_back(&g); };
  requests_.for_each_gate(number), responses_.for_each_gate(number), links_.for_each_gate(number);
  for (LlcSlice& s : slices_) s.for_each_gate(number);
  for (DramChannel& d : channels_) d.for_each_gate(number);
  return all;
}

void Chip::save(SaveArchive& a) {
  if (parted()) join_halves();
  add_up_counters(), swap_profiles();
  serialize(a, 0);
  swap_profiles();
  std::map<const Gate*, std::uint32_t> number{{nullptr, 0}};
  for (const Gate* g : gates()) number.emplace(g, static_cast<std::uint32_t>(number.size()));
  for_each_wait([&](Gate*& g) { state(a, number.at(g)); });
}

void Chip::load(LoadArchive& a, Cycle boundary) {
  if (parted()) join_halves();
  serialize(a, 0);
  if (uncore_) uncore_->queue.set_now(c_.queue.now());
  std::vector<Gate*> numbered = gates();
  numbered.insert(numbered.begin(), nullptr);
  for_each_wait([&](Gate*& g) {
    std::uint32_t number = 0;
    state(a, number);
    if (number >= numbered.size()) refuse_checkpoint();
    g = numbered[number];
  });
  const auto& kernels = workload_->kernels();
  for (Sm& s : sms_) {
    std::uint32_t resident = 0;  // a program may be far larger than what names it
    s.reload([&](std::uint64_t cta, CtaProgram& program) {
      if (kernel_ >= kernels.size() || cta >= kernels[kernel_].ctas() || ++resident > c_.machine.config.sm.ctas)
        refuse_checkpoint();
      workload_->load_cta(kernel_, cta, program);
    });
  }
  check_state_at(boundary);
  swap_profiles(), tell_uncore();
  if (halves_ && ctas_) halves_->ahead.begin(kernel_, *ctas_, dispatched_);
}

}  // namespace atl
