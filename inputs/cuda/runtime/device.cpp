#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>
#include <iterator>

#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {
namespace {

using cuda::DeviceModel;

constexpr int kTexture1D = 131072, kTexture2D[2] = {131072, 65536}, kTexture3D = 16384;
constexpr int kLayered = 32768, kLayers = 2048, kCubeLayers = 2046;  // of textures, surfaces and cube maps alike
constexpr std::size_t kDefaultLimits[8] = {1024, 1 << 20, 8 << 20, 0, 0, 64, 0, 0};
constexpr int kKnownLimits = 7;
constexpr int kLastAttribute = 147;  // of CUDA 13.0
constexpr unsigned kDeviceFlags = 0xff, kScheduleFlags = 7;

thread_local unsigned chosen_device = 0;

bool launches_clusters(const DeviceModel& d) { return d.arch >= 90; }

void fill(const DeviceModel& d, DeviceProperties& p, unsigned device) {
  p = {};
  std::snprintf(p.name, sizeof p.name, "%s", d.name.c_str());
  write_uuid(p.uuid, device);
  p.pci_bus = static_cast<int>(device);
  p.global_bytes = d.memory_bytes, p.shared_bytes_per_block = static_cast<std::size_t>(d.shared_per_block()),
  p.registers_per_block = d.registers_per_sm;
  p.warp_size = DeviceModel::kWarpSize, p.max_pitch = 2147483647, p.max_threads_per_block = DeviceModel::kMaxThreadsPerBlock;
  p.max_block[0] = p.max_block[1] = DeviceModel::kMaxBlockXY, p.max_block[2] = DeviceModel::kMaxBlockZ;
  p.max_grid[0] = DeviceModel::kMaxGridX, p.max_grid[1] = p.max_grid[2] = DeviceModel::kMaxGridYZ;
  p.constant_bytes = DeviceModel::kConstantBytes, p.major = d.major(), p.minor = d.minor();
  p.texture_alignment = kTextureAlignment, p.texture_pitch_alignment = kTexturePitchAlignment, p.surface_alignment = 512;
  p.multiprocessors = d.sms, p.can_map_host = 1;
  p.texture_1d = kTexture1D, p.texture_2d[0] = kTexture2D[0], p.texture_2d[1] = kTexture2D[1];
  p.texture_2d_linear[0] = kTexture2D[0], p.texture_2d_linear[1] = kTexture2D[1], p.texture_2d_linear[2] = 2097120;
  p.texture_3d[0] = p.texture_3d[1] = p.texture_3d[2] = kTexture3D;
  p.texture_1d_layered[0] = kLayered, p.texture_1d_layered[1] = kLayers;
  p.texture_2d_layered[0] = p.texture_2d_layered[1] = kLayered, p.texture_2d_layered[2] = kLayers;
  p.texture_cube = p.texture_cube_layered[0] = kLayered, p.texture_cube_layered[1] = kCubeLayers;
  p.surface_1d = kLayered, p.surface_2d[0] = kTexture2D[0], p.surface_2d[1] = kTexture2D[1];
  p.surface_3d[0] = p.surface_3d[1] = p.surface_3d[2] = kTexture3D;
  std::copy(std::begin(p.texture_1d_layered), std::end(p.texture_1d_layered), p.surface_1d_layered);
  std::copy(std::begin(p.texture_2d_layered), std::end(p.texture_2d_layered), p.surface_2d_layered);
  p.surface_cube = p.surface_cube_layered[0] = kLayered, p.surface_cube_layered[1] = kCubeLayers;
  p.concurrent_kernels = 1, p.async_engines = 1, p.unified_addressing = 1, p.bus_width_bits = DeviceModel::kBusWidthBits;
  p.l2_bytes = d.l2_bytes, p.max_threads_per_multiprocessor = d.threads_per_sm, p.stream_priorities = 1;
  p.global_l1 = p.local_l1 = 1, p.shared_bytes_per_multiprocessor = static_cast<std::size_t>(d.shared_per_sm);
  p.registers_per_multiprocessor = d.registers_per_sm, p.managed = 1, p.concurrent_managed = 1,
  p.registered_host_pointer = 1;
  p.cooperative_launch = 1, p.shared_bytes_per_block_optin = static_cast<std::size_t>(d.shared_per_block_optin());
  p.max_blocks_per_multiprocessor = d.blocks_per_sm, p.reserved_shared_bytes = static_cast<std::size_t>(d.reserved_shared);
  p.host_register = 1, p.memory_pools = 1, p.cluster_launch = launches_clusters(d) ? 1 : 0;
}

/// cudaDeviceAttr by its number; what is not here is a feature that this device lacks.
int attribute(const DeviceModel& d, int number, int device) {
  switch (number) {
    case 33:  // PCI bus
      return device;
    case 1:
      return DeviceModel::kMaxThreadsPerBlock;
    case 2:
    case 3:
      return DeviceModel::kMaxBlockXY;
    case 4:
      return DeviceModel::kMaxBlockZ;
    case 5:
      return DeviceModel::kMaxGridX;
    case 6:
    case 7:
      return DeviceModel::kMaxGridYZ;
    case 8:
      return d.shared_per_block();
    case 9:
      return DeviceModel::kConstantBytes;
    case 10:
      return DeviceModel::kWarpSize;
    case 11:
      return 2147483647;
    case 12:
    case 82:
      return d.registers_per_sm;
    case 13:
      return d.clock_khz;
    case 14:
    case 30:
      return 512;
    case 15:
    case 19:  // maps host memory
    case 31:  // concurrent kernels
    case 40:  // copy engines
    case 41:  // unified addressing
    case 78:
    case 79:
    case 80:
    case 83:  // managed memory
    case 89:
    case 91:
    case 95:  // cooperative launch
    case 99:
    case 102:  // virtual memory
    case 115:  // memory pools
      return 1;
    case 16:
      return d.sms;
    case 21:
    case 69:
      return kTexture1D;
    case 22:
    case 56:
    case 70:
      return kTexture2D[0];
    case 23:
    case 57:
    case 71:
      return kTexture2D[1];
    case 24:
    case 25:
    case 26:
    case 58:
    case 59:
    case 60:
      return kTexture3D;
    case 27:  // layered textures, cube maps and surfaces
    case 28:
    case 42:
    case 52:
    case 53:
    case 55:
    case 61:
    case 63:
    case 64:
    case 66:
    case 67:
      return kLayered;
    case 29:
    case 43:
    case 62:
    case 65:
      return kLayers;
    case 54:
    case 68:
      return kCubeLayers;
    case 36:
      return DeviceModel::kMemoryClockKhz;
    case 37:
      return DeviceModel::kBusWidthBits;
    case 38:
      return d.l2_bytes;
    case 39:
      return d.threads_per_sm;
    case 51:
      return 32;
    case 72:
      return 2097120;
    case 75:
      return d.major();
    case 76:
      return d.minor();
    case 81:
      return d.shared_per_sm;
    case 87:
      return 2;
    case 97:
      return d.shared_per_block_optin();
    case 106:
      return d.blocks_per_sm;
    case 111:
      return d.reserved_shared;
    case 120:  // clusters can be launched
      return launches_clusters(d) ? 1 : 0;
    default:
      return 0;
  }
}

}  // namespace

