#include "core/chip/profile/structure_counter.hpp"

#include <algorithm>

namespace atl {

StructureCounter::StructureCounter(const std::vector<DataStructure>& structures, std::uint32_t line_bytes,
                                   std::uint32_t chips, std::uint8_t chip)
    : chips_(chips), chip_(chip) {
  if (structures.empty()) return;
  std::uint64_t end = 0;  // a line that two structures share counts for the first
  for (const DataStructure& s : structures) {
    const std::uint64_t begin = std::max(end, s.address / line_bytes), last = (s.address + (s.bytes - 1)) / line_bytes;
    end = std::max(end, s.bytes == 0 ? begin : last + 1);
    ranges_.push_back({begin, end - begin});
  }
  notes_.resize(kNotes);
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

void StructureCounter::count_notes() {
  for (std::size_t i = 0; i < noted_; ++i) {
    const Note& n = notes_[i];
    const std::uint32_t s = find(n.line);
    UseCounts& count = count_[s];
    ++count[static_cast<std::size_t>(n.use)];
    if (n.use <= Use::atomics) {
      count[static_cast<std::size_t>(Use::remote)] += n.home != chip_;
      ++log_.homes[s * chips_ + n.home];
    } else {
      count[static_cast<std::size_t>(Use::latency_cycles)] += n.latency;
    }
  }
  noted_ = 0;
}

void StructureCounter::close() {
  count_notes();
  for (std::size_t s = 0; s < count_.size(); ++s) {
    if (std::ranges::all_of(count_[s], [](std::uint64_t n) { return n == 0; })) continue;
    log_.use.push_back({kernel_, s, count_[s]});
    count_[s].fill(0);
  }
}

}  // namespace atl
