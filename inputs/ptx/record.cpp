#include "inputs/ptx/record.hpp"

#include <algorithm>

#include "inputs/ptx/register_pressure.hpp"

namespace atl::ptx {

Recorder::Recorder(RecordOutput& output, RecordOptions options) : output_(output), options_(options) {
  options_.max_ctas = std::max<std::uint64_t>(options_.max_ctas, 1);
}
Recorder::~Recorder() = default;

void Recorder::begin_kernel(const LaunchSpec& spec, const exec::Image& image, const Device&) {
  table_ = make_record_table(image, spec.textures_hold);
  WarpTimeline fresh;
  fresh.begin(table_.register_count);
  memo_.reset(fresh.state());
  if (!spec.read_only_marks) {
    for (RecordInfo& i : table_.infos) i.flags &= static_cast<std::uint8_t>(~kReadOnly);
  }
  info_ = {};
  info_.name = spec.module->functions[spec.kernel].name;
  std::copy(spec.grid.begin(), spec.grid.end(), info_.grid);
  std::copy(spec.block.begin(), spec.block.end(), info_.block);
  info_.shared_bytes = shared_bytes(spec);
  info_.registers_per_thread = registers_at_launch(image.registers, info_.threads());
  total_ = std::min(info_.ctas() - std::min(info_.ctas(), options_.first_cta), options_.max_ctas);
  kernel_ctas_ = 0, kernel_ops_ = 0, next_ = options_.first_cta;
  complete_ = false, last_ = ~std::uint64_t{0}, since_look_ = 0;
  live_.clear(), early_.clear();
  ++counts_.kernels;
  output_.begin_kernel(info_);
}

bool Recorder::wants(std::uint64_t cta) {
  return cta >= options_.first_cta && cta - options_.first_cta < total_ && !complete_ && cta <= last_;
}

Recorder::Kept& Recorder::live(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  std::unique_ptr<Kept>& cta = live_[number];
  if (cta != nullptr) return *cta;
  if (spare_.empty()) {
    cta = std::make_unique<Kept>();
  } else {
    cta = std::move(spare_.back());
    spare_.pop_back();
  }
  Kept& begun = *cta;
  begun.ops = 0;
  lock.unlock();  // nobody else asks for this CTA, but look_for_last() sees its ops
  begun.recorder.begin(table_, memo_, info_.warps());
  return begun;
}

void Recorder::events(std::uint64_t cta, std::uint32_t warp, std::span<const WarpEvent> events,
                      std::span<const std::uint64_t> addresses) {
  if (cta > last_) return forget(cta);
  Kept& kept = live(cta);
  kept.recorder.events(warp, events, addresses);
  if (options_.max_ops == 0) return;
  const std::uint64_t ops = kept.recorder.ops_so_far();
  look_for_last(ops - kept.ops.exchange(ops));
}

/// CTAs that take turns are all on their way when the first of them have the ops of the sample; what the others have done
/// would take memory for nothing.
void Recorder::look_for_last(std::uint64_t new_ops) {
  constexpr std::uint64_t kBetweenLooks = 16384;
  if ((since_look_ += new_ops) < kBetweenLooks) return;
  since_look_ = 0;
  const std::lock_guard lock(mutex_);
  std::uint64_t sum = kernel_ops_;
  auto live = live_.begin(), early = early_.begin();
  while (live != live_.end() || early != early_.end()) {
    const bool ended = live == live_.end() || (early != early_.end() && early->first < live->first);
    const auto& [number, kept] = *(ended ? early++ : live++);
    sum += kept->ops;
    if (sum < options_.max_ops) continue;
    last_ = number;
    early_.erase(early_.upper_bound(number), early_.end());
    return;
  }
}

/// For who executes it: nobody else touches it.
void Recorder::forget(std::uint64_t cta) {
  std::unique_lock lock(mutex_);
  const auto unneeded = live_.extract(cta);
  lock.unlock();
}

void Recorder::deliver(const Kept& cta) {
  ++next_;
  if (complete_) return;  // executed at the same time as the last one of the sample
  const std::uint64_t ops = cta.recorder.ops();
  ++kernel_ctas_, kernel_ops_ += ops;
  complete_ = kernel_ctas_ == total_ || (options_.max_ops != 0 && kernel_ops_ >= options_.max_ops);
  counts_.ctas += 1, counts_.ops += ops, counts_.accesses += cta.recorder.accesses();
  counts_.warp_instructions += cta.recorder.warp_instructions();
  output_.add_cta(cta.recorder.program(), cta.columns);
}

/// The CTA that is to be written next, if it has ended.
std::unique_ptr<Recorder::Kept> Recorder::take_next() {
  const std::lock_guard lock(mutex_);
  if (early_.empty() || early_.begin()->first != next_) return nullptr;
  return std::move(early_.extract(early_.begin()).mapped());
}

void Recorder::end_cta(std::uint64_t number) {
  if (number > last_) return forget(number);
  Kept& ended = live(number);
  if (!output_.encode(ended.recorder.finish(), ended.columns)) ended.recorder.make_program();
  {
    const std::lock_guard lock(mutex_);
    early_.insert(live_.extract(number));
  }
  {
    const std::lock_guard output_lock(output_mutex_);
    while (std::unique_ptr<Kept> cta = take_next()) {
      deliver(*cta);
      const std::lock_guard lock(mutex_);
      spare_.push_back(std::move(cta));
    }
  }
  output_.help();
}

void Recorder::end_kernel() { output_.end_kernel(kernel_ctas_); }

}  // namespace atl::ptx
