#include "inputs/trace/chunk_filter.hpp"

#include <zlib.h>

#include <algorithm>
#include <stdexcept>

namespace atl {
namespace {

/// First bytes of all elements, then second ones, and so on.
template <unsigned kBytes> void shuffle(std::span<const std::uint8_t> chunk, std::uint8_t* out) {
  const std::size_t count = chunk.size() / kBytes;
  for (unsigned byte = 0; byte < kBytes; ++byte) {
    const std::uint8_t* from = chunk.data() + byte;
    for (std::size_t i = 0; i < count; ++i) *out++ = from[i * kBytes];
  }
}

void zlib_compress(std::span<const std::uint8_t> bytes, unsigned level, std::vector<std::uint8_t>& out) {
  uLongf size = compressBound(static_cast<uLong>(bytes.size()));
  out.resize(size);
  if (compress2(out.data(), &size, bytes.data(), static_cast<uLong>(bytes.size()), static_cast<int>(level)) != Z_OK)
    throw std::runtime_error("zlib cannot compress");
  out.resize(size);
}

}  // namespace

void ChunkFilter::apply(std::span<const std::uint8_t> chunk, unsigned element, unsigned level,
                        std::vector<std::uint8_t>& out) {
  out.clear();
  std::span<const std::uint8_t> bytes = chunk;
  if (level != 0 && element > 1) {
    shuffled_.resize(chunk.size());
    element == 2   ? shuffle<2>(chunk, shuffled_.data())
    : element == 4 ? shuffle<4>(chunk, shuffled_.data())
                   : shuffle<8>(chunk, shuffled_.data());
    bytes = shuffled_;
  }
  if (level == 0)
    out.assign(bytes.begin(), bytes.end());
  else if (level == 1)
    deflater_.compress(bytes, out);
  else
    zlib_compress(bytes, level, out);
  const std::uint32_t sum = fletcher32(out);
  for (unsigned shift = 0; shift < 32; shift += 8) out.push_back(static_cast<std::uint8_t>(sum >> shift));
}

std::uint32_t fletcher32(std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kWords = 360;  // so many that no sum of 32 bits overflows
  const auto fold = [](std::uint32_t& sum) { sum = (sum & 0xFFFF) + (sum >> 16); };
  std::uint32_t a = 0, b = 0;
  const std::uint8_t* p = bytes.data();
  for (std::size_t words = bytes.size() / 2; words > 0;) {
    std::size_t now = std::min(words, kWords);
    words -= now;
    for (; now > 0; --now, p += 2) a += static_cast<std::uint32_t>(p[0] << 8 | p[1]), b += a;
    fold(a), fold(b);
  }
  if (bytes.size() % 2 != 0) {
    a += static_cast<std::uint32_t>(*p << 8), b += a;
    fold(a), fold(b);
  }
  fold(a), fold(b);
  return b << 16 | a;
}

}  // namespace atl
