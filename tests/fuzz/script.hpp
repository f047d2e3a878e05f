#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace atl::fuzz {

/// An input as a list of edits to a sound file: their operands, little-endian; zeros once it has ended.
class Script {
 public:
  Script(const unsigned char* data, std::size_t size) : p_(data), end_(data + size) {}
  bool ended() const { return p_ == end_; }
  template <class T> T take() {
    T value = 0;
    const std::size_t bytes = std::min<std::size_t>(sizeof value, static_cast<std::size_t>(end_ - p_));
    std::memcpy(&value, p_, bytes);
    p_ += bytes;
    return value;
  }

 private:
  const unsigned char *p_, *end_;
};

}  // namespace atl::fuzz
