#include "core/engine/file_digest.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <limits>
#include <system_error>
#include <vector>

#include "core/engine/digest.hpp"
#include "core/engine/error.hpp"
#include "core/engine/input_file.hpp"

namespace atl {

std::size_t digest_pieces(const std::string& name, std::uint64_t piece) {
  check_input(name);
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(name, error);
  return error || size == 0 ? 1 : static_cast<std::size_t>((size + piece - 1) / piece);
}

std::uint64_t digest_of_piece(const std::string& name, std::size_t number, std::uint64_t piece) {
  const bool last = number + 1 == digest_pieces(name, piece);
  std::ifstream file(name, std::ios::binary);
  if (!file) throw InputError(name, "cannot read this file");
  file.seekg(static_cast<std::streamoff>(number * piece));
  Digest digest;
  std::array<std::uint64_t, 8192> block;
  std::uint64_t size = 0, left = last ? std::numeric_limits<std::uint64_t>::max() : piece;
  while (file && left > 0) {
    block.fill(0);  // so that the last, shorter block is hashed alike everywhere
    file.read(reinterpret_cast<char*>(block.data()),
              static_cast<std::streamsize>(std::min<std::uint64_t>(sizeof block, left)));
    const auto bytes = static_cast<std::uint64_t>(file.gcount());
    for (std::uint64_t i = 0; i < (bytes + 7) / 8; ++i) digest.add(block[i]);
    size += bytes, left -= bytes;
  }
  if (file.bad()) throw IoError(name, "reading failed");
  digest.add(size);
  return digest.value();
}

std::uint64_t digest_of_parts(std::span<const std::uint64_t> parts) {
  if (parts.size() == 1) return parts[0];
  Digest digest;
  for (const std::uint64_t part : parts) digest.add(part);
  return digest.value();
}

std::uint64_t digest_of_file(const std::string& name, std::uint64_t piece) {
  std::vector<std::uint64_t> pieces;
  for (std::size_t n = 0, all = digest_pieces(name, piece); n < all; ++n) pieces.push_back(digest_of_piece(name, n, piece));
  return digest_of_parts(pieces);
}

}  // namespace atl
