#include <cstdio>
#include <cstring>

#include "inputs/cuda/runtime/driver.hpp"

// Virtual memory: addresses are reserved, memory is made, and one is put behind the other. An address tells here whose
// memory it is, so memory of another device than that of the addresses, and the same memory at two addresses, are refused.
namespace atl::cudart {
namespace {

constexpr std::uint64_t kGranularity = 2 << 20;

/// CUmemLocation, CUmemAllocationProp, CUmemAccessDesc.
struct Location {
  int type, id;
};
struct AllocationProperties {
  int type, handle_types;
  Location location;
  void* security;
  std::uint8_t flags[8];
};
struct AccessDescription {
  Location location;
  int flags;
};
static_assert(sizeof(AllocationProperties) == 32 && sizeof(AccessDescription) == 12);
enum : int { kPinned = 1, kReadWrite = 3 };

bool whole(std::uint64_t size) { return size > 0 && size % kGranularity == 0; }

int refuse(Runtime& r, const char* what) {
  if (r.complained_about.insert(what).second) {
    std::fflush(stdout);
    std::fprintf(stderr, "atoll: cuMemMap: %s; it gets CUDA_ERROR_NOT_SUPPORTED\n", what);
  }
  return kNotSupported;
}

/// The range that holds all of it, or null.
const std::pair<const std::uint64_t, std::uint64_t>* range_of(const Runtime& r, std::uint64_t at, std::uint64_t size) {
  const auto after = r.address_ranges.upper_bound(at);
  if (after == r.address_ranges.begin()) return nullptr;
  const auto& range = *std::prev(after);
  return at - range.first < range.second && size <= range.second - (at - range.first) ? &range : nullptr;
}

/// `body` for all that is mapped from `at` on. False: a part of it is not, or one reaches beyond the end.
template <typename Body> bool for_mapped(Runtime& r, std::uint64_t at, std::uint64_t size, Body&& body) {
  std::uint64_t covered = 0;
  for (const auto& [handle, m] : r.physical) {
    if (m.mapped_at == 0 || m.mapped_at + m.size <= at || m.mapped_at >= at + size) continue;
    if (m.mapped_at < at || m.mapped_at + m.size > at + size) return false;
    covered += m.size;
  }
  if (covered != size) return false;
  for (auto next = r.physical.begin(); next != r.physical.end();) {
    const auto memory = next++;  // the body may remove it
    if (memory->second.mapped_at >= at && memory->second.mapped_at < at + size && !body(memory)) return false;
  }
  return true;
}

bool show(Runtime& r, PhysicalMemory& m) {
  if (m.accessible) return true;
  if (!r.code.map(m.mapped_at, m.size)) return false;
  if (!m.bytes.empty()) std::memcpy(reinterpret_cast<void*>(m.mapped_at), m.bytes.data(), m.bytes.size());
  m.bytes = {};
  m.accessible = true;
  return true;
}

/// `keep`: what it holds stays its own, for when it is accessible again.
void hide(Runtime& r, PhysicalMemory& m, bool keep) {
  if (!m.accessible) return;
  const char* begin = reinterpret_cast<const char*>(m.mapped_at);
  if (keep) m.bytes.assign(begin, begin + m.size);
  r.code.unmap(m.mapped_at);
  m.accessible = false;
}

}  // namespace

extern "C" {

int cuMemGetAllocationGranularity(std::size_t* out, const AllocationProperties*, int) {
  return driver_call([&](Runtime&) -> int { return out ? (*out = kGranularity, kSuccess) : int{kInvalidValue}; });
}

int cuMemAddressReserve(std::uint64_t* out, std::size_t size, std::size_t alignment, std::uint64_t, std::uint64_t) {
  return driver_call([&](Runtime& r) -> int {
    if (!out || !whole(size) || (alignment & (alignment - 1)) != 0) return kInvalidValue;
    *out = r.arena.reserve(size, std::max<std::uint64_t>(alignment, kGranularity), current_device());
    if (*out == 0) return kMemoryAllocation;
    r.address_ranges[*out] = size;
    return kSuccess;
  });
}

int cuMemAddressFree(std::uint64_t at, std::size_t size) {
  return driver_call([&](Runtime& r) -> int {
    const auto found = r.address_ranges.find(at);
    if (found == r.address_ranges.end() || found->second != size) return kInvalidValue;
    for (const auto& [handle, m] : r.physical)
      if (m.mapped_at >= at && m.mapped_at < at + size) return kInvalidValue;
    r.arena.unreserve(at, size);
    r.address_ranges.erase(found);
    return kSuccess;
  });
}

int cuMemCreate(std::uint64_t* out, std::size_t size, const AllocationProperties* p, std::uint64_t) {
  return driver_call([&](Runtime& r) -> int {
    if (!out || !p || !whole(size) || p->type != kPinned) return kInvalidValue;
    if (p->location.type != kOnDevice || p->handle_types != 0) return kNotSupported;
    if (!has_device(r, p->location.id)) return kInvalidDevice;
    const auto device = static_cast<unsigned>(p->location.id);
    std::uint64_t hidden = 0;  // the arena counts what is accessible
    for (const auto& [handle, m] : r.physical) hidden += m.device == device && !m.accessible ? m.size : 0;
    if (size + hidden > r.arena.free_bytes(device)) return kMemoryAllocation;
    *out = ++r.last_physical;
    r.physical[*out] = {device, size, 0, false, false, {}};
    return kSuccess;
  });
}

int cuMemRelease(std::uint64_t handle) {
  return driver_call([&](Runtime& r) -> int {
    const auto found = r.physical.find(handle);
    if (found == r.physical.end() || found->second.released) return kInvalidValue;
    found->second.released = true;
    if (found->second.mapped_at == 0) r.physical.erase(found);
    return kSuccess;
  });
}

int cuMemMap(std::uint64_t at, std::size_t size, std::size_t offset, std::uint64_t handle, std::uint64_t) {
  return driver_call([&](Runtime& r) -> int {
    const auto found = r.physical.find(handle);
    if (found == r.physical.end() || found->second.released || offset != 0 || size != found->second.size)
      return kInvalidValue;
    if (at % kGranularity != 0 || !range_of(r, at, size)) return kInvalidValue;
    for (const auto& [other, m] : r.physical)
      if (m.mapped_at != 0 && m.mapped_at < at + size && at < m.mapped_at + m.size) return kInvalidValue;
    if (found->second.mapped_at != 0) return refuse(r, "the same memory at two addresses");
    if (r.arena.device_of(at) != found->second.device)
      return refuse(r, "memory of one device at addresses that were reserved while another one was current");
    found->second.mapped_at = at;
    return kSuccess;
  });
}

int cuMemUnmap(std::uint64_t at, std::size_t size) {
  return driver_call([&](Runtime& r) -> int {
    r.backlog.finish(r, r.backlog.of_device(r.arena.device_of(at)));
    const bool all = for_mapped(r, at, size, [&](auto memory) {
      hide(r, memory->second, !memory->second.released);
      memory->second.mapped_at = 0;
      if (memory->second.released) r.physical.erase(memory);
      return true;
    });
    return all ? kSuccess : kInvalidValue;
  });
}

int cuMemSetAccess(std::uint64_t at, std::size_t size, const AccessDescription* d, std::size_t count) {
  return driver_call([&](Runtime& r) -> int {
    if (!d || count == 0) return kInvalidValue;
    bool open = false;
    for (std::size_t i = 0; i < count; ++i) {
      if (d[i].location.type != kOnDevice || !has_device(r, d[i].location.id)) return kInvalidDevice;
      if (d[i].flags == kNoAccess) continue;  // that stores to memory for reading fail is not seen here
      open = true;
      r.pool_peers[static_cast<unsigned>(d[i].location.id)] |= std::uint64_t{1} << r.arena.device_of(at);
    }
    const bool all = for_mapped(r, at, size, [&](auto memory) {
      if (open) return show(r, memory->second);
      hide(r, memory->second, true);
      return true;
    });
    return all ? kSuccess : kInvalidValue;
  });
}

int cuMemGetAccess(std::uint64_t* flags, const Location*, std::uint64_t at) {
  return driver_call([&](Runtime& r) -> int {
    if (!flags || !range_of(r, at, 1)) return kInvalidValue;
    *flags = r.arena.find(at) ? kReadWrite : 0;
    return kSuccess;
  });
}

int cuMemGetAllocationPropertiesFromHandle(AllocationProperties* out, std::uint64_t handle) {
  return driver_call([&](Runtime& r) -> int {
    const auto found = r.physical.find(handle);
    if (!out || found == r.physical.end()) return kInvalidValue;
    *out = {kPinned, 0, {kOnDevice, static_cast<int>(found->second.device)}, nullptr, {}};
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
