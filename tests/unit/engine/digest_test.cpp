#include "core/engine/digest.hpp"

#include <doctest/doctest.h>

#include <set>

namespace atl::test {
namespace {

template <class... Words> std::uint64_t digest_of(Words... words) {
  Digest digest;
  (digest.add(static_cast<std::uint64_t>(words)), ...);
  return digest.value();
}

TEST_CASE("three words give the digest that files have kept since they have one") {
  CHECK(digest_of(1, 2, 3) == 0x2de6f22210e85e5b);
}

TEST_CASE("two words that change places change the digest") {
  CHECK(digest_of(1, 2) != digest_of(2, 1));
  CHECK(digest_of(7, 1, 2, 9) != digest_of(7, 2, 1, 9));
}

TEST_CASE("a zero more changes the digest") {
  CHECK(digest_of() != digest_of(0));
  CHECK(digest_of(0) != digest_of(0, 0));
}

TEST_CASE("every single bit of a word changes the digest, and all differently") {
  std::set<std::uint64_t> seen{digest_of(0, 5)};
  for (unsigned bit = 0; bit < 64; ++bit) seen.insert(digest_of(std::uint64_t{1} << bit, 5));
  CHECK(seen.size() == 65);
}

TEST_CASE("in a pair of words, the two do not stand for each other and every bit counts") {
  const auto pair = [](std::uint64_t a, std::uint64_t b) {
    Digest digest;
    digest.add(a, b);
    return digest.value();
  };
  CHECK(pair(1, 2) != pair(2, 1));
  CHECK(pair(3, 3) != pair(4, 4));
  std::set<std::uint64_t> seen{pair(0, 0)};
  for (unsigned bit = 0; bit < 64; ++bit)
    seen.insert(pair(std::uint64_t{1} << bit, 0)), seen.insert(pair(0, std::uint64_t{1} << bit));
  CHECK(seen.size() == 129);
}

}  // namespace
}  // namespace atl::test
