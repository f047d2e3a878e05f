#include "core/engine/input_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>

#include "core/engine/error.hpp"

namespace atl {
namespace {

/// Texts are read whole: configurations, workloads, experiments, PTX. Far more than any that means something.
constexpr std::uint64_t kLongestText = std::uint64_t{1} << 28;

}  // namespace

void check_input(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  const auto status = fs::status(path, ignored);
  if (!fs::exists(status) || fs::is_regular_file(status)) return;
  if (fs::is_directory(status)) throw InputError(path, "is a folder; give the name of a file");
  throw InputError(path, "is a device, pipe or socket, and may have no end; write its content into a file, and give that");
}

std::string read_text(const std::string& path, const std::string& missing) {
  check_input(path);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path, missing);
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  const auto too_long = [&] {
    return InputError(path,
                      "is longer than " + std::to_string(kLongestText >> 20) + " MiB, which is no text that Atoll reads");
  };
  if (!error && size > kLongestText) throw too_long();
  std::string text;
  // Not by its size alone: files of /proc say that they have none, and end all the same.
  char piece[65536];
  while (file.read(piece, sizeof piece), file.gcount() > 0) {
    text.append(piece, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kLongestText) throw too_long();
  }
  if (file.bad()) throw IoError(path, "reading failed");
  return text;
}

}  // namespace atl
