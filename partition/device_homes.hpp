#pragma once
#include <array>
#include <cstdint>

#include "core/engine/types.hpp"
#include "inputs/config/system_config.hpp"
#include "inputs/workload/workload.hpp"
#include "partition/page_placement.hpp"

namespace atl {

/// Homes of the memory that a program of several devices allocated: the chip of its device, whatever partition.placement
/// says of other pages.
class DeviceHomes {
 public:
  DeviceHomes() = default;  ///< the program knew one device: none
  /// `config`: of for_devices().
  DeviceHomes(const SystemConfig& config, const DeviceMemories& memories);

  bool empty() const { return count_ == 0; }
  /// Of a page of no device's memory: kUnknownHome.
  std::uint8_t home(PageAddr page) const {
    const std::uint64_t device = (page.value - first_page_) >> shift_;
    return device < count_ ? chips_[device] : kUnknownHome;
  }
  /// The chip that runs what the device launches.
  std::uint8_t chip(std::uint32_t device) const { return chips_[device]; }

 private:
  std::uint64_t first_page_ = 0;
  std::uint32_t count_ = 0, shift_ = 0;  ///< devices; logarithm of the pages of each
  std::array<std::uint8_t, 64> chips_{};
};

/// The system as it runs a workload of several devices: `workload.device_chips` names a chip for each, and managed and host
/// memory is where it is touched first. Throws InputError where devices and chips do not go together. `where`: the workload.
SystemConfig for_devices(SystemConfig config, const DeviceMemories& memories, const std::string& where);

}  // namespace atl
