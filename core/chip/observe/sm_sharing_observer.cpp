#include "core/chip/observe/sm_sharing_observer.hpp"

#include <algorithm>

namespace atl {
namespace {
constexpr unsigned kSmBits = 10;  // sm.count is at most 1024
}

void SmSharingObserver::on_kernel_start(const Context&, std::uint64_t kernel) {
  close();
  kernels_.resize(kernel + 1);
}

void SmSharingObserver::on_l1_load(const Context&, std::uint32_t sm, LineAddr line, std::uint8_t, L1Outcome outcome) {
  Line& l = touch(sm, line);
  ++l.loads;
  l.hits += outcome == L1Outcome::hit;
  l.merges += outcome == L1Outcome::merge;
}

void SmSharingObserver::on_request(const Context& c, const Packet& p) {
  if (p.kind != PacketKind::read) return;
  if (p.has(kDirect)) ++touch(p.sm, p.line).loads;  // passes the L1 by: no on_l1_load told of it
  if (!p.has(kReadOnlyData)) return;
  if (c.now() / window_cycles_ != window_) {
    close_window();
    window_ = c.now() / window_cycles_;
  }
  asked_.push_back(p.line.value << kSmBits | p.sm);
}

SmSharingObserver::Line& SmSharingObserver::touch(std::uint32_t sm, LineAddr line) {
  Line& l = slot(line.value + 1);
  if (l.key != 0) {
    l.shared |= l.first_sm != sm;
    return l;
  }
  if (++used_ * 2 > lines_.size()) {
    grow();
    --used_;
    return touch(sm, line);
  }
  l.key = line.value + 1, l.first_sm = sm;
  return l;
}

SmSharingObserver::Line& SmSharingObserver::slot(std::uint64_t key) {
  const std::size_t last = lines_.size() - 1;
  for (std::size_t i = (key * 0x9E3779B97F4A7C15ull >> 20) & last;; i = (i + 1) & last) {
    if (lines_[i].key == 0 || lines_[i].key == key) return lines_[i];
  }
}

void SmSharingObserver::grow() {
  std::vector<Line> old(lines_.size() * 2);
  old.swap(lines_);
  for (const Line& l : old) {
    if (l.key != 0) slot(l.key) = l;
  }
}

void SmSharingObserver::close_window() {
  if (kernels_.empty()) return;
  SmSharing& sum = kernels_.back();
  std::sort(asked_.begin(), asked_.end());
  asked_.erase(std::unique(asked_.begin(), asked_.end()), asked_.end());
  for (std::size_t i = 0, next = 0; i < asked_.size(); i = next) {
    while (next < asked_.size() && asked_[next] >> kSmBits == asked_[i] >> kSmBits) ++next;
    const std::size_t sms = next - i;
    ++sum.window_lines;
    sum.window_lines_2 += sms >= 2, sum.window_lines_3 += sms >= 3, sum.window_lines_10 += sms >= 10;
  }
  asked_.clear();
}

void SmSharingObserver::close() {
  close_window();
  if (used_ == 0) return;
  SmSharing& sum = kernels_.back();
  for (const Line& l : lines_) {
    if (l.key == 0) continue;
    ++sum.lines;
    if (!l.shared) continue;
    ++sum.shared_lines;
    sum.shared_read_only_lines += !l.written;
    sum.shared_loads += l.loads, sum.shared_l1_hits += l.hits, sum.shared_l1_merges += l.merges;
  }
  std::fill(lines_.begin(), lines_.end(), Line{});
  used_ = 0;
}

}  // namespace atl
