#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>

#include "inputs/cuda/runtime/driver.hpp"

// Memory in the driver API: as in the runtime's, with addresses as numbers.
namespace atl::cudart {

extern "C" {
int atoll_cuda_unsupported(const char* name);
int cudaMalloc(void** out, std::size_t size);
int cudaMallocPitch(void** out, std::size_t* pitch, std::size_t width, std::size_t height);
int cudaMallocManaged(void** out, std::size_t size, unsigned flags);
int cudaMallocHost(void** out, std::size_t size);
int cudaMallocAsync(void** out, std::size_t size, void* stream);
int cudaFree(void* at);
int cudaFreeAsync(void* at, void* stream);
int cudaFreeHost(void* at);
int cudaHostAlloc(void** out, std::size_t size, unsigned flags);
int cudaHostGetFlags(unsigned* flags, void* at);
int cudaHostGetDevicePointer(void** out, void* host, unsigned flags);
int cudaHostRegister(void* at, std::size_t size, unsigned flags);
int cudaHostUnregister(void* at);
int cudaMemAdvise(const void* pointer, std::size_t size, int advice, MemoryLocation where);
int cudaMemGetInfo(std::size_t* free, std::size_t* total);
int cudaMemPrefetchAsync(const void* pointer, std::size_t size, MemoryLocation where, unsigned flags, void* stream);
int cudaMemcpy(void* to, const void* from, std::size_t size, int kind);
int cudaMemcpyAsync(void* to, const void* from, std::size_t size, int kind, void* stream);
int cudaMemcpyPeer(void* to, int to_device, const void* from, int from_device, std::size_t size);
int cudaPointerGetAttributes(PointerAttributes* out, const void* pointer);
}

namespace {

using DevicePointer = std::uint64_t;

void* pointer(DevicePointer address) { return reinterpret_cast<void*>(address); }

int set(void* stream, const SetWork& work) {
  return call([&](Runtime& r) {
    Capture* capture = r.graphs.capture_of(stream);
    const InStream in(r, stream);
    return capture ? r.graphs.add(*capture, stream, NodeType::set, work) : set_elements(r, work);
  });
}

/// As the hints of older versions name it.
MemoryLocation location_of(int device) {
  constexpr int kCpu = -1;  // CU_DEVICE_CPU
  return device == kCpu ? MemoryLocation{kOnHost, 0} : MemoryLocation{kOnDevice, device};
}

/// CUpointer_attribute.
enum PointerAttribute : int {
  kContext = 1,
  kMemoryType = 2,
  kDevicePointer = 3,
  kHostPointer = 4,
  kWaitsForCopies = 6,
  kBufferId = 7,
  kIsManaged = 8,
  kOrdinal = 9,
  kLegacyIpc = 10,
  kRangeStart = 11,
  kRangeSize = 12,
  kMapped = 13,
  kHandleTypes = 14,
  kDirectRdma = 15,
  kAccessFlags = 16,
  kPool = 17,
  kMappingSize = 18,
  kMappingBase = 19,
  kBlockId = 20,
};

/// What cuPointerGetAttributes gives where an attribute does not apply: zero, of the attribute's size.
void clear(void* out, int attribute) {
  constexpr int kWords[] = {kMemoryType, kWaitsForCopies, kIsManaged,  kOrdinal,
                            kLegacyIpc,  kMapped,         kDirectRdma, kAccessFlags};
  const bool word = std::find(std::begin(kWords), std::end(kWords), attribute) != std::end(kWords);
  std::memset(out, 0, word ? sizeof(unsigned) : sizeof(std::uint64_t));
}

int pointer_attribute(Runtime& r, void* out, int attribute, DevicePointer address) {
  const cuda::Allocation* block = r.arena.find(address);
  if (!block && !r.code.in_host_range(address)) return kInvalidValue;
  const auto give = [&](auto value) { return std::memcpy(out, &value, sizeof value), kSuccess; };
  const bool host = !block || block->kind == cuda::MemoryKind::host;
  const unsigned owner = r.arena.device_of(address), device = owner < r.devices ? owner : current_device();
  switch (attribute) {
    case kContext:
      return give(primary_context(device));
    case kMemoryType:
      return give(host ? 1u : 2u);
    case kDevicePointer:
      return give(address);
    case kHostPointer:
      return host || block->kind == cuda::MemoryKind::managed ? give(address) : int{kInvalidValue};
    case kBufferId:
    case kBlockId:
      return give(block ? block->ordinal + 1 : std::uint64_t{0});
    case kIsManaged:
      return give(block && block->kind == cuda::MemoryKind::managed ? 1u : 0u);
    case kOrdinal:
      return give(static_cast<int>(device));
    case kRangeStart:
    case kMappingBase:
      return give(block ? block->address : address);
    case kRangeSize:
    case kMappingSize:
      return give(block ? block->size : std::uint64_t{0});
    case kMapped:
      return give(1u);
    case kAccessFlags:
      return give(3u);  // reads and writes
    case kWaitsForCopies:
    case kLegacyIpc:
    case kDirectRdma:
      return give(0u);
    case kHandleTypes:
    case kPool:
      return give(std::uint64_t{0});
    default:
      return atoll_cuda_unsupported(("cuPointerGetAttribute of attribute " + std::to_string(attribute)).c_str());
  }
}

}  // namespace

extern "C" {

int cuMemAlloc_v2(DevicePointer* out, std::size_t size) {
  return driver_call([&](Runtime&) { return size ? cudaMalloc(reinterpret_cast<void**>(out), size) : int{kInvalidValue}; });
}

int cuMemAllocPitch_v2(DevicePointer* out, std::size_t* pitch, std::size_t width, std::size_t height, unsigned) {
  return driver_call([&](Runtime&) { return cudaMallocPitch(reinterpret_cast<void**>(out), pitch, width, height); });
}

int cuMemAllocManaged(DevicePointer* out, std::size_t size, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaMallocManaged(reinterpret_cast<void**>(out), size, flags); });
}