Runtime::Runtime() : Runtime(cuda::options_from_environment().value_or(cuda::RecordOptions{})) {}

Runtime::Runtime(const cuda::RecordOptions& options)
    : model(options.device),
      devices(static_cast<unsigned>(options.devices)),
      arena(cuda::DeviceArena::of_devices(model.memory_bytes, devices)),
      code(model, arena, recording),
      order(devices),
      backlog(recording.schedule_seed()),
      peers(devices),
      pool_peers(devices),
      default_pools(devices) {
  std::memcpy(limits, kDefaultLimits, sizeof limits);
  for (unsigned d = 0; d < devices; ++d) {
    peers[d] = std::uint64_t{1} << d, default_pools[d].device = d;
    current_pools.push_back(&default_pools[d]);
  }
  watch_forks();
}

unsigned current_device() { return chosen_device; }
void choose_device(unsigned device) { chosen_device = device; }

bool has_device(const Runtime& r, int device) { return device >= 0 && static_cast<unsigned>(device) < r.devices; }

void write_uuid(void* out, unsigned device) {
  char text[17];
  std::snprintf(text, sizeof text, device < 10 ? "atoll-recorder-%u" : "atoll-recorder%02u", device % 100);
  std::memcpy(out, text, 16);
}

extern "C" {

int cudaGetDeviceCount(int* count) {
  return call([&](Runtime& r) -> int { return count ? (*count = static_cast<int>(r.devices), kSuccess) : kInvalidValue; });
}

int cudaGetDevice(int* device) {
  return call(
      [&](Runtime&) -> int { return device ? (*device = static_cast<int>(current_device()), kSuccess) : kInvalidValue; });
}

int cudaSetDevice(int device) {
  return call([&](Runtime& r) {
    if (has_device(r, device)) use_primary_context(static_cast<unsigned>(device));
    return known_device(r, device);
  });
}

int cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
int cudaSetValidDevices(int*, int) { return kSuccess; }

int cudaChooseDevice(int* device, const void*) { return cudaGetDevice(device); }

int cudaSetDeviceFlags(unsigned flags) {
  return call([&](Runtime& r) -> int {
    // How the host waits is one of the ways, or left open.
    if ((flags & ~kDeviceFlags) != 0 || std::popcount(flags & kScheduleFlags) > 1) return kInvalidValue;
    r.device_flags = static_cast<int>(flags);
    return kSuccess;
  });
}

int cudaGetDeviceFlags(unsigned* flags) {
  return call(
      [&](Runtime& r) -> int { return flags ? (*flags = static_cast<unsigned>(r.device_flags), kSuccess) : kInvalidValue; });
}

int cudaGetDeviceProperties(DeviceProperties* out, int device) {
  return call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    if (has_device(r, device)) fill(r.model, *out, static_cast<unsigned>(device));
    return known_device(r, device);
  });
}

