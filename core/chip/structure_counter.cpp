#include "core/chip/structure_counter.hpp"

#include <algorithm>

namespace atl {

StructureCounter::StructureCounter(const std::vector<DataStructure>& structures, std::uint32_t line_bytes,
                                   std::uint32_t chips)
    : chips_(chips) {
  if (structures.empty()) return;
  std::uint64_t end = 0;  // a line that two structures share counts for the first
  for (const DataStructure& s : structures) {
    const std::uint64_t begin = std::max(end, s.address / line_bytes), last = (s.address + (s.bytes - 1)) / line_bytes;
    end = std::max(end, s.bytes == 0 ? begin : last + 1);
    ranges_.push_back({begin, end - begin});
  }
  count_.resize(ranges_.size() + 1);
  log_.homes.resize(count_.size() * chips);
  first_ = ranges_[0].begin;
  while ((end - first_) >> shift_ >= kBuckets) ++shift_;
  buckets_ = ((end - first_) >> shift_) + 1;
  std::uint32_t at = 0;
  for (std::uint64_t bucket = 0; bucket <= buckets_; ++bucket) {
    while (at + 1 < ranges_.size() && ranges_[at + 1].begin <= first_ + (bucket << shift_)) ++at;
    begin_at_.push_back(at);
  }
}

void StructureCounter::close() {
  for (std::size_t s = 0; s < count_.size(); ++s) {
    if (std::ranges::all_of(count_[s], [](std::uint64_t n) { return n == 0; })) continue;
    log_.use.push_back({kernel_, s, count_[s]});
    count_[s].fill(0);
  }
}

}  // namespace atl
