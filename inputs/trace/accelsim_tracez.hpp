#pragma once
#include <memory>
#include <string>

#include "inputs/trace/accelsim_source.hpp"

namespace atl::accelsim {

/// A .tracez file of Accel-Sim 2.0 as the text that its .traceg would have: header, then thread block by thread block in
/// the order of the file's index. Memory holds a part of a warp at a time, whatever the size of the trace. Throws
/// InputError naming the file, and the byte where it is damaged.
///
/// The file, all numbers little-endian: the header's text and a zero byte; u32 bytes of a zstd dictionary, u32 a hint, the
/// dictionary; per warp u32 instructions, u32 parts, and for each part u32 bytes and a zstd frame of lines; the index: u32
/// thread blocks, each with u32[10] of which the first three are its id and the others its cluster's, u32 warps, and per
/// warp u32 instructions, u32 parts, u64 offset, u32 instructions of each part; u64 offset of the index.
std::unique_ptr<ByteSource> open_tracez(const std::string& path);

}  // namespace atl::accelsim
