#include <cstdio>
#include <cstring>

#include "inputs/cuda/runtime/device_model.hpp"
#include "inputs/cuda/runtime/runtime.hpp"

namespace atl::cudart {
namespace {

using namespace device_model;

constexpr int kTexture1D = 131072, kTexture2D[2] = {131072, 65536}, kTexture3D = 16384;
constexpr std::size_t kDefaultLimits[8] = {1024, 1 << 20, 8 << 20, 0, 0, 64, 0, 0};
constexpr int kKnownLimits = 7;

int only_device_0(int device) { return device == 0 ? int{kSuccess} : int{kInvalidDevice}; }

void fill(DeviceProperties& p) {
  p = {};
  std::snprintf(p.name, sizeof p.name, "Atoll recorder");
  std::memcpy(p.uuid, "atoll-recorder-0", sizeof p.uuid);
  p.global_bytes = kMemoryBytes, p.shared_bytes_per_block = kSharedPerBlock, p.registers_per_block = kRegisters;
  p.warp_size = kWarpSize, p.max_pitch = 2147483647, p.max_threads_per_block = kMaxThreadsPerBlock;
  p.max_block[0] = p.max_block[1] = kMaxBlockXY, p.max_block[2] = kMaxBlockZ;
  p.max_grid[0] = kMaxGridX, p.max_grid[1] = p.max_grid[2] = kMaxGridYZ;
  p.constant_bytes = kConstantBytes, p.major = kMajor, p.minor = kMinor;
  p.texture_alignment = 512, p.texture_pitch_alignment = 32, p.surface_alignment = 512;
  p.multiprocessors = kMultiprocessors, p.can_map_host = 1;
  p.texture_1d = kTexture1D, p.texture_2d[0] = kTexture2D[0], p.texture_2d[1] = kTexture2D[1];
  p.texture_2d_linear[0] = kTexture2D[0], p.texture_2d_linear[1] = kTexture2D[1], p.texture_2d_linear[2] = 2097120;
  p.texture_3d[0] = p.texture_3d[1] = p.texture_3d[2] = kTexture3D;
  p.concurrent_kernels = 1, p.async_engines = 1, p.unified_addressing = 1, p.bus_width_bits = kBusWidthBits;
  p.l2_bytes = kL2Bytes, p.max_threads_per_multiprocessor = kMaxThreadsPerMultiprocessor, p.stream_priorities = 1;
  p.global_l1 = p.local_l1 = 1, p.shared_bytes_per_multiprocessor = kSharedPerMultiprocessor;
  p.registers_per_multiprocessor = kRegisters, p.managed = 1, p.concurrent_managed = 1, p.registered_host_pointer = 1;
  p.cooperative_launch = 1, p.shared_bytes_per_block_optin = kSharedPerBlockOptin;
  p.max_blocks_per_multiprocessor = kMaxBlocksPerMultiprocessor, p.reserved_shared_bytes = kReservedShared;
  p.host_register = 1;
}

/// cudaDeviceAttr by its number; what is not here is a feature that this device lacks.
int attribute(int number) {
  switch (number) {
    case 1:
      return kMaxThreadsPerBlock;
    case 2:
    case 3:
      return kMaxBlockXY;
    case 4:
      return kMaxBlockZ;
    case 5:
      return kMaxGridX;
    case 6:
    case 7:
      return kMaxGridYZ;
    case 8:
      return kSharedPerBlock;
    case 9:
      return kConstantBytes;
    case 10:
      return kWarpSize;
    case 11:
      return 2147483647;
    case 12:
    case 82:
      return kRegisters;
    case 13:
      return kClockKhz;
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
    case 115:  // memory pools
      return 1;
    case 16:
      return kMultiprocessors;
    case 21:
    case 69:
      return kTexture1D;
    case 22:
    case 70:
      return kTexture2D[0];
    case 23:
    case 71:
      return kTexture2D[1];
    case 24:
    case 25:
    case 26:
      return kTexture3D;
    case 36:
      return kMemoryClockKhz;
    case 37:
      return kBusWidthBits;
    case 38:
      return kL2Bytes;
    case 39:
      return kMaxThreadsPerMultiprocessor;
    case 51:
      return 32;
    case 72:
      return 2097120;
    case 75:
      return kMajor;
    case 76:
      return kMinor;
    case 81:
      return kSharedPerMultiprocessor;
    case 87:
      return 2;
    case 97:
      return kSharedPerBlockOptin;
    case 106:
      return kMaxBlocksPerMultiprocessor;
    case 111:
      return kReservedShared;
    default:
      return 0;
  }
}

}  // namespace

Runtime::Runtime() : arena(kMemoryBytes), code(arena, recording) { std::memcpy(limits, kDefaultLimits, sizeof limits); }

extern "C" {

int cudaGetDeviceCount(int* count) {
  return call([&](Runtime&) -> int { return count ? (*count = 1, kSuccess) : kInvalidValue; });
}

int cudaGetDevice(int* device) {
  return call([&](Runtime&) -> int { return device ? (*device = 0, kSuccess) : kInvalidValue; });
}

int cudaSetDevice(int device) {
  return call([&](Runtime&) { return only_device_0(device); });
}

int cudaInitDevice(int device, unsigned, unsigned) { return cudaSetDevice(device); }
int cudaSetValidDevices(int*, int) { return kSuccess; }

int cudaChooseDevice(int* device, const void*) { return cudaGetDevice(device); }

int cudaSetDeviceFlags(unsigned flags) {
  return call([&](Runtime& r) -> int { return r.device_flags = static_cast<int>(flags), kSuccess; });
}

int cudaGetDeviceFlags(unsigned* flags) {
  return call(
      [&](Runtime& r) -> int { return flags ? (*flags = static_cast<unsigned>(r.device_flags), kSuccess) : kInvalidValue; });
}

int cudaGetDeviceProperties(DeviceProperties* out, int device) {
  return call([&](Runtime&) -> int {
    if (!out) return kInvalidValue;
    if (device == 0) fill(*out);
    return only_device_0(device);
  });
}

int cudaDeviceGetAttribute(int* value, int number, int device) {
  return call([&](Runtime&) -> int {
    if (!value || number < 1) return kInvalidValue;
    *value = attribute(number);
    return only_device_0(device);
  });
}

int cudaDeviceSynchronize() {
  return call([](Runtime&) { return kSuccess; });
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

int cudaDeviceSetCacheConfig(int) { return kSuccess; }
int cudaDeviceSetSharedMemConfig(int) { return kSuccess; }

int cudaDeviceGetCacheConfig(int* config) {
  return call([&](Runtime&) -> int { return config ? (*config = 0, kSuccess) : kInvalidValue; });
}

int cudaDeviceGetSharedMemConfig(int* config) {
  return call([&](Runtime&) -> int { return config ? (*config = 1, kSuccess) : kInvalidValue; });
}

int cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&](Runtime&) -> int {
    if (least) *least = 0;
    if (greatest) *greatest = 0;
    return kSuccess;
  });
}

int cudaDeviceCanAccessPeer(int* can, int, int) {
  return call([&](Runtime&) -> int { return can ? (*can = 0, kSuccess) : kInvalidValue; });
}

int cudaDeviceEnablePeerAccess(int, unsigned) {
  return call([](Runtime&) { return kInvalidDevice; });
}

int cudaDeviceDisablePeerAccess(int) {
  return call([](Runtime&) { return kPeerAccessNotEnabled; });
}

int cudaDeviceGetPCIBusId(char* text, int length, int device) {
  return call([&](Runtime&) -> int {
    if (!text || length < 13) return kInvalidValue;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:00:00.0");
    return only_device_0(device);
  });
}

int cudaDriverGetVersion(int* version) {
  return call([&](Runtime&) -> int { return version ? (*version = kRuntimeVersion, kSuccess) : kInvalidValue; });
}

int cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

int cudaProfilerStart() { return kSuccess; }
int cudaProfilerStop() { return kSuccess; }

}  // extern "C"
}  // namespace atl::cudart
