#include <algorithm>
#include <optional>

#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/driver.hpp"

// Arrays, their copies, texture and surface objects in the driver API: the runtime's, described in other words.
namespace atl::cudart {

extern "C" {
int cudaMalloc3DArray(void** out, const ChannelFormat* format, Extent extent, unsigned flags);
int cudaFreeArray(void* handle);
int cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, void* handle);
int cudaMemcpyToArray(void* to, std::size_t x, std::size_t y, const void* from, std::size_t count, int kind);
int cudaMemcpyFromArray(void* to, const void* from, std::size_t x, std::size_t y, std::size_t count, int kind);
int cudaCreateTextureObject(unsigned long long* out, const Resource* resource, const TextureDescription* d,
                            const ResourceView* view);
int cudaDestroyTextureObject(unsigned long long handle);
int cudaCreateSurfaceObject(unsigned long long* out, const Resource* resource);
int cudaDestroySurfaceObject(unsigned long long handle);
}

namespace {

/// CUDA_ARRAY_DESCRIPTOR and CUDA_ARRAY3D_DESCRIPTOR.
struct ArrayDescriptor {
  std::size_t width, height;
  int format;
  unsigned channels;
};
struct Array3DDescriptor {
  std::size_t width, height, depth;
  int format;
  unsigned channels, flags;
};
static_assert(sizeof(ArrayDescriptor) == 24 && sizeof(Array3DDescriptor) == 40);

/// CUarray_format.
struct FormatOf {
  int number, bits, kind;
};
constexpr FormatOf kFormats[] = {{0x01, 8, 1},  {0x02, 16, 1}, {0x03, 32, 1}, {0x08, 8, 0},
                                 {0x09, 16, 0}, {0x0a, 32, 0}, {0x10, 16, 2}, {0x20, 32, 2}};

std::optional<ChannelFormat> channel_format(int number, unsigned channels) {
  if (channels != 1 && channels != 2 && channels != 4) return {};
  for (const FormatOf& f : kFormats)
    if (f.number == number)
      return ChannelFormat{f.bits, channels > 1 ? f.bits : 0, channels > 2 ? f.bits : 0, channels > 2 ? f.bits : 0, f.kind};
  return {};
}

void describe(const ChannelFormat& format, int& number, unsigned& channels) {
  for (const FormatOf& f : kFormats)
    if (f.bits == format.x && f.kind == format.kind) number = f.number;
  channels = static_cast<unsigned>(1 + (format.y > 0) + (format.z > 0) + (format.w > 0));
}

int create(void** out, const Array3DDescriptor& d) {
  const auto format = channel_format(d.format, d.channels);
  return format ? cudaMalloc3DArray(out, &*format, {d.width, d.height, d.depth}, d.flags) : int{kInvalidValue};
}

/// CUDA_RESOURCE_DESC.
struct DriverResource {
  int type;  // as the runtime's
  union {
    Array* array;
    struct {
      std::uint64_t address;
      int format;
      unsigned channels;
      std::size_t bytes;
    } linear;
    struct {
      std::uint64_t address;
      int format;
      unsigned channels;
      std::size_t width, height, pitch;
    } pitched;
    int reserved[32];
  };
  unsigned flags;
};
static_assert(sizeof(DriverResource) == 144);

/// CUDA_TEXTURE_DESC.
struct DriverTexture {
  int address_mode[3], filter;
  unsigned flags, anisotropy;
  int mipmap_filter;
  float mipmap_bias, mipmap_min, mipmap_max, border[4];
  int reserved[12];
};
static_assert(sizeof(DriverTexture) == 104);
enum TextureFlag : unsigned { kReadAsInteger = 1, kNormalisedCoordinates = 2, kSrgb = 16, kSeamlessCube = 64 };

enum ResourceKind : int { kArray = 0, kLinear = 2, kPitched = 3 };

std::optional<Resource> resource_of(const DriverResource& d) {
  Resource r{};
  r.type = d.type;
  if (d.type == kArray) {
    r.array = d.array;
    return r;
  }
  if (d.type != kLinear && d.type != kPitched) return {};
  const auto format = channel_format(d.linear.format, d.linear.channels);  // of a pitched one at the same place
  if (!format) return {};
  void* const begin = reinterpret_cast<void*>(d.linear.address);
  if (d.type == kLinear)
    r.linear = {begin, *format, d.linear.bytes};
  else
    r.pitched = {begin, *format, d.pitched.width, d.pitched.height, d.pitched.pitch};
  return r;
}

/// Of the first component of a texel.
int bits_of(Runtime& known, const Resource& r) {
  if (r.type != kArray) return r.linear.format.x;
  return known.arrays.contains(reinterpret_cast<std::uintptr_t>(r.array)) ? r.array->format.x : 0;
}

/// CUDA_MEMCPY2D and CUDA_MEMCPY3D. Positions and the extent are in bytes.
struct Side2D {
  std::size_t x, y;
  int type;
  void* host;
  std::uint64_t device;
  Array* array;
  std::size_t pitch;
};
struct Copy2DWork {
  Side2D from, to;
  std::size_t width, height;
};
struct Side3D {
  std::size_t x, y, z, level;
  int type;
  void* host;
  std::uint64_t device;
  Array* array;
  void* reserved;
  std::size_t pitch, height;
};
struct Copy3DWork {
  Side3D from, to;
  std::size_t width, height, depth;
};
static_assert(sizeof(Copy2DWork) == 128 && sizeof(Copy3DWork) == 200);
enum MemoryType : int { kHostMemory = 1, kArrayMemory = 3 };

Side3D with_depth(const Side2D& s) { return {s.x, s.y, 0, 0, s.type, s.host, s.device, s.array, nullptr, s.pitch, 0}; }

/// The runtime counts texels where an array takes part. None: bytes that are no whole texels, or a mipmap's level.
std::optional<Copy3D> box_of(const Copy3DWork& p) {
  const auto texel = [](const Side3D& s) { return s.type == kArrayMemory && s.array ? s.array->format.bytes() : 0u; };
  const std::size_t unit = std::max({1u, texel(p.from), texel(p.to)});
  if (p.from.level != 0 || p.to.level != 0 || p.width % unit != 0) return {};
  Copy3D box{};
  box.extent = {p.width / unit, p.height, p.depth};
  box.kind = kDefaultCopy;
  const auto put = [&](const Side3D& s, Array*& array, Position& at, PitchedPointer& plain) {
    if (s.type == kArrayMemory) {
      array = s.array, at = {s.x / unit, s.y, s.z};
      return array && s.x % unit == 0;
    }
    plain.pointer = s.type == kHostMemory ? s.host : reinterpret_cast<void*>(s.device);
    plain.pitch = s.pitch ? s.pitch : p.width, plain.height = s.height ? s.height : p.height;
    at = {s.x, s.y, s.z};
    return true;
  };
  if (!put(p.from, box.from_array, box.from_position, box.from) || !put(p.to, box.to_array, box.to_position, box.to))
    return {};
  return box;
}

int copy(void* stream, const Copy3DWork& p) {
  return call([&](Runtime& r) -> int {
    for (const Side3D* s : {&p.from, &p.to})
      if (s->type == kArrayMemory && !r.arrays.contains(reinterpret_cast<std::uintptr_t>(s->array)))
        return kInvalidResourceHandle;
    const auto box = box_of(p);
    if (!box) return kInvalidValue;
    Capture* capture = r.graphs.capture_of(stream);
    const InStream in(r, stream);
    return capture ? r.graphs.add(*capture, stream, NodeType::copy, *box) : copy_box(r, *box);
  });
}

int copy(void* stream, const Copy2DWork* p) {
  return driver_call([&](Runtime&) {
    return p ? copy(stream, Copy3DWork{with_depth(p->from), with_depth(p->to), p->width, p->height, 1}) : int{kInvalidValue};
  });
}

}  // namespace

