#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>

namespace atl::test {

/// Calls check(copy) for `count` copies of `whole` with one bit flipped each, anywhere. ATOLL_SEED=N tries others.
template <class Check> void flip_bits(const std::string& whole, int count, Check&& check) {
  const char* text = std::getenv("ATOLL_SEED");
  const auto seed = text != nullptr ? static_cast<std::uint32_t>(std::strtoul(text, nullptr, 10)) : 1;
  MESSAGE("seed " << seed);
  std::mt19937 random(seed);
  for (int i = 0; i < count; ++i) {
    const std::size_t at = random() % whole.size();
    const unsigned bit = random() % 8;
    CAPTURE(at);
    CAPTURE(bit);
    std::string copy = whole;
    copy[at] = static_cast<char>(copy[at] ^ 1 << bit);
    check(copy);
  }
}

/// Calls check(copy) for `count` beginnings of `whole` of random length.
template <class Check> void cut_short(const std::string& whole, int count, Check&& check) {
  std::mt19937 random(1);
  for (int i = 0; i < count; ++i) {
    const std::size_t size = random() % whole.size();
    CAPTURE(size);
    check(whole.substr(0, size));
  }
}

}  // namespace atl::test
