#include <iterator>
#include <optional>

#include "inputs/cuda/runtime/runtime.hpp"

// Device, managed and page-locked host memory all come from the arena: a kernel may use any of them, and all addresses
// repeat from run to run.
namespace atl::cudart {
namespace {

constexpr std::size_t kPitchAlignment = 512;

/// cudaHostAllocPortable, ...Mapped and ...WriteCombined; of cudaHostRegister these stand for other things, and one more.
enum : unsigned { kHostAllocFlags = 7, kHostRegisterFlags = 15 };
enum : unsigned { kAttachGlobal = 1, kAttachHost = 2 };

int allocate(Runtime& r, void** out, std::size_t size, cuda::MemoryKind kind) {
  if (!out) return kInvalidValue;
  *out = nullptr;
  if (size == 0) return kSuccess;
  const std::uint64_t address = r.code.allocate(size, kind);
  if (address == 0) return kMemoryAllocation;
  *out = reinterpret_cast<void*>(address);
  return kSuccess;
}

int allocate_pitched(Runtime& r, void** out, std::size_t* pitch, std::size_t width, std::size_t rows) {
  if (!out || !pitch) return kInvalidValue;
  std::size_t padded = 0, size = 0;  // a size that wraps around would be that of a block too small for its rows
  if (__builtin_add_overflow(width, kPitchAlignment - 1, &padded)) return kMemoryAllocation;
  padded = padded / kPitchAlignment * kPitchAlignment;
  if (__builtin_mul_overflow(padded, rows, &size)) return kMemoryAllocation;
  *pitch = padded;
  return allocate(r, out, size, cuda::MemoryKind::device);
}

/// Of page-locked memory at an address: what cudaHostAlloc or cudaHostRegister was given. None: it is no such memory.
std::optional<unsigned> flags_of_host(const Runtime& r, std::uint64_t address) {
  if (const cuda::Allocation* block = r.arena.find(address); block && block->kind == cuda::MemoryKind::host) {
    const auto given = r.host_flags.find(block->address);
    return given == r.host_flags.end() ? 0 : given->second;
  }
  const auto after = r.registered_host.upper_bound(address);
  if (after == r.registered_host.begin() || address - std::prev(after)->first >= std::prev(after)->second.bytes) return {};
  return std::prev(after)->second.flags;
}

bool is_managed(const cuda::Allocation* block) { return block && block->kind == cuda::MemoryKind::managed; }

bool is_host_block(const cuda::Allocation* block) { return block && block->kind == cuda::MemoryKind::host; }

/// cudaMemoryAdvise.
enum Advice : int { kSetReadMostly = 1, kSetPreferredLocation = 3, kSetAccessedBy = 5, kUnsetAccessedBy = 6 };

/// Whether a hint applies to it. Where it ends is not looked at: a GPU deals in pages.
bool takes_hints(const Runtime& r, const void* pointer, std::size_t size) {
  return size != 0 && is_managed(r.arena.find(reinterpret_cast<std::uint64_t>(pointer)));
}

int known_location(const Runtime& r, MemoryLocation where) {
  if (where.type == kOnDevice) return known_device(r, where.id);
  return where.type > kOnDevice && where.type <= kOnNearestHostNode ? kSuccess : kInvalidValue;
}

int free_memory(Runtime& r, void* pointer, bool of_host) {
  if (pointer) {
    r.backlog.finish(r, r.backlog.of_device(current_device()));
    r.backlog.finish(r, r.backlog.of_device(r.arena.device_of(reinterpret_cast<std::uint64_t>(pointer))));
    r.order.host_waits(r.order.last(nullptr, current_device()));
  }
  return release_memory(r, pointer, of_host);
}

}  // namespace

int release_memory(Runtime& r, void* pointer, bool of_host) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (!pointer) return kSuccess;
  if (is_host_block(r.arena.find(address)) != of_host) return kInvalidValue;
  if (r.graph_memory.contains(address)) return kSuccess;
  if (!r.code.release(address)) return kInvalidValue;
  r.host_flags.erase(address);
  if (const auto block = r.pool_blocks.find(address); block != r.pool_blocks.end()) {
    block->second.pool->used -= block->second.size;
    r.pool_blocks.erase(block);
  }
  return kSuccess;
}

extern "C" {

int cudaMalloc(void** out, std::size_t size) {
  return call([&](Runtime& r) { return allocate(r, out, size, cuda::MemoryKind::device); });
}

int cudaMallocManaged(void** out, std::size_t size, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if (size == 0 || (flags != kAttachGlobal && flags != kAttachHost)) return kInvalidValue;
    return allocate(r, out, size, cuda::MemoryKind::managed);
  });
}

int cudaMallocHost(void** out, std::size_t size) {
  return call([&](Runtime& r) { return allocate(r, out, size, cuda::MemoryKind::host); });
}

int cudaHostAlloc(void** out, std::size_t size, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if ((flags & ~unsigned{kHostAllocFlags}) != 0) return kInvalidValue;
    const int status = allocate(r, out, size, cuda::MemoryKind::host);
    if (status == kSuccess && *out && flags != 0) r.host_flags[reinterpret_cast<std::uint64_t>(*out)] = flags;
    return status;
  });
}

int cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height) {
  return call([&](Runtime& r) { return allocate_pitched(r, out, pitch, width, height); });
}

int cudaMalloc3D(PitchedPointer* out, Extent extent) {
  return call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    std::size_t rows = 0;
    if (__builtin_mul_overflow(extent.height, extent.depth, &rows)) return kMemoryAllocation;
    out->width = extent.width, out->height = extent.height;
    return allocate_pitched(r, &out->pointer, &out->pitch, extent.width, rows);
  });
}

int cudaFree(void* pointer) {
  return call([&](Runtime& r) { return free_memory(r, pointer, false); });
}

int cudaFreeHost(void* pointer) {
  return call([&](Runtime& r) { return free_memory(r, pointer, true); });
}

int cudaHostRegister(void* pointer, std::size_t size, unsigned flags) {
  return call([&](Runtime& r) -> int {
    if (!pointer || size == 0 || (flags & ~unsigned{kHostRegisterFlags}) != 0) return kInvalidValue;
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (flags_of_host(r, address)) return kHostMemoryAlreadyRegistered;
    if (const cuda::Allocation* block = r.arena.find(address); block && !is_managed(block)) return kInvalidValue;
    r.registered_host[address] = {size, flags};
    r.code.add_host_range(address, size);
    return kSuccess;
  });
}

int cudaHostUnregister(void* pointer) {
  return call([&](Runtime& r) -> int {
    r.backlog.finish(r, r.backlog.of_device(current_device()));
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (r.registered_host.erase(address) == 0) return kHostMemoryNotRegistered;
    r.code.remove_host_range(address);
    return kSuccess;
  });
}

int cudaHostGetDevicePointer(void** out, void* pointer, unsigned flags) {
  return call([&](Runtime& r) -> int {
    const auto address = reinterpret_cast<std::uint64_t>(pointer);
    if (!out || flags != 0 || !(flags_of_host(r, address) || is_managed(r.arena.find(address)))) return kInvalidValue;
    *out = pointer;
    return kSuccess;
  });
}

int cudaHostGetFlags(unsigned* flags, void* pointer) {
  return call([&](Runtime& r) -> int {
    const auto known = flags_of_host(r, reinterpret_cast<std::uint64_t>(pointer));
    if (!flags || !known) return kInvalidValue;
    *flags = *known;
    return kSuccess;
  });
}

int cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  return call([&](Runtime& r) -> int {
    if (free) *free = r.arena.free_bytes(current_device());
    if (total) *total = r.arena.capacity();
    return kSuccess;
  });
}

int cudaPointerGetAttributes(PointerAttributes* out, const void* pointer) {
  return call([&](Runtime& r) -> int {
    if (!out) return kInvalidValue;
    *out = {};
    const cuda::Allocation* block = r.arena.find(reinterpret_cast<std::uint64_t>(pointer));
    if (!block) {  // memory of the program: what it registered is as page-locked memory, other is no error since CUDA 11
      const bool registered = r.code.in_host_range(reinterpret_cast<std::uint64_t>(pointer));
      out->type = registered ? 1 : 0;
      out->device = registered ? static_cast<int>(current_device()) : -2;
      out->device_pointer = registered ? const_cast<void*>(pointer) : nullptr;
      out->host_pointer = const_cast<void*>(pointer);
      return kSuccess;
    }
    const bool host = block->kind != cuda::MemoryKind::device;
    const unsigned owner = r.arena.device_of(block->address);
    out->device = static_cast<int>(owner < r.devices ? owner : current_device());
    out->type = block->kind == cuda::MemoryKind::device ? 2 : block->kind == cuda::MemoryKind::managed ? 3 : 1;
    out->device_pointer = const_cast<void*>(pointer);
    out->host_pointer = host ? const_cast<void*>(pointer) : nullptr;
    return kSuccess;
  });
}

// Hints about where managed memory should be: there is one memory here. Other memory has none, as the device says that it
// cannot use pageable memory (cudaDevAttrPageableMemoryAccess).
int cudaMemAdvise(const void* pointer, std::size_t size, int advice, MemoryLocation where) {
  return call([&](Runtime& r) -> int {
    if (advice < kSetReadMostly || advice > kUnsetAccessedBy || !takes_hints(r, pointer, size)) return kInvalidValue;
    const bool asks_where = advice == kSetPreferredLocation || advice >= kSetAccessedBy;
    return asks_where ? known_location(r, where) : int{kSuccess};
  });
}

int cudaMemPrefetchAsync(const void* pointer, std::size_t size, MemoryLocation where, unsigned flags, void* stream) {
  return call([&](Runtime& r) -> int {
    if (!is_stream(r, stream)) return kInvalidResourceHandle;
    if (flags != 0 || !takes_hints(r, pointer, size)) return kInvalidValue;
    return known_location(r, where);
  });
}
int cudaStreamAttachMemAsync(void*, void*, std::size_t, unsigned) { return kSuccess; }

}  // extern "C"
}  // namespace atl::cudart
