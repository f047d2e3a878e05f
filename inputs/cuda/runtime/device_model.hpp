#pragma once
#include <cstdint>

/// The one GPU that programs see. Its kernels run functionally, so only what programs base decisions on matters: grid sizes
/// from the number of SMs, block sizes from the limits, code paths from the compute capability.
namespace atl::cudart::device_model {

inline constexpr unsigned kArch = 90;  ///< PTX up to sm_90 is chosen
inline constexpr int kMajor = kArch / 10, kMinor = kArch % 10;
inline constexpr int kMultiprocessors = 128;
inline constexpr int kWarpSize = 32, kMaxThreadsPerBlock = 1024, kMaxBlockXY = 1024, kMaxBlockZ = 64;
inline constexpr int kMaxGridX = 2147483647, kMaxGridYZ = 65535;
inline constexpr int kMaxThreadsPerMultiprocessor = 2048, kMaxBlocksPerMultiprocessor = 32;
inline constexpr int kRegisters = 65536;  ///< per block and per multiprocessor
inline constexpr int kSharedPerBlock = 48 * 1024, kSharedPerBlockOptin = 227 * 1024, kSharedPerMultiprocessor = 228 * 1024;
inline constexpr int kReservedShared = 1024;
inline constexpr int kConstantBytes = 64 * 1024;
inline constexpr int kL2Bytes = 32 * 1024 * 1024;
inline constexpr int kClockKhz = 1500000, kMemoryClockKhz = 1500000, kBusWidthBits = 4096;
inline constexpr std::uint64_t kMemoryBytes = 16ull << 30;
inline constexpr int kRuntimeVersion = 13000;

}  // namespace atl::cudart::device_model
