#include "partition/device_homes.hpp"

#include <doctest/doctest.h>

#include "core/engine/error.hpp"

using namespace atl;

namespace {

constexpr std::uint64_t kBase = 1ull << 45, kBytes = 1ull << 38;

SystemConfig system_of(std::uint32_t chips, std::vector<std::uint32_t> device_chips = {}) {
  SystemConfig config;
  config.chips = chips;
  config.workload.device_chips = std::move(device_chips);
  return config;
}

PageAddr page(std::uint64_t byte) { return {byte / 4096}; }

}  // namespace

TEST_CASE("pages of a device are at its chip, and those of no device have no home yet") {
  const DeviceMemories memories{2, kBase, kBytes};
  const SystemConfig config = for_devices(system_of(4, {3, 1}), memories, "T.h5");
  const DeviceHomes homes(config, memories);
  CHECK(homes.home(page(kBase)) == 3);
  CHECK(homes.home(page(kBase + kBytes - 1)) == 3);
  CHECK(homes.home(page(kBase + kBytes)) == 1);
  CHECK(homes.home(page(kBase + 2 * kBytes)) == kUnknownHome);
  CHECK(homes.home(page(kBase - 1)) == kUnknownHome);
  CHECK(homes.chip(1) == 1);
}

TEST_CASE("device i is chip i by default, and pages of no device are where they are touched first") {
  SystemConfig config = system_of(4);
  config.partition.placement = Placement::interleaved;
  config = for_devices(config, {3, kBase, kBytes}, "T.h5");
  CHECK(config.workload.device_chips == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(config.partition.placement == Placement::first_touch);
}

TEST_CASE("a workload of one device changes nothing and takes no chips of devices") {
  SystemConfig config = system_of(4);
  config.partition.placement = Placement::interleaved;
  CHECK(for_devices(config, {}, "T.h5").partition.placement == Placement::interleaved);
  CHECK(DeviceHomes(config, {}).empty());
  CHECK_THROWS_WITH_AS(for_devices(system_of(4, {1}), {}, "T.h5"), doctest::Contains("T.h5 is of one"), InputError);
}

TEST_CASE("devices and chips that do not go together are refused") {
  const auto refused = [](const SystemConfig& config, std::uint32_t devices, const char* why) {
    CHECK_THROWS_WITH_AS(for_devices(config, {devices, kBase, kBytes}, "T.h5"), doctest::Contains(why), InputError);
  };
  refused(system_of(2), 3, "T.h5: is of 3 devices, but the system has 2 chips");
  refused(system_of(4, {0, 1}), 3, "names 2 chips, but T.h5 is of 3 devices");
  refused(system_of(4, {0, 4}), 2, "names chip 4, but the system has 4");
  refused(system_of(4, {2, 2}), 2, "names chip 2 twice");
}
