#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace atl::cuda {

using Bytes = std::span<const std::uint8_t>;

/// One zstd frame of exactly `in.size()` bytes that holds `size` bytes. Throws InputError(where) when it does not.
std::string decompress_zstd(Bytes in, std::size_t size, const std::string& where);

/// One LZ4 block (no frame) of exactly `in.size()` bytes that holds `size` bytes. Throws InputError(where).
std::string decompress_lz4_block(Bytes in, std::size_t size, const std::string& where);

}  // namespace atl::cuda
