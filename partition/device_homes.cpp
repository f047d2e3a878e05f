#include "partition/device_homes.hpp"

#include <fmt/format.h>

#include <bit>
#include <numeric>

#include "core/engine/error.hpp"

namespace atl {

DeviceHomes::DeviceHomes(const SystemConfig& config, const DeviceMemories& memories)
    : first_page_(memories.base / config.partition.page_bytes()), count_(memories.count) {
  if (count_ == 0) return;
  shift_ = static_cast<std::uint32_t>(std::countr_zero(memories.bytes / config.partition.page_bytes()));
  for (std::uint32_t d = 0; d < count_; ++d) chips_[d] = static_cast<std::uint8_t>(config.workload.device_chips.at(d));
}

SystemConfig for_devices(SystemConfig config, const DeviceMemories& memories, const std::string& where) {
  constexpr char kKey[] = "workload.device_chips";
  std::vector<std::uint32_t>& chips = config.workload.device_chips;
  if (memories.count == 0) {
    if (!chips.empty())
      throw InputError(
          kKey, fmt::format("is for programs of several devices, and {} is of one, which stands for all chips", where));
    return config;
  }
  if (config.partition.compute_chips != 0 || config.partition.memory_chips != 0)
    throw InputError(where,
                     "is of several devices, each with memory; this system's SMs and memory are on different chips "
                     "(`partition.compute_chips`, `memory_chips`): take a system without");
  if (memories.count > config.chips)
    throw InputError(where, fmt::format("is of {} devices, but the system has {} chip{}; give it more, or record with fewer "
                                        "devices",
                                        memories.count, config.chips, config.chips == 1 ? "" : "s"));
  if (chips.empty()) {
    chips.resize(memories.count);
    std::iota(chips.begin(), chips.end(), 0u);
  }
  if (chips.size() != memories.count)
    throw InputError(kKey, fmt::format("names {} chips, but {} is of {} devices", chips.size(), where, memories.count));
  std::uint64_t taken = 0;
  for (const std::uint32_t chip : chips) {
    if (chip >= config.chips)
      throw InputError(kKey, fmt::format("names chip {}, but the system has {}, counted from 0", chip, config.chips));
    if ((taken >> chip & 1) != 0) throw InputError(kKey, fmt::format("names chip {} twice", chip));
    taken |= std::uint64_t{1} << chip;
  }
  config.partition.placement = Placement::first_touch;
  return config;
}

}  // namespace atl
