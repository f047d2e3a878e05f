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
  kernel_ctas_ = kernel_ops_ = 0, next_ = options_.first_cta;
  complete_ = false;
  live_.clear(), early_.clear();
  ++counts_.kernels;
  output_.begin_kernel(info_);
}

bool Recorder::wants(std::uint64_t cta) {
  return cta >= options_.first_cta && cta - options_.first_cta < total_ && !complete_;
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
  lock.unlock();  // nobody else asks for this CTA
  begun.recorder.begin(table_, memo_, info_.warps());
  return begun;
}

void Recorder::events(std::uint64_t cta, std::uint32_t warp, std::span<const WarpEvent> events,
                      std::span<const std::uint64_t> addresses) {
  live(cta).recorder.events(warp, events, addresses);
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