int cudaDeviceGetAttribute(int* value, int number, int device) {
  return call([&](Runtime& r) -> int {
    if (!value || number < 1 || number > kLastAttribute) return kInvalidValue;
    *value = attribute(r.model, number, device);
    return known_device(r, device);
  });
}

int cudaDeviceSynchronize() {
  return call([](Runtime& r) {
    r.backlog.finish(r, r.backlog.of_device(current_device()));
    r.order.host_waits(r.order.last(nullptr, current_device()));
    return r.sticky;
  });
}

/// Memory stays: a program that resets the device in the middle and goes on is rarer than one that frees afterwards.
int cudaDeviceReset() { return cudaDeviceSynchronize(); }

int cudaDeviceSetLimit(int limit, std::size_t value) {
  return call([&](Runtime& r) -> int {
    if (limit < 0 || limit >= kKnownLimits) return kUnsupportedLimit;
    r.limits[limit] = value;
    return kSuccess;
  });
}

int cudaDeviceGetLimit(std::size_t* value, int limit) {
  return call([&](Runtime& r) -> int {
    if (!value) return kInvalidValue;
    if (limit < 0 || limit >= kKnownLimits) return kUnsupportedLimit;
    *value = r.limits[limit];
    return kSuccess;
  });
}

int cudaDeviceSetCacheConfig(int config) {
  return call([&](Runtime&) -> int { return is_cache_config(config) ? kSuccess : kInvalidValue; });
}

int cudaDeviceSetSharedMemConfig(int config) {
  return call([&](Runtime&) -> int { return is_bank_size(config) ? kSuccess : kInvalidValue; });
}

int cudaDeviceGetCacheConfig(int* config) {
  return call([&](Runtime&) -> int { return config ? (*config = 0, kSuccess) : kInvalidValue; });
}

int cudaDeviceGetSharedMemConfig(int* config) {
  return call([&](Runtime&) -> int { return config ? (*config = kFourByteBanks, kSuccess) : kInvalidValue; });
}

int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Runtime&) -> int {
    if (least) *least = 0;
    if (greatest) *greatest = kGreatestPriority;
    return kSuccess;
  });
}

int cudaDriverGetVersion(int* version) {
  return call(
      [&](Runtime&) -> int { return version ? (*version = DeviceModel::kRuntimeVersion, kSuccess) : kInvalidValue; });
}

int cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

int cudaProfilerStart() { return kSuccess; }
int cudaProfilerStop() { return kSuccess; }

}  // extern "C"
}  // namespace atl::cudart
