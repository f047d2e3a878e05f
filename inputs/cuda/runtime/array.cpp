#include <algorithm>

#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/cuda/runtime/traffic.hpp"

// CUDA arrays: rows of texels without padding, in the arena. The opaque handle is the address of our Array.
namespace atl::cudart {
namespace {

Array* known(Runtime& r, const void* handle) {
  const auto found = r.arrays.find(reinterpret_cast<std::uintptr_t>(handle));
  return found == r.arrays.end() ? nullptr : found->second.get();
}

/// cudaArrayLayered to cudaArrayDeferredMapping; arrays of layers and cubes have three dimensions.
enum ArrayFlags : unsigned { kLayersOrCubes = 0x05, kAllArrayFlags = 0xFF };

int make(Runtime& r, void** out, const ChannelFormat* format, Extent extent, unsigned flags) {
  if (!out || !format || extent.width == 0 || (flags & ~unsigned{kAllArrayFlags}) != 0) return kInvalidValue;
  const unsigned bytes = format->bytes();
  if (bytes == 0 || bytes > 16 || (bytes & (bytes - 1)) != 0) return kInvalidChannelDescriptor;
  auto array = std::make_unique<Array>(Array{*format, extent.width, extent.height, extent.depth, flags});
  std::size_t size = bytes;
  for (const std::size_t n : {extent.width, std::max<std::size_t>(extent.height, 1), std::max<std::size_t>(extent.depth, 1)})
    if (__builtin_mul_overflow(size, n, &size)) return kMemoryAllocation;
  array->address = r.code.allocate(size, cuda::MemoryKind::device, "CUDA array");
  if (array->address == 0) return kMemoryAllocation;
  *out = array.get();
  r.arrays[reinterpret_cast<std::uintptr_t>(array.get())] = std::move(array);
  return kSuccess;
}

char* texel(const Array& a, std::size_t x_bytes, std::size_t y, std::size_t z = 0) {
  const std::size_t rows = z * (a.height ? a.height : 1) + y;
  return reinterpret_cast<char*>(a.address) + rows * a.row_bytes() + x_bytes;
}

/// Whether `count` from `at` on are among `all`. A sum of what a program gives may wrap around.
bool fits(std::size_t at, std::size_t count, std::size_t all) { return count <= all && at <= all - count; }

bool inside(const Array& a, std::size_t x_bytes, std::size_t y, std::size_t width, std::size_t height) {
  return fits(x_bytes, width, a.row_bytes()) && fits(y, height, a.rows());
}

/// All of the box, in texels: beyond the end of a row begins the next one, which a copy must not reach.
bool inside(const Array& a, Position at, Extent extent) {
  return fits(at.x, extent.width, a.width) && fits(at.y, extent.height, std::max<std::size_t>(a.height, 1)) &&
         fits(at.z, extent.depth, std::max<std::size_t>(a.depth, 1));
}

/// A run of bytes that may go on over the ends of rows.
bool run_inside(const Array& a, std::size_t x_bytes, std::size_t y, std::size_t count) {
  return y <= a.rows() && x_bytes <= a.bytes() && fits(y * a.row_bytes() + x_bytes, count, a.bytes());
}

int copy_planes(Runtime& r, const Copy3D& p, const Array* from, const Array* to) {
  const std::size_t unit = from ? from->format.bytes() : to ? to->format.bytes() : 1;
  const std::size_t width = p.extent.width * unit;
  const auto rows = [&](const Array* a, Position at, const PitchedPointer& plain, std::size_t z) {
    if (a) return Rows(texel(*a, at.x * unit, at.y, at.z + z), a->row_bytes());
    const std::size_t line = (at.z + z) * plain.height + at.y;
    return Rows(static_cast<char*>(plain.pointer) + line * plain.pitch + at.x, plain.pitch);
  };
  Traffic traffic(r);
  for (std::size_t z = 0; z < p.extent.depth; ++z) {
    const Rows out = rows(to, p.to_position, p.to, z), in = rows(from, p.from_position, p.from, z);
    if (const int status = copy_rows(r, out, in, width, p.extent.height, p.kind); status != kSuccess) return status;
  }
  return traffic.end(kSuccess);
}

}  // namespace

int copy_box(Runtime& r, const Copy3D& p) {
  if (p.extent.width == 0 || p.extent.height == 0 || p.extent.depth == 0) return kSuccess;
  const Array* from = p.from_array ? known(r, p.from_array) : nullptr;
  const Array* to = p.to_array ? known(r, p.to_array) : nullptr;
  if ((p.from_array && !from) || (p.to_array && !to)) return kInvalidResourceHandle;
  if (from && to && from->format.bytes() != to->format.bytes()) return kInvalidValue;
  if ((from && !inside(*from, p.from_position, p.extent)) || (to && !inside(*to, p.to_position, p.extent)))
    return kInvalidValue;
  if (r.backlog.idle()) return copy_planes(r, p, from, to);
  settle_pageable(r, to ? texel(*to, 0, 0) : p.to.pointer, from ? texel(*from, 0, 0) : p.from.pointer);
  return r.backlog.in_turn(r, [=](Runtime& now) { return copy_planes(now, p, from, to); });
}

extern "C" {

ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return {x, y, z, w, kind}; }

int cudaMallocArray(void** out, const ChannelFormat* format, std::size_t width, std::size_t height, unsigned flags) {
  return call([&](Runtime& r) -> int {
    return (flags & kLayersOrCubes) == 0 ? make(r, out, format, {width, height, 0}, flags) : int{kInvalidValue};
  });
}

int cudaMalloc3DArray(void** out, const ChannelFormat* format, Extent extent, unsigned flags) {
  return call([&](Runtime& r) { return make(r, out, format, extent, flags); });
}

int cudaFreeArray(void* handle) {
  return call([&](Runtime& r) -> int {
    if (!handle) return kSuccess;
    const Array* a = known(r, handle);
    if (!a) return kInvalidResourceHandle;
    r.backlog.finish(r, r.backlog.of_device(current_device()));
    r.code.release(a->address);
    r.arrays.erase(reinterpret_cast<std::uintptr_t>(handle));
    return kSuccess;
  });
}

int cudaArrayGetInfo(ChannelFormat* format, Extent* extent, unsigned* flags, void* handle) {
  return call([&](Runtime& r) -> int {
    const Array* a = known(r, handle);
    if (!a) return kInvalidResourceHandle;
    if (format) *format = a->format;
    if (extent) *extent = {a->width, a->height, a->depth};
    if (flags) *flags = a->flags;
    return kSuccess;
  });
}

int cudaGetChannelDesc(ChannelFormat* out, const void* handle) {
  return cudaArrayGetInfo(out, nullptr, nullptr, const_cast<void*>(handle));
}

int cudaMemcpyToArray(void* to, std::size_t x, std::size_t y, const void* from, std::size_t count, int kind) {
  return call([&](Runtime& r) -> int {
    const Array* a = known(r, to);
    if (!a) return kInvalidResourceHandle;
    return run_inside(*a, x, y, count) ? copy_bytes(r, texel(*a, x, y), from, count, kind) : int{kInvalidValue};
  });
}

int cudaMemcpyToArrayAsync(void* to, std::size_t x, std::size_t y, const void* from, std::size_t count, int kind,
                           void* stream) {
  return in_stream(stream, NodeType::copy, [=](Runtime&) { return cudaMemcpyToArray(to, x, y, from, count, kind); });
}

int cudaMemcpyFromArray(void* to, const void* from, std::size_t x, std::size_t y, std::size_t count, int kind) {
  return call([&](Runtime& r) -> int {
    const Array* a = known(r, from);
    if (!a) return kInvalidResourceHandle;
    return run_inside(*a, x, y, count) ? copy_bytes(r, to, texel(*a, x, y), count, kind) : int{kInvalidValue};
  });
}

int cudaMemcpyFromArrayAsync(void* to, const void* from, std::size_t x, std::size_t y, std::size_t count, int kind,
                             void* stream) {
  return in_stream(stream, NodeType::copy, [=](Runtime&) { return cudaMemcpyFromArray(to, from, x, y, count, kind); });
}

int cudaMemcpy2DToArray(void* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
                        std::size_t height, int kind) {
  return call([&](Runtime& r) -> int {
    const Array* a = known(r, to);
    if (!a) return kInvalidResourceHandle;
    if (!inside(*a, x, y, width, height)) return kInvalidValue;
    return copy_rows(r, Rows(texel(*a, x, y), a->row_bytes()), Rows(from, pitch), width, height, kind);
  });
}

int cudaMemcpy2DToArrayAsync(void* to, std::size_t x, std::size_t y, const void* from, std::size_t pitch, std::size_t width,
                             std::size_t height, int kind, void* stream) {
  return in_stream(stream, NodeType::copy,
                   [=](Runtime&) { return cudaMemcpy2DToArray(to, x, y, from, pitch, width, height, kind); });
}

int cudaMemcpy2DFromArray(void* to, std::size_t pitch, const void* from, std::size_t x, std::size_t y, std::size_t width,
                          std::size_t height, int kind) {
  return call([&](Runtime& r) -> int {
    const Array* a = known(r, from);
    if (!a) return kInvalidResourceHandle;
    if (!inside(*a, x, y, width, height)) return kInvalidValue;
    return copy_rows(r, Rows(to, pitch), Rows(texel(*a, x, y), a->row_bytes()), width, height, kind);
  });
}

int cudaMemcpy2DFromArrayAsync(void* to, std::size_t pitch, const void* from, std::size_t x, std::size_t y,
                               std::size_t width, std::size_t height, int kind, void* stream) {
  return in_stream(stream, NodeType::copy,
                   [=](Runtime&) { return cudaMemcpy2DFromArray(to, pitch, from, x, y, width, height, kind); });
}

int cudaMemcpyArrayToArray(void* to, std::size_t to_x, std::size_t to_y, const void* from, std::size_t from_x,
                           std::size_t from_y, std::size_t count, int kind) {
  return call([&](Runtime& r) -> int {
    const Array *a = known(r, to), *b = known(r, from);
    if (!a || !b) return kInvalidResourceHandle;
    if (!run_inside(*a, to_x, to_y, count) || !run_inside(*b, from_x, from_y, count)) return kInvalidValue;
    return copy_bytes(r, texel(*a, to_x, to_y), texel(*b, from_x, from_y), count, kind);
  });
}

int cudaMemcpy2DArrayToArray(void* to, std::size_t to_x, std::size_t to_y, const void* from, std::size_t from_x,
                             std::size_t from_y, std::size_t width, std::size_t height, int kind) {
  return call([&](Runtime& r) -> int {
    const Array *a = known(r, to), *b = known(r, from);
    if (!a || !b) return kInvalidResourceHandle;
    if (!inside(*a, to_x, to_y, width, height) || !inside(*b, from_x, from_y, width, height)) return kInvalidValue;
    return copy_rows(r, Rows(texel(*a, to_x, to_y), a->row_bytes()), Rows(texel(*b, from_x, from_y), b->row_bytes()), width,
                     height, kind);
  });
}

int cudaMemcpy3D(const Copy3D* p) {
  return call([&](Runtime& r) { return p ? copy_box(r, *p) : int{kInvalidValue}; });
}

int cudaMemcpy3DAsync(const Copy3D* p, void* stream) {
  return call([&](Runtime& r) -> int {
    if (!p) return kInvalidValue;
    Capture* capture = r.graphs.capture_of(stream);
    const InStream in(r, stream);
    return capture ? r.graphs.add(*capture, stream, NodeType::copy, *p) : copy_box(r, *p);
  });
}

}  // extern "C"
}  // namespace atl::cudart
