#include <algorithm>
#include <cstring>
#include <span>

#include "inputs/cuda/runtime/runtime.hpp"

// Stream-ordered allocation. Streams do everything at once, or in its turn in the backlog: memory comes with the call and
// goes in its turn; pools keep nothing back and only count.
namespace atl::cudart {
namespace {

enum PoolAttribute : int { kReleaseThreshold = 4, kReserved = 5, kMostReserved = 6, kUsed = 7, kMostUsed = 8 };

/// cudaMemPoolProps.
struct PoolProperties {
  int allocation, handles, location_type, location;
};

/// cudaMemAccessDesc.
struct PoolAccess {
  int location_type, location, flags;
};

bool known_pool(const Runtime& r, Pool* pool) {
  const auto& own = r.default_pools;
  return std::any_of(own.begin(), own.end(), [&](const Pool& p) { return &p == pool; }) || r.pools.count(pool) != 0;
}

int allocate(Runtime& r, void** out, std::size_t size, Pool* pool) {
  if (!out || !known_pool(r, pool)) return kInvalidValue;
  *out = nullptr;
  if (size == 0) return kSuccess;
  const std::uint64_t address = r.code.allocate(size, cuda::MemoryKind::device, {}, pool->device);
  if (address == 0) return kMemoryAllocation;
  r.pool_blocks[address] = {pool, size};
  pool->used += size, pool->most_used = std::max(pool->most_used, pool->used);
  *out = reinterpret_cast<void*>(address);
  return kSuccess;
}

}  // namespace

extern "C" {

int cudaMallocFromPoolAsync(void** out, std::size_t size, void* pool, void* stream) {
  return call([&](Runtime& r) -> int {
    Capture* capture = r.graphs.capture_of(stream);
    if (!capture) return allocate(r, out, size, static_cast<Pool*>(pool));
    // Memory of a graph: the same in each of its launches.
    const std::uint64_t address =
        out && size ? r.code.allocate(size, cuda::MemoryKind::device, {}, device_of(r, stream)) : 0;
    if (address == 0) return out && size ? kMemoryAllocation : kInvalidValue;
    r.graph_memory.insert(address);
    *out = reinterpret_cast<void*>(address);
    return r.graphs.add(*capture, stream, NodeType::allocate, MemoryWork{address, size});
  });
}

int cudaMallocAsync(void** out, std::size_t size, void* stream) {
  return call([&](Runtime& r) { return cudaMallocFromPoolAsync(out, size, r.current_pools[device_of(r, stream)], stream); });
}

int cudaFreeAsync(void* pointer, void* stream) {
  return call([&](Runtime& r) -> int {
    Capture* capture = r.graphs.capture_of(stream);
    const InStream in(r, stream);
    if (!capture) return r.backlog.in_turn(r, [=](Runtime& now) { return release_memory(now, pointer); });
    return r.graphs.add(*capture, stream, NodeType::release, MemoryWork{reinterpret_cast<std::uint64_t>(pointer), 0});
  });
}

int cudaDeviceGetDefaultMemPool(void** out, int device) {
  return call([&](Runtime& r) -> int {
    if (!out || !has_device(r, device)) return out ? kInvalidDevice : kInvalidValue;
    *out = &r.default_pools[static_cast<unsigned>(device)];
    return kSuccess;
  });
}

int cudaDeviceGetMemPool(void** out, int device) {
  return call([&](Runtime& r) -> int {
    if (!out || !has_device(r, device)) return out ? kInvalidDevice : kInvalidValue;
    *out = r.current_pools[static_cast<unsigned>(device)];
    return kSuccess;
  });
}

int cudaDeviceSetMemPool(int device, void* pool) {
  return call([&](Runtime& r) -> int {
    if (!has_device(r, device)) return kInvalidDevice;
    if (!known_pool(r, static_cast<Pool*>(pool)) || static_cast<Pool*>(pool)->device != static_cast<unsigned>(device))
      return kInvalidValue;
    r.current_pools[static_cast<unsigned>(device)] = static_cast<Pool*>(pool);
    return kSuccess;
  });
}

int cudaMemPoolCreate(void** out, const PoolProperties* properties) {
  return call([&](Runtime& r) -> int {
    if (!out || !properties) return kInvalidValue;
    auto pool = std::make_unique<Pool>();
    if (properties->location_type == kOnDevice) {
      if (!has_device(r, properties->location)) return kInvalidDevice;
      pool->device = static_cast<unsigned>(properties->location);
    }
    *out = pool.get();
    r.pools[pool.get()] = std::move(pool);
    return kSuccess;
  });
}

/// What was allocated from it stays until it is freed, and then counts for the default pool.
int cudaMemPoolDestroy(void* pool) {
  return call([&](Runtime& r) -> int {
    const auto found = r.pools.find(static_cast<Pool*>(pool));
    if (found == r.pools.end()) return kInvalidValue;
    Pool& instead = r.default_pools[static_cast<Pool*>(pool)->device];
    for (auto& [address, block] : r.pool_blocks)
      if (block.pool == pool) block.pool = &instead, instead.used += block.size;
    for (Pool*& current : r.current_pools)
      if (current == pool) current = &instead;
    r.pools.erase(found);
    return kSuccess;
  });
}

int cudaMemPoolTrimTo(void* pool, std::size_t) {
  return call([&](Runtime& r) -> int { return known_pool(r, static_cast<Pool*>(pool)) ? kSuccess : kInvalidValue; });
}

// Attributes are 64-bit numbers of bytes, except the first three: whether memory may be reused early, which it always is.
int cudaMemPoolSetAttribute(void* handle, int attribute, void* value) {
  return call([&](Runtime& r) -> int {
    auto* pool = static_cast<Pool*>(handle);
    if (!known_pool(r, pool) || !value) return kInvalidValue;
    if (attribute == kReleaseThreshold) std::memcpy(&pool->release_threshold, value, sizeof pool->release_threshold);
    if (attribute == kMostUsed || attribute == kMostReserved) pool->most_used = pool->used;  // only 0 is allowed: a reset
    return kSuccess;
  });
}

int cudaMemPoolGetAttribute(void* handle, int attribute, void* value) {
  return call([&](Runtime& r) -> int {
    const auto* pool = static_cast<Pool*>(handle);
    if (!known_pool(r, static_cast<Pool*>(handle)) || !value) return kInvalidValue;
    const auto bytes = [&](std::uint64_t number) { return std::memcpy(value, &number, sizeof number), kSuccess; };
    const int yes = 1;
    switch (attribute) {
      case kReleaseThreshold:
        return bytes(pool->release_threshold);
      case kReserved:
      case kUsed:
        return bytes(pool->used);
      case kMostReserved:
      case kMostUsed:
        return bytes(pool->most_used);
      default:
        return std::memcpy(value, &yes, sizeof yes), kSuccess;
    }
  });
}

/// Access goes by device here: who may use a pool's memory may use all memory of its device.
int cudaMemPoolSetAccess(void* handle, const PoolAccess* list, std::size_t count) {
  return call([&](Runtime& r) -> int {
    const auto* pool = static_cast<Pool*>(handle);
    if (!known_pool(r, static_cast<Pool*>(handle)) || (!list && count != 0)) return kInvalidValue;
    for (const PoolAccess& access : std::span(list, count))
      if (access.location_type != kOnDevice || !has_device(r, access.location)) return kInvalidDevice;
    for (const PoolAccess& access : std::span(list, count)) {
      std::uint64_t& peers = r.pool_peers[static_cast<unsigned>(access.location)];
      const std::uint64_t bit = std::uint64_t{1} << pool->device;
      access.flags == kNoAccess ? peers &= ~bit : peers |= bit;
    }
    return kSuccess;
  });
}

}  // extern "C"
}  // namespace atl::cudart
