#include "core/stats/file_seal.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "core/engine/digest.hpp"
#include "core/engine/error.hpp"

namespace atl {
namespace {

constexpr std::string_view kMark = "ATOLSEAL";
constexpr std::size_t kSealBytes = 16;
// Superblock version 0 (HDF5 file format specification, II.A), which is what results have.
constexpr std::string_view kSuperblock{"\x89HDF\r\n\x1A\n\0", 9};
constexpr std::size_t kEndOfFileField = 40;

std::uint64_t word_at(std::span<const char> bytes, std::size_t at) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data() + at, std::min(sizeof word, bytes.size() - at));
  return word;
}

std::uint64_t hash(std::span<const char> bytes) {
  Digest digest;
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) digest.add(word_at(bytes, i));
  digest.add(bytes.size());
  return digest.value();
}

}  // namespace

void seal(std::vector<char>& image) {
  const std::uint64_t sum = hash(image);
  image.insert(image.end(), kMark.begin(), kMark.end());
  const char* bytes = reinterpret_cast<const char*>(&sum);
  image.insert(image.end(), bytes, bytes + sizeof sum);
}

void check_seal(const std::string& path) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) return;
  std::vector<char> file(static_cast<std::size_t>(in.tellg()));
  if (!in.seekg(0).read(file.data(), static_cast<std::streamsize>(file.size()))) throw IoError(path, "reading failed");
  const std::span<const char> bytes(file);
  const std::string_view text(file.data(), file.size());
  if (file.size() < kEndOfFileField + sizeof(std::uint64_t) || !text.starts_with(kSuperblock)) return;
  const std::uint64_t end = word_at(bytes, kEndOfFileField);
  const bool marked = text.substr(file.size() - kSealBytes).starts_with(kMark);
  if (!marked && file.size() <= end) return;
  const bool whole =
      marked && file.size() - kSealBytes == end && word_at(bytes, end + kMark.size()) == hash(bytes.first(end));
  if (!whole) throw InputError(path, "is truncated or damaged: its bytes do not fit the checksum behind them");
}

}  // namespace atl