int cuMemAllocHost_v2(void** out, std::size_t size) {
  return driver_call([&](Runtime&) { return cudaMallocHost(out, size); });
}

int cuMemHostAlloc(void** out, std::size_t size, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaHostAlloc(out, size, flags); });
}

int cuMemHostGetFlags(unsigned* flags, void* at) {
  return driver_call([&](Runtime&) { return cudaHostGetFlags(flags, at); });
}

int cuMemAllocAsync(DevicePointer* out, std::size_t size, void* stream) {
  return driver_call([&](Runtime&) { return cudaMallocAsync(reinterpret_cast<void**>(out), size, stream); });
}

int cuMemFree_v2(DevicePointer at) {
  return driver_call([&](Runtime&) { return cudaFree(pointer(at)); });
}

int cuMemFreeAsync(DevicePointer at, void* stream) {
  return driver_call([&](Runtime&) { return cudaFreeAsync(pointer(at), stream); });
}

int cuMemFreeHost(void* at) {
  return driver_call([&](Runtime&) { return cudaFreeHost(at); });
}

int cuMemHostGetDevicePointer_v2(DevicePointer* out, void* host, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaHostGetDevicePointer(reinterpret_cast<void**>(out), host, flags); });
}

int cuMemHostRegister_v2(void* at, std::size_t size, unsigned flags) {
  return driver_call([&](Runtime&) { return cudaHostRegister(at, size, flags); });
}

int cuMemHostUnregister(void* at) {
  return driver_call([&](Runtime&) { return cudaHostUnregister(at); });
}

int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
  return driver_call([&](Runtime&) { return cudaMemGetInfo(free, total); });
}

int cuMemcpy(DevicePointer to, DevicePointer from, std::size_t size) {
  return driver_call([&](Runtime&) { return cudaMemcpy(pointer(to), pointer(from), size, kDefaultCopy); });
}

int cuMemcpyHtoD_v2(DevicePointer to, const void* from, std::size_t size) {
  return driver_call([&](Runtime&) { return cudaMemcpy(pointer(to), from, size, kHostToDevice); });
}

int cuMemcpyDtoH_v2(void* to, DevicePointer from, std::size_t size) {
  return driver_call([&](Runtime&) { return cudaMemcpy(to, pointer(from), size, kDeviceToHost); });
}

int cuMemcpyDtoD_v2(DevicePointer to, DevicePointer from, std::size_t size) {
  return driver_call([&](Runtime&) { return cudaMemcpy(pointer(to), pointer(from), size, kDeviceToDevice); });
}

int cuMemcpyPeer(DevicePointer to, void*, DevicePointer from, void*, std::size_t size) {
  return driver_call([&](Runtime& r) -> int {
    const unsigned target = r.arena.device_of(to), source = r.arena.device_of(from);
    if (target >= r.devices || source >= r.devices) return kInvalidValue;
    return cudaMemcpyPeer(pointer(to), static_cast<int>(target), pointer(from), static_cast<int>(source), size);
  });
}

int cuMemcpyPeerAsync(DevicePointer to, void*, DevicePointer from, void*, std::size_t size, void* stream) {
  return driver_call([&](Runtime&) { return cudaMemcpyAsync(pointer(to), pointer(from), size, kDeviceToDevice, stream); });
}

int cuMemcpyAsync(DevicePointer to, DevicePointer from, std::size_t size, void* stream) {
  return driver_call([&](Runtime&) { return cudaMemcpyAsync(pointer(to), pointer(from), size, kDefaultCopy, stream); });
}

int cuMemcpyHtoDAsync_v2(DevicePointer to, const void* from, std::size_t size, void* stream) {
  return driver_call([&](Runtime&) { return cudaMemcpyAsync(pointer(to), from, size, kHostToDevice, stream); });
}

int cuMemcpyDtoHAsync_v2(void* to, DevicePointer from, std::size_t size, void* stream) {
  return driver_call([&](Runtime&) { return cudaMemcpyAsync(to, pointer(from), size, kDeviceToHost, stream); });
}

