#pragma once
#include <cstddef>

namespace atl::cudart {
struct Runtime;
struct Copy3D;

/// Bytes in rows, `pitch` apart.
struct Rows {
  char* begin;
  std::size_t pitch;
  Rows(const void* at, std::size_t row_pitch) : begin(static_cast<char*>(const_cast<void*>(at))), pitch(row_pitch) {}
};

/// Whether the range is free of guard gaps and freed memory. Memory of the program itself always is.
bool in_one_block(const Runtime& r, const void* pointer, std::size_t size);

/// Whether a kernel could use it, which memory sets ask for: memory of CUDA, or of the program that it has registered.
bool reachable(const Runtime& r, const void* pointer);

/// The same for rows of `width` bytes, of which the last may lack its padding.
bool rows_in_one_block(const Runtime& r, Rows rows, std::size_t width, std::size_t height);

/// Pageable memory may be used, and has what was copied to it, when a call returns that copies it: waits for the stream if
/// one of these is such memory.
void settle_pageable(Runtime& r, const void* to, const void* from);

/// Copies and fills, with the checks of the runtime; they return its status. They are made in the current stream, behind
/// what it waits for (backlog.hpp).
int copy_bytes(Runtime& r, void* to, const void* from, std::size_t size, int kind);
int copy_rows(Runtime& r, Rows to, Rows from, std::size_t width, std::size_t height, int kind);
/// Positions and the extent count texels as soon as one side is an array, else bytes.
int copy_box(Runtime& r, const Copy3D& box);
int set_rows(Runtime& r, Rows to, int value, std::size_t width, std::size_t height);

}  // namespace atl::cudart