extern "C" {

int cuArrayCreate_v2(void** out, const ArrayDescriptor* d) {
  return driver_call([&](Runtime&) {
    return d ? create(out, {d->width, d->height, 0, d->format, d->channels, 0}) : int{kInvalidValue};
  });
}

int cuArray3DCreate_v2(void** out, const Array3DDescriptor* d) {
  return driver_call([&](Runtime&) { return d ? create(out, *d) : int{kInvalidValue}; });
}

int cuArrayDestroy(void* array) {
  return driver_call([&](Runtime&) { return cudaFreeArray(array); });
}

int cuArray3DGetDescriptor_v2(Array3DDescriptor* out, void* array) {
  return driver_call([&](Runtime&) -> int {
    ChannelFormat format;
    Extent extent;
    unsigned flags = 0;
    if (!out) return kInvalidValue;
    if (const int status = cudaArrayGetInfo(&format, &extent, &flags, array); status != kSuccess) return status;
    *out = {extent.width, extent.height, extent.depth, 0, 0, flags};
    describe(format, out->format, out->channels);
    return kSuccess;
  });
}

int cuArrayGetDescriptor_v2(ArrayDescriptor* out, void* array) {
  Array3DDescriptor d;
  const int status = out ? cuArray3DGetDescriptor_v2(&d, array) : int{kDriverInvalidValue};
  if (status == 0) *out = {d.width, d.height, d.format, d.channels};
  return status;
}

int cuMemcpyHtoA_v2(void* to, std::size_t offset, const void* from, std::size_t size) {
  return driver_call([&](Runtime&) { return cudaMemcpyToArray(to, offset, 0, from, size, kHostToDevice); });
}

int cuMemcpyAtoH_v2(void* to, void* from, std::size_t offset, std::size_t size) {
  return driver_call([&](Runtime&) { return cudaMemcpyFromArray(to, from, offset, 0, size, kDeviceToHost); });
}

int cuMemcpyDtoA_v2(void* to, std::size_t offset, std::uint64_t from, std::size_t size) {
  return driver_call([&](Runtime&) {
    return cudaMemcpyToArray(to, offset, 0, reinterpret_cast<const void*>(from), size, kDeviceToDevice);
  });
}

int cuMemcpyAtoD_v2(std::uint64_t to, void* from, std::size_t offset, std::size_t size) {
  return driver_call(
      [&](Runtime&) { return cudaMemcpyFromArray(reinterpret_cast<void*>(to), from, offset, 0, size, kDeviceToDevice); });
}

int cuMemcpy2D_v2(const Copy2DWork* p) { return copy(nullptr, p); }
int cuMemcpy2DUnaligned_v2(const Copy2DWork* p) { return copy(nullptr, p); }
int cuMemcpy2DAsync_v2(const Copy2DWork* p, void* stream) { return copy(stream, p); }

int cuMemcpy3DAsync_v2(const Copy3DWork* p, void* stream) {
  return driver_call([&](Runtime&) { return p ? copy(stream, *p) : int{kInvalidValue}; });
}

int cuMemcpy3D_v2(const Copy3DWork* p) { return cuMemcpy3DAsync_v2(p, nullptr); }

int cuTexObjectCreate(unsigned long long* out, const DriverResource* resource, const DriverTexture* d,
                      const ResourceView* view) {
  return driver_call([&](Runtime& known) -> int {
    if (!resource || !d) return kInvalidValue;
    const auto r = resource_of(*resource);
    if (!r) return kInvalidValue;
    TextureDescription t{};
    std::copy_n(d->address_mode, 3, t.address_mode);
    std::copy_n(d->border, 4, t.border);
    // Integers of 32 bits are read as they are in any case (cuda.h).
    const bool as_it_is = (d->flags & kReadAsInteger) != 0 || bits_of(known, *r) == 32;
    t.filter = d->filter, t.read_mode = as_it_is ? 0 : 1;
    t.normalised_coordinates = (d->flags & kNormalisedCoordinates) != 0 ? 1 : 0;
    t.srgb = (d->flags & kSrgb) != 0 ? 1 : 0;
    t.seamless_cubemap = (d->flags & kSeamlessCube) != 0 ? 1 : 0;
    return cudaCreateTextureObject(out, &*r, &t, view);
  });
}

int cuTexObjectDestroy(unsigned long long handle) {
  return driver_call([&](Runtime&) { return cudaDestroyTextureObject(handle); });
}

int cuSurfObjectCreate(unsigned long long* out, const DriverResource* resource) {
  return driver_call([&](Runtime&) -> int {
    const auto r = resource ? resource_of(*resource) : std::nullopt;
    return r ? cudaCreateSurfaceObject(out, &*r) : int{kInvalidValue};
  });
}

int cuSurfObjectDestroy(unsigned long long handle) {
  return driver_call([&](Runtime&) { return cudaDestroySurfaceObject(handle); });
}

}  // extern "C"
}  // namespace atl::cudart
