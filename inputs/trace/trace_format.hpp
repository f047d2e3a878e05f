#pragma once
#include <cstdint>
#include <string>

/// Names and limits of the Atoll trace container, version 2. The schema is described in docs/traces.md.
namespace atl {

/// A device allocation or host-to-device copy that the traced program made.
struct TraceAllocation {
  std::uint64_t address = 0;  ///< device address, bytes
  std::uint64_t size = 0;     ///< bytes
  std::uint64_t ordinal = 0;  ///< n-th allocation of the program: its identity from run to run, where addresses differ
  std::string name;           ///< empty: not known
  bool operator==(const TraceAllocation&) const = default;
};

/// Where a trace comes from.
struct TraceProvenance {
  std::string source;       ///< what was traced: a path, a command line
  std::string importer;     ///< which program made the container, with its version
  std::string selection{};  ///< which part of what was traced it holds; empty: all of it
  std::string lacks{};      ///< of it, what a trace should hold and does not; empty: nothing that is known of
};

namespace trace_format {
inline constexpr char kFormat[] = "atoll-trace";
inline constexpr std::uint32_t kVersion = 2, kOldestVersion = 1;  ///< written; still read
inline constexpr std::uint64_t kOpsPerBlock = 1u << 15;        ///< a block is closed by the CTA that reaches this many ops
inline constexpr std::uint64_t kChunk = 1u << 15;              ///< elements per HDF5 chunk
inline constexpr std::uint64_t kCompactBytes = 512;            ///< a column up to this size is stored without a chunk
inline constexpr std::uint64_t kMaxBlockItems = 1u << 28;      ///< more ops or accesses in one block: the file is corrupt
inline constexpr unsigned kMaxAccesses = 64;                   ///< per op: 32 lanes, each at most across one block boundary
inline constexpr std::uint64_t kMaxBlockAddress = 1ull << 56;  ///< block addresses that Access can hold
inline constexpr std::uint64_t kAddressEnd = 1ull << 63;       ///< of the bytes that these are
inline constexpr std::uint32_t kMaxDevices = 64;               ///< of the program
inline constexpr std::uint64_t kLeastDeviceMemory = 2u << 20;  ///< of each: a page, so that none has two homes
/// Columns of the block index: what a block begins with. In version 1 each warp has a program of its own, and the index no
/// column of programs.
enum IndexColumn : unsigned { kCta, kWarp, kProgram, kOp, kAccess, kByte, kIndexColumns };
inline constexpr unsigned kMostDeflated = 1032;    ///< bytes that one deflated byte can become (zlib)
inline constexpr unsigned kCompression = 3;        ///< deflate, where nothing else is asked for
inline constexpr std::uint64_t kTableChunk = 512;  ///< elements; flushes write the last chunk until it is full
inline constexpr int kTableCompression = 6;        ///< deflate of tables, which are small

inline std::string kernel_group(std::size_t kernel) {
  const std::string digits = std::to_string(kernel);
  return "/kernels/" + std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
}
}  // namespace trace_format
}  // namespace atl
