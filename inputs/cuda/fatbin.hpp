#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "inputs/cuda/decompress.hpp"

namespace atl::cuda {

/// What nvcc puts into a program: device code of one translation unit, for one architecture, in one form.
struct FatbinEntry {
  enum class Kind { ptx, cubin, lto, other };
  Kind kind = Kind::other;
  unsigned arch = 0;  ///< 75, 80, 90, ...
  enum class Only { none, arch, family };
  Only only = Only::none;  ///< suffix a or f: what it is for, and nothing else
  std::string options;     ///< of ptxas, as nvcc noted them
  Bytes payload;           ///< as stored; the compressed bytes without their padding
  enum class Packing { raw, lz4, zstd } packing = Packing::raw;
  std::uint64_t text_size = 0;  ///< uncompressed
  std::uint64_t flags = 0;
};

/// The wrapper that the host code registers. One container, or in version 2 (-rdc=true) more of them.
struct FatbinWrapper {
  std::uint32_t magic, version;
  const std::uint8_t* container;
  const std::uint8_t* const* more;  ///< null, or ended by a null pointer
};
inline constexpr std::uint32_t kWrapperMagic = 0x466243B1, kContainerMagic = 0xBA55ED50;

/// Bytes of the container that begins at `in`, header included. Throws InputError(where) if none does.
std::uint64_t container_size(Bytes in, const std::string& where);

/// The entries of one container, in its order. `where` names it in errors.
std::vector<FatbinEntry> list_entries(Bytes container, const std::string& where);

/// All entries of the containers in a program's `.nv_fatbin` section, which stand one after the other.
std::vector<FatbinEntry> list_section(Bytes section, const std::string& where);

/// The text of a PTX entry, decompressed, without the NUL at its end.
std::string ptx_text(const FatbinEntry& entry, const std::string& where);

/// Whether an `arch` device can compile PTX for `target`.
bool fits(unsigned target, FatbinEntry::Only only, unsigned arch);

/// The PTX entry that an `arch` device would compile: the newest not above it. That for one architecture (sm_90a) or one
/// family (sm_100f) is for no others. Null: there is none.
const FatbinEntry* choose_ptx(const std::vector<FatbinEntry>& entries, unsigned arch);

/// For a device that would run machine code that lies beside newer PTX (nvcc -arch=all-major): the oldest PTX of the same
/// source, in its place. Null: it has none, or no machine code that the device could run.
const FatbinEntry* ptx_beside_machine_code(const std::vector<FatbinEntry>& entries, unsigned arch);

}  // namespace atl::cuda
