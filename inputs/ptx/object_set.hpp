#pragma once
#include <cstdint>
#include <vector>

namespace atl::ptx {

/// A set of small numbers; grows as needed.
class ObjectSet {
 public:
  bool empty() const {
    for (const std::uint64_t w : words_)
      if (w != 0) return false;
    return true;
  }
  bool has(std::uint32_t n) const { return n / 64 < words_.size() && ((words_[n / 64] >> (n % 64)) & 1) != 0; }
  /// True if the set grew.
  bool add(std::uint32_t n) {
    if (has(n)) return false;
    if (n / 64 >= words_.size()) words_.resize(n / 64 + 1);
    words_[n / 64] |= std::uint64_t{1} << (n % 64);
    return true;
  }
  bool add(const ObjectSet& other) {
    if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
    bool grew = false;
    for (std::size_t w = 0; w < other.words_.size(); ++w) {
      grew |= (other.words_[w] & ~words_[w]) != 0;
      words_[w] |= other.words_[w];
    }
    return grew;
  }
  template <typename Each> void for_each(Each each) const {
    for (std::uint32_t n = 0; n < words_.size() * 64; ++n)
      if (has(n)) each(n);
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace atl::ptx