int cuMemcpyDtoDAsync_v2(DevicePointer to, DevicePointer from, std::size_t size, void* stream) {
  return driver_call([&](Runtime&) { return cudaMemcpyAsync(pointer(to), pointer(from), size, kDeviceToDevice, stream); });
}

int cuMemsetD8_v2(DevicePointer to, unsigned char value, std::size_t count) {
  return driver_call([&](Runtime&) { return set(nullptr, {pointer(to), count * 1, value, 1, count, 1}); });
}

int cuMemsetD8Async(DevicePointer to, unsigned char value, std::size_t count, void* stream) {
  return driver_call([&](Runtime&) { return set(stream, {pointer(to), count * 1, value, 1, count, 1}); });
}

int cuMemsetD2D8_v2(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height) {
  return driver_call([&](Runtime&) { return set(nullptr, {pointer(to), pitch, value, 1, width, height}); });
}

int cuMemsetD2D8Async(DevicePointer to, std::size_t pitch, unsigned char value, std::size_t width, std::size_t height,
                      void* stream) {
  return driver_call([&](Runtime&) { return set(stream, {pointer(to), pitch, value, 1, width, height}); });
}

int cuMemsetD16_v2(DevicePointer to, unsigned short value, std::size_t count) {
  return driver_call([&](Runtime&) { return set(nullptr, {pointer(to), count * 2, value, 2, count, 1}); });
}

int cuMemsetD16Async(DevicePointer to, unsigned short value, std::size_t count, void* stream) {
  return driver_call([&](Runtime&) { return set(stream, {pointer(to), count * 2, value, 2, count, 1}); });
}

int cuMemsetD2D16_v2(DevicePointer to, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height) {
  return driver_call([&](Runtime&) { return set(nullptr, {pointer(to), pitch, value, 2, width, height}); });
}

int cuMemsetD2D16Async(DevicePointer to, std::size_t pitch, unsigned short value, std::size_t width, std::size_t height,
                       void* stream) {
  return driver_call([&](Runtime&) { return set(stream, {pointer(to), pitch, value, 2, width, height}); });
}

int cuMemsetD32_v2(DevicePointer to, unsigned value, std::size_t count) {
  return driver_call([&](Runtime&) { return set(nullptr, {pointer(to), count * 4, value, 4, count, 1}); });
}

int cuMemsetD32Async(DevicePointer to, unsigned value, std::size_t count, void* stream) {
  return driver_call([&](Runtime&) { return set(stream, {pointer(to), count * 4, value, 4, count, 1}); });
}

int cuMemsetD2D32_v2(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height) {
  return driver_call([&](Runtime&) { return set(nullptr, {pointer(to), pitch, value, 4, width, height}); });
}

int cuMemsetD2D32Async(DevicePointer to, std::size_t pitch, unsigned value, std::size_t width, std::size_t height,
                       void* stream) {
  return driver_call([&](Runtime&) { return set(stream, {pointer(to), pitch, value, 4, width, height}); });
}

int cuMemGetAddressRange_v2(DevicePointer* base, std::size_t* size, DevicePointer at) {
  return driver_call([&](Runtime& r) -> int {
    const cuda::Allocation* block = r.arena.find(at);
    if (!block) return kDriverNotFound;
    if (base) *base = block->address;
    if (size) *size = block->size;
    return kSuccess;
  });
}

int cuPointerGetAttribute(void* out, int attribute, DevicePointer at) {
  return driver_call([&](Runtime& r) -> int { return out ? pointer_attribute(r, out, attribute, at) : int{kInvalidValue}; });
}

/// What does not apply to a pointer is no error here.
int cuPointerGetAttributes(unsigned count, const int* attributes, void** out, DevicePointer at) {
  return driver_call([&](Runtime& r) -> int {
    if (!attributes || !out) return kInvalidValue;
    for (unsigned i = 0; i < count; ++i)
      if (pointer_attribute(r, out[i], attributes[i], at) != kSuccess) clear(out[i], attributes[i]);
    return kSuccess;
  });
}

int cuMemAdvise_v2(DevicePointer at, std::size_t size, int advice, MemoryLocation where) {
  return driver_call([&](Runtime&) { return cudaMemAdvise(pointer(at), size, advice, where); });
}

int cuMemAdvise(DevicePointer at, std::size_t size, int advice, int device) {
  return cuMemAdvise_v2(at, size, advice, location_of(device));
}

int cuMemPrefetchAsync_v2(DevicePointer at, std::size_t size, MemoryLocation where, unsigned flags, void* stream) {
  return driver_call([&](Runtime&) { return cudaMemPrefetchAsync(pointer(at), size, where, flags, stream); });
}

int cuMemPrefetchAsync(DevicePointer at, std::size_t size, int device, void* stream) {
  return cuMemPrefetchAsync_v2(at, size, location_of(device), 0, stream);
}

}  // extern "C"
}  // namespace atl::cudart
