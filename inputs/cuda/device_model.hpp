#pragma once
#include <cstdint>
#include <string>

namespace atl::cuda {

/// The GPU that a recorded program is told it has. Kernels run functionally, so what matters is what programs base decisions
/// on: grid sizes from the number of SMs and occupancy, block sizes from limits, code paths from the compute capability.
struct DeviceModel {
  static constexpr int kWarpSize = 32, kMaxThreadsPerBlock = 1024, kMaxBlockXY = 1024, kMaxBlockZ = 64;
  static constexpr int kMaxGridX = 2147483647, kMaxGridYZ = 65535;
  static constexpr int kConstantBytes = 64 * 1024;
  static constexpr int kMemoryClockKhz = 1500000, kBusWidthBits = 4096;
  static constexpr int kRuntimeVersion = 13000;
  static constexpr unsigned kNewestArch = 90;  ///< that parse_device() knows

  std::string name = "Atoll recorder";
  unsigned arch = 90;  ///< compute capability times 10; PTX up to it is chosen
  int sms = 128;
  int threads_per_sm = 2048, blocks_per_sm = 32;
  int registers_per_sm = 65536;  ///< also the most of one block
  int shared_per_sm = 228 * 1024, reserved_shared = 1024;
  int l2_bytes = 32 * 1024 * 1024;
  int clock_khz = 1500000;
  /// Less than 16 GiB, as a GPU keeps a part for itself; of 16 GiB the lower 32 bits, which old programs print, are 0.
  std::uint64_t memory_bytes = (16ull << 30) - (256ull << 20);

  int major() const { return static_cast<int>(arch / 10); }
  int minor() const { return static_cast<int>(arch % 10); }
  /// Of one block, static and dynamic: without cudaFuncSetAttribute, and at most.
  int shared_per_block() const;
  int shared_per_block_optin() const;
  /// Bytes of which a block's shared memory is a multiple (PTX ISA, %total_smem_size).
  std::uint32_t shared_unit() const { return arch < 80 ? 256 : 128; }
};

/// "sm_80,sms=108,mem=40g": a compute capability from 7.0 to 9.0, which sets the limits of an SM, and what differs from it:
/// sms, threads, blocks, registers, shared (each of an SM), reserved (shared memory that each block costs on top), l2, mem
/// (bytes, with k, m or g), clock (MHz), name. What is not
/// named is as in DeviceModel. Throws InputError.
DeviceModel parse_device(const std::string& text);

/// What parse_device() makes the same device of.
std::string to_text(const DeviceModel& device);

/// CTAs that fit on one SM at a time; 0: not even one.
int resident_blocks(const DeviceModel& device, std::uint64_t shared_bytes, int registers_per_thread, int threads);

}  // namespace atl::cuda
