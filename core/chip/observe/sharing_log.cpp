#include "core/chip/observe/sharing_log.hpp"

#include <algorithm>

#include "core/chip/observe/line_log.hpp"

namespace atl {

void SharingLog::begin_window(Cycle now) {
  if (now / epoch_cycles_ != epoch_) {
    close();
    epoch_ = now / epoch_cycles_;
  }
  window_ = 0;
  while (now % epoch_cycles_ >= sharing_window(epoch_cycles_, window_)) ++window_;
  window_end_ = epoch_ * epoch_cycles_ + sharing_window(epoch_cycles_, window_);
}

void SharingLog::close() {
  if (fresh_.empty()) return;
  std::sort(fresh_.begin(), fresh_.end());
  LineLogWriter log;
  for (const std::uint64_t f : fresh_) {
    log.add({f >> 3}, f & 7);
    all_.insert({f >> 3});  // here and not at each access: an epoch has far fewer lines than requests
  }
  epochs_.resize(epoch_ + 1);
  epochs_.back() = log.take();
  seen_.clear();
  fresh_.clear();
}

std::string SharingLog::footprint() const {
  LineLogWriter log;
  all_.for_each([&](LineAddr line) { log.add(line, 0); });
  return log.take();
}

}  // namespace atl
