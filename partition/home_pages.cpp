#include "partition/home_pages.hpp"

#include <bit>

#include "core/engine/error.hpp"

namespace atl {

HomePages::HomePages(const SystemConfig& c, std::uint8_t home)
    : lines_(c),
      frames_(home_of_address(c.partition.placement) == HomeOfAddress::unknown && c.chips > 1),
      home_(home),
      page_shift_(static_cast<std::uint8_t>(std::countr_zero(c.partition.page_bytes() / c.line_bytes))),
      slots_(frames_ ? 1024 : 0) {}

std::size_t HomePages::slot_of(std::uint64_t page) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t i = ((page + 1) * 0x9E3779B97F4A7C15ull >> 32) & mask;
  while (slots_[i] != 0 && page_[slots_[i] - 1] != page) i = (i + 1) & mask;
  return i;
}

std::uint32_t HomePages::frame(std::uint64_t page) {
  std::size_t i = slot_of(page);
  if (slots_[i] == 0) {
    if (page_.size() == kFrames)
      throw SimulationError("one chip is the home of more than 2^24 pages: take larger pages (`partition.page_kib`)");
    if (2 * (page_.size() + 1) > slots_.size()) grow(), i = slot_of(page);
    page_.push_back(page);
    slots_[i] = static_cast<std::uint32_t>(page_.size());
  }
  return slots_[i] - 1;
}

bool HomePages::find(LineAddr line, LineAddr& local) const {
  if (!frames_) {
    local = {lines_.local(line)};
    return true;
  }
  const std::uint32_t slot = slots_[slot_of(line.value >> page_shift_)];
  if (slot == 0) return false;
  local = {std::uint64_t{slot - 1} << page_shift_ | in_page(line)};
  return true;
}

void HomePages::grow() {
  slots_.assign(slots_.size() * 2, 0);
  for (std::uint32_t frame = 0; frame < page_.size(); ++frame) slots_[slot_of(page_[frame])] = frame + 1;
}

}  // namespace atl
