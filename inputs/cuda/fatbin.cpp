#include "inputs/cuda/fatbin.hpp"

#include <algorithm>
#include <cstring>

#include "core/engine/error.hpp"

// A container is a header (magic, version, header size, size of the rest) and entries, each a header and a payload.
namespace atl::cuda {
namespace {

constexpr std::uint64_t kContainerHeader = 16, kEntryHeader = 0x40;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagSuffixA = 0x100000, kFlagSuffixF = 0x200000;

template <typename T> T read(Bytes in, std::uint64_t at) {
  T value;
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

FatbinEntry::Kind kind_of(std::uint16_t number) {
  switch (number) {
    case 1:
      return FatbinEntry::Kind::ptx;
    case 2:
      return FatbinEntry::Kind::cubin;
    case 8:
      return FatbinEntry::Kind::lto;
    default:
      return FatbinEntry::Kind::other;
  }
}

/// The options record: u32 offset from the entry, u32 length. Its absence is normal.
std::string options_of(Bytes entry, std::uint32_t header) {
  const auto record = read<std::uint32_t>(entry, 0x14);
  if (record == 0 || record + 8ull > header) return {};
  const auto offset = read<std::uint32_t>(entry, record), length = read<std::uint32_t>(entry, record + 4);
  if (std::uint64_t{offset} + length > header) return {};
  return std::string(reinterpret_cast<const char*>(entry.data()) + offset, length);
}

}  // namespace

std::uint64_t container_size(Bytes in, const std::string& where) {
  if (in.size() < kContainerHeader || read<std::uint32_t>(in, 0) != kContainerMagic)
    throw InputError(where, "is not a fat binary");
  const auto header = read<std::uint16_t>(in, 6);
  const auto body = read<std::uint64_t>(in, 8);
  if (header < kContainerHeader || header > in.size() || body > in.size() - header)
    throw InputError(where, "the fat binary is cut off");
  return header + body;
}

std::vector<FatbinEntry> list_entries(Bytes container, const std::string& where) {
  const std::uint64_t end = container_size(container, where);
  std::vector<FatbinEntry> out;
  for (std::uint64_t at = read<std::uint16_t>(container, 6); at < end;) {
    const std::string here = where + ", entry " + std::to_string(out.size());
    const Bytes rest = container.subspan(at, end - at);
    if (rest.size() < kEntryHeader) throw InputError(here, "the fat binary is cut off");
    const auto header = read<std::uint32_t>(rest, 4);
    const auto size = read<std::uint64_t>(rest, 8);
    const auto compressed = read<std::uint32_t>(rest, 0x10);
    if (header < kEntryHeader || header > rest.size() || size > rest.size() - header || compressed > size)
      throw InputError(here, "the fat binary is cut off");
    FatbinEntry e;
    e.kind = kind_of(read<std::uint16_t>(rest, 0));
    e.arch = read<std::uint32_t>(rest, 0x1c);
    e.flags = read<std::uint64_t>(rest, 0x28);
    if (e.flags & kFlagSuffixF) e.only = FatbinEntry::Only::family;
    if (e.flags & kFlagSuffixA) e.only = FatbinEntry::Only::arch;
    e.options = options_of(rest, header);
    if (e.flags & kFlagZstd) e.packing = FatbinEntry::Packing::zstd;
    if (e.flags & kFlagLz4) e.packing = FatbinEntry::Packing::lz4;
    const bool packed = e.packing != FatbinEntry::Packing::raw;
    // The padding after the compressed bytes would be trailing garbage to zstd.
    e.payload = rest.subspan(header, packed ? compressed : size);
    e.text_size = packed ? read<std::uint64_t>(rest, 0x38) : size;
    out.push_back(std::move(e));
    at += header + size;
  }
  return out;
}

std::vector<FatbinEntry> list_section(Bytes section, const std::string& where) {
  std::vector<FatbinEntry> out;
  while (section.size() >= kContainerHeader) {
    if (read<std::uint32_t>(section, 0) != kContainerMagic) {  // the linker pads between object files
      section = section.subspan(8);
      continue;
    }
    const std::uint64_t size = container_size(section, where);
    for (FatbinEntry& e : list_entries(section.first(size), where)) out.push_back(std::move(e));
    section = section.subspan(size);
  }
  return out;
}

std::string ptx_text(const FatbinEntry& entry, const std::string& where) {
  std::string text;
  switch (entry.packing) {
    case FatbinEntry::Packing::zstd:
      text = decompress_zstd(entry.payload, entry.text_size, where);
      break;
    case FatbinEntry::Packing::lz4:
      text = decompress_lz4_block(entry.payload, entry.text_size, where);
      break;
    case FatbinEntry::Packing::raw:
      text.assign(entry.payload.begin(), entry.payload.end());
      break;
  }
  const auto nul = text.find('\0');
  if (nul != std::string::npos) text.resize(nul);
  return text;
}

bool fits(unsigned target, FatbinEntry::Only only, unsigned arch) {
  if (only == FatbinEntry::Only::arch) return target == arch;
  return target <= arch && (only == FatbinEntry::Only::none || target / 10 == arch / 10);
}

const FatbinEntry* choose_ptx(const std::vector<FatbinEntry>& entries, unsigned arch) {
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& e : entries)
    if (e.kind == FatbinEntry::Kind::ptx && fits(e.arch, e.only, arch) && (!best || e.arch > best->arch)) best = &e;
  return best;
}

const FatbinEntry* ptx_beside_machine_code(const std::vector<FatbinEntry>& entries, unsigned arch) {
  const auto runs = [arch](const FatbinEntry& e) {
    return e.kind == FatbinEntry::Kind::cubin && fits(e.arch, e.only, arch) && e.arch / 10 == arch / 10;
  };
  if (std::none_of(entries.begin(), entries.end(), runs)) return nullptr;
  const FatbinEntry* oldest = nullptr;
  for (const FatbinEntry& e : entries)
    if (e.kind == FatbinEntry::Kind::ptx && e.only == FatbinEntry::Only::none && (!oldest || e.arch < oldest->arch))
      oldest = &e;
  return oldest;
}

}  // namespace atl::cuda
