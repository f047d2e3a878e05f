#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "inputs/ptx/cfg.hpp"

namespace atl::ptx {

/// Some of a function's registers.
class RegisterSet {
 public:
  explicit RegisterSet(std::size_t registers) : words_((registers + kBits - 1) / kBits) {}
  bool has(std::uint32_t r) const { return (words_[r / kBits] >> r % kBits & 1) != 0; }
  void add(std::uint32_t r) { words_[r / kBits] |= std::uint64_t{1} << r % kBits; }
  void remove(std::uint32_t r) { words_[r / kBits] &= ~(std::uint64_t{1} << r % kBits); }
  void add(const RegisterSet& other) {
    for (std::size_t n = 0; n < words_.size(); ++n) words_[n] |= other.words_[n];
  }
  /// Calls `visit` with each, from the lowest.
  template <class F> void each(F&& visit) const {
    for (std::uint32_t n = 0; n < words_.size(); ++n)
      for (std::uint64_t left = words_[n]; left != 0; left &= left - 1)
        visit(n * kBits + static_cast<std::uint32_t>(std::countr_zero(left)));
  }
  bool operator==(const RegisterSet&) const = default;

 private:
  static constexpr std::uint32_t kBits = 64;
  std::vector<std::uint64_t> words_;
};

/// By block: the registers that a thread may read from the block's begin on before it sets them. What the function
/// returns is read where it returns.
std::vector<RegisterSet> live_at_begin(const Function& f, const FlowGraph& graph);

/// The registers whose content from before the function somebody may see: its thread, on a way on which it has not set
/// them, or other lanes, by an instruction for matrices.
RegisterSet seen_unset(const Function& f);

}  // namespace atl::ptx
