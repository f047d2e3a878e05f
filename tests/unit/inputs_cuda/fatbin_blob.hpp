#pragma once
#include <lz4.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

/// Fat binaries as nvcc writes them, made by hand.
namespace atl::test {

using Blob = std::vector<std::uint8_t>;

struct BlobEntry {
  std::uint16_t kind = 1;  // 1 PTX, 2 cubin, 8 LTO
  std::uint32_t arch = 75;
  std::string text;
  std::uint64_t flags = 0x11;  // 64 bit, Linux; 0x2000 LZ4, 0x8000 zstd
  std::string options;
};

template <typename T> void poke(Blob& out, std::size_t at, T value) {
  if (out.size() < at + sizeof value) out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

inline Blob packed(const BlobEntry& e) {
  const std::string text = e.text + '\0';
  Blob out(e.flags & 0xA000 ? text.size() + 256 : text.size());
  if (e.flags & 0x8000)
    out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  else if (e.flags & 0x2000)
    out.resize(static_cast<std::size_t>(LZ4_compress_default(text.data(), reinterpret_cast<char*>(out.data()),
                                                             static_cast<int>(text.size()), static_cast<int>(out.size()))));
  else
    std::memcpy(out.data(), text.data(), text.size());
  return out;
}

inline void append(Blob& container, const BlobEntry& e) {
  Blob payload = packed(e), out;
  const auto compressed = static_cast<std::uint32_t>(payload.size());
  payload.resize((payload.size() + 7) / 8 * 8);
  constexpr std::uint32_t kOptions = 0x40, kOptionsText = 0x48;
  std::uint32_t header = kOptionsText + static_cast<std::uint32_t>(e.options.size());
  header = (header + 15) / 16 * 16;
  out.resize(header);
  poke<std::uint16_t>(out, 0, e.kind), poke<std::uint16_t>(out, 2, 0x0101), poke<std::uint32_t>(out, 4, header);
  poke<std::uint64_t>(out, 8, payload.size());
  poke<std::uint32_t>(out, 0x14, kOptions), poke<std::uint32_t>(out, 0x1c, e.arch), poke<std::uint64_t>(out, 0x28, e.flags);
  if (e.flags & 0xA000) poke<std::uint32_t>(out, 0x10, compressed), poke<std::uint64_t>(out, 0x38, e.text.size() + 1);
  poke<std::uint32_t>(out, kOptions, kOptionsText);
  poke<std::uint32_t>(out, kOptions + 4, static_cast<std::uint32_t>(e.options.size()));
  std::memcpy(out.data() + kOptionsText, e.options.data(), e.options.size());
  out.insert(out.end(), payload.begin(), payload.end());
  container.insert(container.end(), out.begin(), out.end());
}

inline Blob container(const std::vector<BlobEntry>& entries) {
  Blob out(16);
  for (const BlobEntry& e : entries) append(out, e);
  poke<std::uint32_t>(out, 0, 0xBA55ED50), poke<std::uint16_t>(out, 4, 1), poke<std::uint16_t>(out, 6, 16);
  poke<std::uint64_t>(out, 8, out.size() - 16);
  return out;
}

}  // namespace atl::test
