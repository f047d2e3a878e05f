#include "core/stats/file_seal.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <span>
#include <string_view>

#include "core/engine/digest.hpp"
#include "core/engine/error.hpp"
#include "core/engine/file_exists.hpp"
#include "core/engine/input_file.hpp"

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

void add(Digest& digest, std::span<const char> bytes) {
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint64_t)) digest.add(word_at(bytes, i));
}

/// The file's bytes up to `end`, then their number.
std::uint64_t hash(std::ifstream& in, const std::string& path, std::uint64_t end) {
  Digest digest;
  std::vector<char> piece(std::size_t{1} << 20);
  in.seekg(0);
  for (std::uint64_t left = end; left > 0;) {
    const auto size = static_cast<std::size_t>(std::min<std::uint64_t>(left, piece.size()));
    if (!in.read(piece.data(), static_cast<std::streamsize>(size))) throw IoError(path, "reading failed");
    add(digest, std::span<const char>(piece).first(size));
    left -= size;
  }
  digest.add(end);
  return digest.value();
}

}  // namespace

void seal(std::vector<char>& image) {
  Digest digest;
  add(digest, image);
  digest.add(image.size());
  const std::uint64_t sum = digest.value();
  image.insert(image.end(), kMark.begin(), kMark.end());
  const char* bytes = reinterpret_cast<const char*>(&sum);
  image.insert(image.end(), bytes, bytes + sizeof sum);
}

void check_seal(const std::string& path) {
  check_input(path);
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in) throw InputError(path, file_exists(path) ? "cannot be read" : "there is no such file");
  const auto size = static_cast<std::uint64_t>(in.tellg());
  constexpr std::size_t kHead = kEndOfFileField + sizeof(std::uint64_t);
  std::array<char, kHead> head{};
  in.seekg(0).read(head.data(), static_cast<std::streamsize>(std::min<std::uint64_t>(size, kHead)));
  if (!std::string_view(head.data(), kHead).starts_with(kSuperblock.substr(0, 8)))
    throw InputError(path, "is not an HDF5 file, so it is no result of Atoll");
  const auto damaged = [&] {
    return InputError(path, "is truncated or damaged: its bytes do not fit the checksum behind them");
  };
  const auto unsealed = [&] {
    return InputError(path,
                      "has no checksum behind its data: it is cut short, still being written, or another program changed "
                      "it; --force-damaged reads it all the same");
  };
  if (size >= kSuperblock.size() && !std::string_view(head.data(), kHead).starts_with(kSuperblock)) throw unsealed();
  if (size < kHead + kSealBytes) throw damaged();
  std::array<char, kSealBytes> last{};
  in.clear();
  in.seekg(static_cast<std::streamoff>(size - kSealBytes)).read(last.data(), kSealBytes);
  const std::uint64_t end = word_at(head, kEndOfFileField);
  if (!std::string_view(last.data(), kSealBytes).starts_with(kMark)) {
    if (size != end) throw damaged();
    throw unsealed();
  }
  if (size - kSealBytes != end || word_at(last, kMark.size()) != hash(in, path, end)) throw damaged();
}

bool has_seal(const std::string& path) {
  check_input(path);
  std::ifstream in(path, std::ios::binary);
  std::array<char, kMark.size()> mark{};
  in.seekg(-static_cast<std::streamoff>(kSealBytes), std::ios::end).read(mark.data(), mark.size());
  return in && std::string_view(mark.data(), mark.size()) == kMark;
}

}  // namespace atl
