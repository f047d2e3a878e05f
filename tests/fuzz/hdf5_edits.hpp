#pragma once
#include <cstddef>
#include <string>

namespace atl::fuzz {

/// A copy of the HDF5 file `sound`, beside it, to which a script is applied. So an input is a few bytes, the file it damages
/// comes from today's writer, and the fuzzer changes values and extents behind the checksums as easily as raw bytes.
///
/// The script is a list of (u8 operation, u8 object, operands), little-endian; objects are those of the file in the order of
/// H5Ovisit, counted modulo their number. Operations modulo 8:
///
///     0  u32 offset, u8 byte: a raw byte of the file
///     1  u32 offset, u64 value: eight raw bytes
///     2  u32 size: the file is cut there
///     3  u32 index, u64 value: an element of the dataset
///     4  u64 extent: of the dataset's first dimension, if it is chunked
///     5  the object is unlinked
///     6  u8 attribute, u8 type, u8 extent, u64 value: the attribute is replaced
///     7  u8 type, u8 rank, u64 first extent, u64 further extents: the dataset is replaced by one without data
///
/// Raw operations count offsets from the end of the file's signature. A script with any of 3 to 7 has no raw ones done: the
/// library writes a file anew, with right checksums.
std::string damaged_copy(const std::string& sound, const unsigned char* script, std::size_t size);

/// No file, group, dataset or attribute is open: what a reader opened it has closed, also if it refused the file.
bool all_closed();

}  // namespace atl::fuzz
