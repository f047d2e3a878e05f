#include "inputs/cuda/arena.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "core/engine/error.hpp"

namespace atl::cuda {
namespace {

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t to) { return (value + to - 1) / to * to; }
void* pointer(std::uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

DeviceArena::DeviceArena(std::uint64_t capacity, std::uint64_t base, std::uint64_t reserved)
    : DeviceArena(capacity, 1, base, reserved) {}

DeviceArena DeviceArena::of_devices(std::uint64_t capacity, unsigned devices) {
  return DeviceArena(capacity, devices, kBase, devices == 1 ? kReserved : (devices + 1) * kWindow);
}

DeviceArena::DeviceArena(std::uint64_t capacity, unsigned devices, std::uint64_t base, std::uint64_t reserved)
    : base_(base), reserved_(reserved), capacity_(capacity), devices_(devices), used_(devices == 1 ? 1 : devices + 1) {
  // Reserved without access rights: costs nothing, and works where the system does not overcommit memory.
  void* got =
      mmap(pointer(base), reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
  if (got == pointer(base)) {
    if (devices == 1) free_[base] = reserved;
    // With a gap between windows, so that none grows into the next.
    for (unsigned window = 0; devices > 1 && window <= devices; ++window) free_[base + window * kWindow] = kWindow - kGuard;
    return;
  }
  const int error = got == MAP_FAILED ? errno : EEXIST;
  if (got != MAP_FAILED) munmap(got, reserved);  // a kernel before 4.17 takes the address for a hint
  throw IoError("device memory", std::string("the addresses of the recorder's device memory cannot be reserved (") +
                                     std::strerror(error) + "); is there a limit on address space (ulimit -v)?");
}

DeviceArena::~DeviceArena() { munmap(pointer(base_), reserved_); }

/// The lowest address with so much room; 0: none.
std::uint64_t DeviceArena::room(std::uint64_t span, std::uint64_t alignment, unsigned window) const {
  const std::uint64_t first_address = base_ + window * kWindow;
  for (auto hole = free_.lower_bound(first_address); hole != free_.end(); ++hole) {
    const auto [at, size] = *hole;
    if (devices_ > 1 && at - first_address >= kWindow) break;
    const std::uint64_t start = round_up(at, alignment);
    if (start - at <= size && size - (start - at) >= span) return start;
  }
  return 0;
}

std::uint64_t DeviceArena::allocate(std::uint64_t size, MemoryKind kind, std::uint64_t alignment, unsigned device) {
  const unsigned window = devices_ == 1 ? 0 : kind == MemoryKind::device ? device : devices_;
  const std::uint64_t capacity = window < devices_ ? capacity_ : capacity_ * devices_;
  if (size == 0 || size > capacity - used_[window]) return 0;
  const std::uint64_t span = round_up(size, kAlignment) + kGuard;
  const std::uint64_t start = room(span, std::max(alignment, kAlignment), window);
  if (start == 0) return 0;
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = start / page * page;
  if (mprotect(pointer(first), round_up(start + size, page) - first, PROT_READ | PROT_WRITE) != 0) return 0;
  take(start, span);
  used_[window] += size;
  blocks_[start] = {start, size, next_ordinal_++, kind};
  return start;
}

bool DeviceArena::release(std::uint64_t address) {
  const Allocation* block = find(address);
  if (!block || block->address != address) return false;
  const std::uint64_t size = block->size;
  unmap(address);
  give_back(address, round_up(size, kAlignment) + kGuard);
  return true;
}

std::uint64_t DeviceArena::reserve(std::uint64_t size, std::uint64_t alignment, unsigned device) {
  const std::uint64_t start = room(size + kGuard, std::max(alignment, kAlignment), device);
  if (start != 0) take(start, size + kGuard);
  return start;
}

void DeviceArena::unreserve(std::uint64_t address, std::uint64_t size) { give_back(address, size + kGuard); }

bool DeviceArena::map(std::uint64_t address, std::uint64_t size) {
  const unsigned window = devices_ == 1 ? 0 : device_of(address);
  if (size > capacity_ - used_[window] || mprotect(pointer(address), size, PROT_READ | PROT_WRITE) != 0) return false;
  used_[window] += size;
  blocks_[address] = {address, size, next_ordinal_++, MemoryKind::device};
  return true;
}

bool DeviceArena::unmap(std::uint64_t address) {
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) return false;
  const std::uint64_t size = found->second.size;
  zero(address, size);
  used_[devices_ == 1 ? 0 : device_of(address)] -= size;
  blocks_.erase(found);
  return true;
}

void DeviceArena::zero(std::uint64_t address, std::uint64_t size) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t first = round_up(address, page), last = (address + size) / page * page;
  if (first < last && madvise(pointer(first), last - first, MADV_DONTNEED) == 0) {
    std::memset(pointer(address), 0, first - address);
    std::memset(pointer(last), 0, address + size - last);  // the ends may share their pages with neighbours
  } else {
    std::memset(pointer(address), 0, size);
  }
}

const Allocation* DeviceArena::find(std::uint64_t address) const {
  auto after = blocks_.upper_bound(address);
  if (after == blocks_.begin()) return nullptr;
  const Allocation& block = std::prev(after)->second;
  return block.contains(address) ? &block : nullptr;
}

void DeviceArena::take(std::uint64_t at, std::uint64_t size) {
  auto hole = std::prev(free_.upper_bound(at));
  const std::uint64_t begin = hole->first, end = begin + hole->second;
  free_.erase(hole);
  if (at > begin) free_[begin] = at - begin;
  if (at + size < end) free_[at + size] = end - at - size;
}

void DeviceArena::give_back(std::uint64_t at, std::uint64_t size) {
  auto next = free_.lower_bound(at);
  if (next != free_.end() && next->first == at + size) size += next->second, next = free_.erase(next);
  if (next != free_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == at) {
      previous->second += size;
      return;
    }
  }
  free_[at] = size;
}

}  // namespace atl::cuda
