#include <cstring>

#include "inputs/cuda/runtime/copy.hpp"
#include "inputs/cuda/runtime/runtime.hpp"
#include "inputs/cuda/runtime/traffic.hpp"

// A device address is the host address of its bytes, so the direction of a copy changes nothing but its check: a range
// that begins inside the arena must lie in one block.
namespace atl::cudart {

bool in_one_block(const Runtime& r, const void* pointer, std::size_t size) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (!r.arena.in_arena(address)) return pointer != nullptr;
  // Blocks that follow each other without a gap are memory that was mapped piece by piece.
  for (std::uint64_t at = address;;) {
    const cuda::Allocation* block = r.arena.find(at);
    if (!block) return false;
    at = block->address + block->size;
    if (size <= at - address) return true;
  }
}

bool rows_in_one_block(const Runtime& r, Rows rows, std::size_t width, std::size_t height) {
  std::size_t size = 0;  // one that wraps around would fit into any block
  if (__builtin_mul_overflow(height - 1, rows.pitch, &size) || __builtin_add_overflow(size, width, &size)) return false;
  return in_one_block(r, rows.begin, size);
}

bool reachable(const Runtime& r, const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  return r.arena.in_arena(address) || r.code.in_host_range(address);
}

namespace {

/// Bytes from which on it pays to take memory where it is touched only, which costs a fault for each page: pools of a
/// program that manages its memory itself.
constexpr std::size_t kZeroedByPages = std::size_t{64} << 20;

int copy_now(Runtime& r, void* to, const void* from, std::size_t size) {
  std::memmove(to, from, size);
  Traffic traffic(r);
  traffic.add(to, from, size);
  return traffic.end(kSuccess);
}

}  // namespace

void settle_pageable(Runtime& r, const void* to, const void* from) {
  if (!r.backlog.idle() && (!reachable(r, to) || !reachable(r, from)))
    r.backlog.finish(r, r.backlog.before(r, InStream::now()));
}

int copy_bytes(Runtime& r, void* to, const void* from, std::size_t size, int kind) {
  if (size == 0) return kSuccess;
  if (kind < kHostToHost || kind > kDefaultCopy) return kInvalidMemcpyDirection;
  if ((kind == kHostToDevice || kind == kDeviceToDevice) && !reachable(r, to)) return kInvalidValue;
  if ((kind == kDeviceToHost || kind == kDeviceToDevice) && !reachable(r, from)) return kInvalidValue;
  if (!in_one_block(r, to, size) || !in_one_block(r, from, size)) return kInvalidValue;
  if (r.backlog.idle()) return copy_now(r, to, from, size);
  if (reachable(r, to) && !reachable(r, from) && !InStream::now().waits) {
    // Pageable memory is the program's again when the call returns.
    const auto* bytes = static_cast<const char*>(from);
    return r.backlog.in_turn(r, [=, kept = std::vector<char>(bytes, bytes + size)](Runtime& now) {
      return copy_now(now, to, kept.data(), size);
    });
  }
  settle_pageable(r, to, from);
  return r.backlog.in_turn(r, [=](Runtime& now) { return copy_now(now, to, from, size); });
}

int copy_rows(Runtime& r, Rows to, Rows from, std::size_t width, std::size_t height, int kind) {
  if (width == 0 || height == 0) return kSuccess;
  if (width > to.pitch || width > from.pitch) return kInvalidPitchValue;
  settle_pageable(r, to.begin, from.begin);
  return r.backlog.in_turn(r, [=](Runtime& now) {
    Traffic traffic(now);
    for (std::size_t y = 0; y < height; ++y) {
      const int status = copy_bytes(now, to.begin + y * to.pitch, from.begin + y * from.pitch, width, kind);
      if (status != kSuccess) return status;
    }
    return traffic.end(kSuccess);
  });
}

