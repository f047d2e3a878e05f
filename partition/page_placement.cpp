#include "partition/page_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include "core/engine/error.hpp"

namespace atl {
namespace {

std::string describe(const FirstTouch::Touch& t) {
  return "first touch of page " + std::to_string(t.page.value) + " by chip " + std::to_string(t.chip) + " at cycle " +
         std::to_string(t.cycle);
}

}  // namespace

StaticPlacement::StaticPlacement(const SystemConfig& config)
    : kind_(config.partition.placement),
      first_(static_cast<std::uint8_t>(config.first_memory_chip())),
      chips_(config.memory_chips()) {
  const PartitionConfig& p = config.partition;
  switch (kind_) {
    case Placement::first_touch:  // home() does not know
      return;
    case Placement::fixed:
      if (p.fixed_chip >= config.chips)
        throw InputError("partition.fixed_chip", std::to_string(p.fixed_chip) + ", but there are only " +
                                                     std::to_string(config.chips) + " chips, counted from 0");
      fixed_ = static_cast<std::uint8_t>(p.fixed_chip);
      return;
    case Placement::interleaved:
      if (p.interleave_kib == 0 || std::fmod(p.interleave_kib, p.page_kib) != 0)
        throw InputError("partition.interleave_kib",
                         fmt::format("{} is not a multiple of page_kib = {}", p.interleave_kib, p.page_kib));
      chunk_ = FastDiv(p.chunk_pages());
  }
}

void PageHomeCache::insert(PageAddr page, std::uint8_t home) {
  std::size_t i = slot_of(page);
  if (slots_[i] == 0) {
    if (2 * (blocks() + 1) > slots_.size()) grow(), i = slot_of(page);
    if (blocks() >> kPlaceBits != 0)
      throw SimulationError("the run uses more than 2^21 blocks of 4096 pages: take larger pages");
    slots_[i] = key(page) << kPlaceBits | blocks();
    homes_.resize(homes_.size() + kPages, kUnknownHome);
  }
  std::uint8_t& known = homes_[place(slots_[i], page)];
  if (known == home) return;
  if (known != kUnknownHome)
    throw SimulationError("page " + std::to_string(page.value) + " is bound to chip " + std::to_string(known) +
                          " and cannot move to chip " + std::to_string(home));
  known = home;
  ++size_;
}

void PageHomeCache::grow() {
  std::vector<std::uint64_t> old(2 * slots_.size());
  old.swap(slots_);
  --shift_;
  for (const std::uint64_t slot : old)
    if (slot != 0) slots_[slot_of({((slot >> kPlaceBits) - 1) << kPageBits})] = slot;
}

void PageHomeCache::check_state() const {
  require_state(slots_.size() >= kInitial && std::has_single_bit(slots_.size()) && homes_.size() % kPages == 0 &&
                2 * blocks() <= slots_.size() && shift_ == 64 - static_cast<unsigned>(std::countr_zero(slots_.size())));
  std::vector<std::uint64_t> places;
  for (const std::uint64_t slot : slots_)
    if (slot != 0) places.push_back(slot & ((std::uint64_t{1} << kPlaceBits) - 1));
  require_places(places, blocks());
  const auto known = [](std::uint8_t home) { return home != kUnknownHome; };
  require_state(places.size() == blocks() &&
                size_ == static_cast<std::size_t>(std::count_if(homes_.begin(), homes_.end(), known)));
}

FirstTouch::FirstTouch(const SystemConfig& config) {
  for (std::uint32_t chip = 0; config.partition.memory_chips != 0 && chip < config.chips; ++chip)
    nearest_.push_back(static_cast<std::uint8_t>(config.nearest_memory(chip)));
}

void FirstTouch::add(const Touch& touch) {
  if (touch.cycle < settled_)
    throw SimulationError(describe(touch) + " arrived after cycles up to " + std::to_string(settled_) + " were settled");
  pending_.push_back(touch);
}

void FirstTouch::settle(Cycle end, std::vector<Answer>& answers) {
  if (end <= settled_) return;
  settled_ = end;
  const auto due = std::partition(pending_.begin(), pending_.end(), [&](const Touch& t) { return t.cycle >= end; });
  std::sort(due, pending_.end(), [](const Touch& a, const Touch& b) {
    return std::tie(a.cycle, a.chip, a.page) < std::tie(b.cycle, b.chip, b.page);
  });
  for (auto t = due; t != pending_.end(); ++t) {
    if (homes_.find(t->page) == kUnknownHome)
      homes_.insert(t->page, nearest_.empty() ? static_cast<std::uint8_t>(t->chip) : nearest_[t->chip]);
    answers.push_back({t->page, t->chip, homes_.find(t->page)});
  }
  pending_.erase(due, pending_.end());
}

}  // namespace atl
