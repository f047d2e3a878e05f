#include "inputs/cuda/decompress.hpp"

#include <lz4.h>
#include <zstd.h>

#include "core/engine/error.hpp"

namespace atl::cuda {
namespace {

// A damaged size field must not make us ask for all memory: device code of one object is never this large.
constexpr std::size_t kMaxText = std::size_t{1} << 31;

std::string room(std::size_t size, const std::string& where) {
  if (size >= kMaxText) throw InputError(where, "claims " + std::to_string(size) + " bytes of text; the file is damaged");
  return std::string(size, '\0');
}

}  // namespace

std::string decompress_zstd(Bytes in, std::size_t size, const std::string& where) {
  std::string out = room(size, where);
  const std::size_t got = ZSTD_decompress(out.data(), out.size(), in.data(), in.size());
  if (ZSTD_isError(got)) throw InputError(where, std::string("zstd: ") + ZSTD_getErrorName(got));
  if (got != size) throw InputError(where, "zstd: the text is shorter than its header says");
  return out;
}

std::string decompress_lz4_block(Bytes in, std::size_t size, const std::string& where) {
  std::string out = room(size, where);
  if (in.size() >= kMaxText) throw InputError(where, "LZ4: a block of more than 2 GB");
  const int got = LZ4_decompress_safe(reinterpret_cast<const char*>(in.data()), out.data(), static_cast<int>(in.size()),
                                      static_cast<int>(size));
  if (got < 0) throw InputError(where, "LZ4: the block is damaged");
  if (static_cast<std::size_t>(got) != size) throw InputError(where, "LZ4: the text is shorter than its header says");
  return out;
}

}  // namespace atl::cuda
