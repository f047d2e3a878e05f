#include "inputs/trace/chunk_filter.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <new>

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

}  // namespace

void ChunkFilter::Free::operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }

ChunkFilter::ChunkFilter(unsigned level) {
  if (level == 0) return;
  compressor_.reset(libdeflate_alloc_compressor(static_cast<int>(level)));
  if (compressor_ == nullptr) throw std::bad_alloc();
}

void ChunkFilter::apply(std::span<const std::uint8_t> chunk, unsigned element, std::vector<std::uint8_t>& out) {
  if (compressor_ == nullptr) {
    out.assign(chunk.begin(), chunk.end());
  } else {
    std::span<const std::uint8_t> bytes = chunk;
    if (element > 1) {
      shuffled_.resize(chunk.size());
      element == 2   ? shuffle<2>(chunk, shuffled_.data())
      : element == 4 ? shuffle<4>(chunk, shuffled_.data())
                     : shuffle<8>(chunk, shuffled_.data());
      bytes = shuffled_;
    }
    out.resize(libdeflate_zlib_compress_bound(compressor_.get(), bytes.size()));
    out.resize(libdeflate_zlib_compress(compressor_.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  }
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
