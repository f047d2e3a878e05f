#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "core/engine/file_digest.hpp"

namespace atl {

/// The file that stands for a workload: of a folder of SASS traces, their list. Throws InputError.
std::string main_file(const std::string& path);
/// The first character of a file that is not blank; '\0' for an empty or binary one.
char first_character(const std::string& file);

/// The bytes of a workload, in pieces that several processes may read, each some of them.
class WorkloadFiles {
 public:
  /// `piece`: bytes of a file. Throws InputError for what is no workload, or cannot be read.
  explicit WorkloadFiles(const std::string& path, std::uint64_t piece = kDigestPiece);

  std::size_t pieces() const { return first_.back(); }
  /// What one of them holds, as a number. Throws InputError, IoError.
  std::uint64_t read(std::size_t piece) const;
  /// Of all, from what read() says of each, and of a part of the workload (WorkloadSelection): 16 hexadecimal digits.
  std::string digest(std::span<const std::uint64_t> pieces, const std::string& kernels, const std::string& ctas) const;
  /// Equal for processes that see the same files, also over a network: inodes, sizes and times. Copies differ.
  std::string identity() const;
  /// The first file that was written to since this was made and is read while a run goes on; empty: none. A container
  /// stays open, so that who replaces it leaves the old one to its readers; SASS traces are opened when a kernel's turn
  /// comes; JSON is read at the beginning.
  std::string touched() const;

 private:
  struct State {
    std::uint64_t inode = 0, size = 0;
    std::int64_t seconds = 0, nanoseconds = 0;  // of the last write
    bool operator==(const State&) const = default;
  };
  static State state_of(const std::string& file);

  std::vector<std::string> files_;
  std::vector<State> states_;
  bool container_ = false;
  std::vector<std::size_t> first_;  // piece of each, and how many there are
  std::uint64_t piece_;
};

/// Of the bytes of all files that a workload consists of: tells whether a result is out of date, and whether a run can be
/// gone on with. Reads SASS traces in full. `kernels`, `ctas`: of a part of it.
std::string workload_digest(const std::string& path, const std::string& kernels = {}, const std::string& ctas = {});

}  // namespace atl
