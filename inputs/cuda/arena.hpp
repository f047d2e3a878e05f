#pragma once
#include <cstdint>
#include <map>
#include <vector>

namespace atl::cuda {

enum class MemoryKind : std::uint8_t { device, managed, host };  ///< cudaMalloc, cudaMallocManaged, cudaMallocHost

/// One block of device memory that the program holds.
struct Allocation {
  std::uint64_t address = 0, size = 0;  ///< bytes, as asked for
  std::uint64_t ordinal = 0;            ///< n-th allocation of the program, from 0: its identity from run to run
  MemoryKind kind = MemoryKind::device;
  bool contains(std::uint64_t a) const { return a - address < size; }
};

/// Device memory at a fixed address: a program that allocates the same things gets the same addresses in every run, so its
/// trace repeats. A device address is also the host address of its bytes. Between blocks lie guard gaps, so that an
/// access past the end of a block belongs to none. Freed addresses are used again, lowest first, as a GPU driver does:
/// a program that allocates and frees in a loop meets the same cache lines. Of several devices each has a window of
/// addresses of its own, so that an address tells whose memory it is; managed and host memory has another one.
class DeviceArena {
 public:
  static constexpr std::uint64_t kBase = 0x2000'0000'0000;  ///< far from where Linux puts programs, heaps and libraries
  static constexpr std::uint64_t kReserved = 1ull << 40;    ///< addresses; memory is taken only where it is touched
  static constexpr std::uint64_t kWindow = 1ull << 38;      ///< addresses of each of several devices
  static constexpr std::uint64_t kAlignment = 512;          ///< as cudaMalloc's
  static constexpr std::uint64_t kGuard = 512;              ///< at least so many bytes after a block belong to none

  /// `capacity`: bytes of a device that may be allocated. Throws IoError when the addresses are taken.
  explicit DeviceArena(std::uint64_t capacity, std::uint64_t base = kBase, std::uint64_t reserved = kReserved);
  /// Of several devices.
  static DeviceArena of_devices(std::uint64_t capacity, unsigned devices);
  ~DeviceArena();
  DeviceArena(const DeviceArena&) = delete;
  DeviceArena& operator=(const DeviceArena&) = delete;

  /// Zero-filled memory of `size` > 0 bytes, `alignment` a power of two; of a device, if it is device memory. 0: more than
  /// is left.
  std::uint64_t allocate(std::uint64_t size, MemoryKind kind = MemoryKind::device, std::uint64_t alignment = kAlignment,
                         unsigned device = 0);
  /// False: no block begins at `address`. The block's pages go back to the system.
  bool release(std::uint64_t address);
  /// The block that holds `address`, or null.
  const Allocation* find(std::uint64_t address) const;

  /// Addresses of a device without memory behind them, which no allocation gets until they are given back. 0: too many.
  std::uint64_t reserve(std::uint64_t size, std::uint64_t alignment, unsigned device = 0);
  void unreserve(std::uint64_t address, std::uint64_t size);
  /// A zero-filled block at reserved addresses, whole pages. False: more than is left.
  bool map(std::uint64_t address, std::uint64_t size);
  /// The addresses stay reserved. False: no block begins at `address`.
  bool unmap(std::uint64_t address);

  /// Zeroes bytes of a block. Whole pages return to the system and read as zero, so that what is never touched takes no
  /// memory.
  static void zero(std::uint64_t address, std::uint64_t size);

  bool in_arena(std::uint64_t address) const { return address - base_ < reserved_; }
  std::uint64_t base() const { return base_; }
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t free_bytes(unsigned device = 0) const { return capacity_ - used_[device]; }
  unsigned devices() const { return devices_; }
  /// Whose memory an address is; devices(): of none, as all that is not in the arena.
  unsigned device_of(std::uint64_t address) const {
    if (devices_ == 1) return in_arena(address) ? 0 : 1;
    return in_arena(address) ? static_cast<unsigned>((address - base_) / kWindow) : devices_;
  }

 private:
  DeviceArena(std::uint64_t capacity, unsigned devices, std::uint64_t base, std::uint64_t reserved);
  std::uint64_t room(std::uint64_t span, std::uint64_t alignment, unsigned window) const;
  void take(std::uint64_t at, std::uint64_t size);
  void give_back(std::uint64_t at, std::uint64_t size);

  std::uint64_t base_, reserved_, capacity_, next_ordinal_ = 0;
  unsigned devices_;
  std::vector<std::uint64_t> used_;              // bytes: of each device, and of several the memory that is of none
  std::map<std::uint64_t, Allocation> blocks_;   // by address
  std::map<std::uint64_t, std::uint64_t> free_;  // address -> size; neighbours are always joined
};

}  // namespace atl::cuda
