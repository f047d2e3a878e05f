#pragma once
#include <array>
#include <fstream>
#include <string>

#include "core/engine/digest.hpp"
#include "core/engine/error.hpp"
#include "core/engine/input_file.hpp"

namespace atl {

/// Of the bytes of a file and of their number. Throws InputError for what cannot be opened or is no regular file, IoError.
inline Digest digest_of_file(const std::string& name) {
  check_input(name);
  std::ifstream file(name, std::ios::binary);
  if (!file) throw InputError(name, "cannot read this file");
  Digest digest;
  std::array<std::uint64_t, 8192> block;
  std::uint64_t size = 0;
  while (file) {
    block.fill(0);  // so that the last, shorter block is hashed alike everywhere
    file.read(reinterpret_cast<char*>(block.data()), sizeof block);
    const auto bytes = static_cast<std::uint64_t>(file.gcount());
    for (std::uint64_t i = 0; i < (bytes + 7) / 8; ++i) digest.add(block[i]);
    size += bytes;
  }
  if (file.bad()) throw IoError(name, "reading failed");
  digest.add(size);
  return digest;
}

}  // namespace atl