int set_rows(Runtime& r, Rows to, int value, std::size_t width, std::size_t height) {
  if (width == 0 || height == 0) return kSuccess;
  if (height > 1 && width > to.pitch) return kInvalidValue;
  if (!reachable(r, to.begin) || !rows_in_one_block(r, to, width, height)) return kInvalidValue;
  return r.backlog.in_turn(r, [=](Runtime& now) -> int {
    for (std::size_t y = 0; y < height; ++y) {
      char* const row = to.begin + y * to.pitch;
      const auto address = reinterpret_cast<std::uint64_t>(row);
      if ((value & 0xFF) == 0 && width >= kZeroedByPages && now.arena.in_arena(address))
        cuda::DeviceArena::zero(address, width);
      else
        std::memset(row, value, width);
    }
    return kSuccess;
  });
}

extern "C" {

int cudaMemcpy(void* to, const void* from, std::size_t size, int kind) {
  return call([&](Runtime& r) { return copy_bytes(r, to, from, size, kind); });
}

int cudaMemcpyAsync(void* to, const void* from, std::size_t size, int kind, void* stream) {
  return call([&](Runtime& r) {
    Capture* capture = r.graphs.capture_of(stream);
    if (capture) return r.graphs.add(*capture, stream, NodeType::copy, line_copy(to, from, size, kind));
    const InStream in(r, stream);
    return copy_bytes(r, to, from, size, kind);
  });
}

int cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                 std::size_t height, int kind) {
  return call([&](Runtime& r) { return copy_rows(r, Rows(to, to_pitch), Rows(from, from_pitch), width, height, kind); });
}

int cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
                      std::size_t height, int kind, void* stream) {
  return call([&](Runtime& r) {
    Capture* capture = r.graphs.capture_of(stream);
    const InStream in(r, stream);
    if (!capture) return copy_rows(r, Rows(to, to_pitch), Rows(from, from_pitch), width, height, kind);
    return r.graphs.add(*capture, stream, NodeType::copy, rows_copy(to, to_pitch, from, from_pitch, width, height, kind));
  });
}

int cudaMemset(void* to, int value, std::size_t size) {
  return call([&](Runtime& r) -> int {
    const InStream in(r, nullptr);  // the program does not wait for it
    return set_rows(r, Rows(to, size), value, size, 1);
  });
}

int cudaMemsetAsync(void* to, int value, std::size_t size, void* stream) {
  return call([&](Runtime& r) {
    Capture* capture = r.graphs.capture_of(stream);
    const SetWork work{to, size, static_cast<unsigned>(value), 1, size, 1};
    const InStream in(r, stream);
    return capture ? r.graphs.add(*capture, stream, NodeType::set, work) : set_elements(r, work);
  });
}

int cudaMemset2D(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return call([&](Runtime& r) { return set_rows(r, Rows(to, pitch), value, width, height); });
}

int cudaMemset2DAsync(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height, void* stream) {
  return call([&](Runtime& r) {
    Capture* capture = r.graphs.capture_of(stream);
    const InStream in(r, stream);
    if (!capture) return set_rows(r, Rows(to, pitch), value, width, height);
    return r.graphs.add(*capture, stream, NodeType::set, SetWork{to, pitch, static_cast<unsigned>(value), 1, width, height});
  });
}

int cudaMemset3D(PitchedPointer to, int value, Extent extent) {
  return call([&](Runtime& r) -> int {
    std::size_t size = 0;  // of a plane
    if (__builtin_mul_overflow(to.pitch, to.height, &size)) return kInvalidValue;
    if (extent.depth > 1 && extent.width > to.pitch) return kInvalidValue;
    for (std::size_t z = 0; z < extent.depth; ++z) {
      const Rows plane(static_cast<char*>(to.pointer) + z * size, to.pitch);
      if (const int status = set_rows(r, plane, value, extent.width, extent.height); status != kSuccess) return status;
    }
    return kSuccess;
  });
}

int cudaMemset3DAsync(PitchedPointer to, int value, Extent extent, void* stream) {
  return in_stream(stream, NodeType::set, [=](Runtime&) { return cudaMemset3D(to, value, extent); });
}

}  // extern "C"
}  // namespace atl::cudart
