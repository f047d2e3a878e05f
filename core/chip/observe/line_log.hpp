#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "core/engine/types.hpp"

/// Lists of lines in ascending order, each with the shortest of the nested windows that it belongs to, as differences of
/// variable length: neighbours take one byte. Thus a chip can keep every epoch of a run, and ranks can exchange them.
namespace atl {

class LineLogWriter {
 public:
  void add(LineAddr line, std::uint32_t window) {
    std::uint64_t left = (line.value - last_) << 3 | window;
    last_ = line.value;
    for (; left >= 128; left >>= 7) bytes_ += static_cast<char>(left | 128);
    bytes_ += static_cast<char>(left);
  }
  std::string take() {
    bytes_.shrink_to_fit();
    return std::move(bytes_);
  }

 private:
  std::string bytes_;
  std::uint64_t last_ = 0;
};

/// Stands on a line, or is done. The text must outlive it.
class LineLogReader {
 public:
  explicit LineLogReader(const std::string& log) : at_(log.data()), end_(at_ + log.size()) { next(); }
  bool done() const { return done_; }
  std::uint64_t line() const { return line_; }
  std::uint32_t window() const { return window_; }
  void next() {
    if ((done_ = at_ == end_)) return;
    std::uint64_t value = 0;
    for (unsigned shift = 0; at_ != end_ && shift < 64; shift += 7) {
      const auto byte = static_cast<unsigned char>(*at_++);
      value |= std::uint64_t{byte & 127u} << shift;
      if (byte < 128) break;
    }
    line_ += value >> 3;
    window_ = value & 7;
  }

 private:
  const char *at_, *end_;
  std::uint64_t line_ = 0;
  std::uint32_t window_ = 0;
  bool done_ = false;
};

}  // namespace atl
