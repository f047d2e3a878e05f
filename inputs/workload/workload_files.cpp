#include "inputs/workload/workload_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "core/engine/digest.hpp"
#include "core/engine/error.hpp"
#include "core/engine/file_exists.hpp"
#include "core/engine/input_file.hpp"
#include "inputs/trace/accelsim_list.hpp"
#include "inputs/trace/trace_workload.hpp"

namespace atl {

std::string main_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  std::string list = (std::filesystem::path(path) / "kernelslist.g").string();
  if (!file_exists(list)) throw InputError(path, "this folder has no kernelslist.g");
  return list;
}

char first_character(const std::string& file) {
  check_input(file);
  std::FILE* in = std::fopen(file.c_str(), "rb");
  if (!in) throw InputError(file, std::string("cannot be opened: ") + std::strerror(errno));
  int c = std::fgetc(in);
  constexpr int kByteOrderMark[] = {0xEF, 0xBB, 0xBF};
  if (c == kByteOrderMark[0] && std::fgetc(in) == kByteOrderMark[1] && std::fgetc(in) == kByteOrderMark[2]) {
    std::fclose(in);
    throw InputError(file, "begins with a byte order mark; save it without");
  }
  while (c == ' ' || c == '\t' || c == '\r' || c == '\n') c = std::fgetc(in);
  std::fclose(in);
  return c >= 0x20 && c < 0x7F ? static_cast<char>(c) : '\0';
}

WorkloadFiles::WorkloadFiles(const std::string& path, std::uint64_t piece) : piece_(piece) {
  files_.push_back(main_file(path));
  container_ = has_hdf5_signature(files_[0]);
  if (!container_ && first_character(files_[0]) != '{') {
    const std::vector<std::string> kernels = accelsim::read_kernel_list(files_[0]).kernels;
    files_.insert(files_.end(), kernels.begin(), kernels.end());
  }
  first_.push_back(0);
  for (const std::string& file : files_) {
    first_.push_back(first_.back() + digest_pieces(file, piece));
    states_.push_back(state_of(file));
  }
}

WorkloadFiles::State WorkloadFiles::state_of(const std::string& file) {
  struct stat s {};
  if (::stat(file.c_str(), &s) != 0) return {};
  return {s.st_ino, static_cast<std::uint64_t>(s.st_size), s.st_mtim.tv_sec, s.st_mtim.tv_nsec};
}

std::string WorkloadFiles::touched() const {
  for (std::size_t n = container_ ? 0 : 1; n < files_.size(); ++n) {  // not the list, or JSON
    const State now = state_of(files_[n]);
    if (now != states_[n] && (!container_ || now.inode == states_[n].inode)) return files_[n];
  }
  return "";
}

std::uint64_t WorkloadFiles::read(std::size_t piece) const {
  const auto file = static_cast<std::size_t>(std::upper_bound(first_.begin(), first_.end(), piece) - first_.begin() - 1);
  return digest_of_piece(files_[file], piece - first_[file], piece_);
}

std::string WorkloadFiles::digest(std::span<const std::uint64_t> pieces, const std::string& kernels,
                                  const std::string& ctas) const {
  std::vector<std::uint64_t> parts;
  for (std::size_t file = 0; file < files_.size(); ++file)
    parts.push_back(digest_of_parts({pieces.data() + first_[file], first_[file + 1] - first_[file]}));
  Digest part;
  for (const char c : fmt::format("{};{}", kernels, ctas)) part.add(static_cast<unsigned char>(c));
  if (!kernels.empty() || !ctas.empty()) parts.push_back(part.value());
  return fmt::format("{:016x}", digest_of_parts(parts));
}

std::string WorkloadFiles::identity() const {
  Digest all;
  for (const std::string& file : files_) {
    struct stat s {};
    if (::stat(file.c_str(), &s) != 0) throw InputError(file, std::string("cannot be read: ") + std::strerror(errno));
    for (const timespec& t : {s.st_mtim, s.st_ctim})
      all.add(static_cast<std::uint64_t>(t.tv_sec), static_cast<std::uint64_t>(t.tv_nsec));
    all.add(s.st_ino, static_cast<std::uint64_t>(s.st_size));
  }
  return fmt::format("{:016x}", all.value());
}

std::string workload_digest(const std::string& path, const std::string& kernels, const std::string& ctas) {
  const WorkloadFiles files(path);
  std::vector<std::uint64_t> pieces;
  for (std::size_t p = 0; p < files.pieces(); ++p) pieces.push_back(files.read(p));
  return files.digest(pieces, kernels, ctas);
}

}  // namespace atl
