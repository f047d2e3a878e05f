#include "inputs/trace/deflate.hpp"

#include <zlib.h>

#include <array>
#include <cmath>
#include <random>

#include "inputs/trace/prefix_code.hpp"
#include "support.hpp"

namespace atl::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

Bytes deflated(const Bytes& bytes) {
  Deflater deflater;
  Bytes out;
  deflater.compress(bytes, out);
  return out;
}

/// What zlib makes of it, which also compares the checksum; empty and false: it refuses.
std::pair<bool, Bytes> inflated(const Bytes& packed, std::size_t size) {
  Bytes out(size + 1);
  uLongf length = out.size();
  if (uncompress(out.data(), &length, packed.data(), packed.size()) != Z_OK) return {false, {}};
  out.resize(length);
  return {true, out};
}

/// Bytes of `values` values, with repeats of what stands before.
Bytes random_bytes(std::mt19937_64& random, std::size_t size, unsigned values, bool repeats) {
  Bytes bytes;
  while (bytes.size() < size) {
    if (repeats && bytes.size() > 4 && random() % 4 == 0) {
      const std::size_t distance = 1 + random() % bytes.size(), length = 1 + random() % (random() % 8 == 0 ? 2000 : 20);
      for (std::size_t i = 0; i < length; ++i) bytes.push_back(bytes[bytes.size() - distance]);
    } else {
      bytes.push_back(static_cast<std::uint8_t>(random() % values));
    }
  }
  bytes.resize(size);
  return bytes;
}

}  // namespace

TEST_CASE("zlib reads back what is deflated: of any length, of few and many values, with and without repeats") {
  std::mt19937_64 random(1);
  std::vector<std::size_t> sizes = {0,  1,  2,  3,   4,   5,   7,     8,     15,    16,    17,
                                    31, 32, 33, 257, 258, 259, 32768, 65535, 65536, 200000};
  for (unsigned i = 0; i < 300; ++i) sizes.push_back(random() % 3000);
  for (const std::size_t size : sizes)
    for (const unsigned values : {1U, 2U, 5U, 256U})
      for (const bool repeats : {false, true}) {
        const Bytes bytes = random_bytes(random, size, values, repeats);
        const auto [sound, back] = inflated(deflated(bytes), size);
        CAPTURE(size);
        CAPTURE(values);
        REQUIRE(sound);
        REQUIRE(back == bytes);
      }
}

TEST_CASE(
    "repeats of every length from 4 to 600, and at every distance that is just within or beyond 32 KiB, are read back") {
  std::mt19937_64 random(2);
  for (std::size_t length = 4; length <= 600; ++length) {
    Bytes bytes = random_bytes(random, 600, 256, false);
    bytes.insert(bytes.end(), bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    REQUIRE(inflated(deflated(bytes), bytes.size()).second == bytes);
  }
  for (std::size_t distance = 32760; distance <= 32776; ++distance) {
    Bytes bytes = random_bytes(random, 200, 256, false);
    bytes.resize(distance);
    bytes.insert(bytes.end(), bytes.begin(), bytes.begin() + 200);
    const Bytes packed = deflated(bytes);
    REQUIRE(inflated(packed, bytes.size()).second == bytes);
    CHECK((packed.size() < 400) == (distance <= 32768));
  }
}

TEST_CASE("the same bytes are deflated to the same, whatever was before") {
  std::mt19937_64 random(3);
  const Bytes bytes = random_bytes(random, 20000, 7, true);
  const Bytes alone = deflated(bytes);
  Deflater deflater;
  Bytes out;
  for (unsigned i = 0; i < 5; ++i) deflater.compress(random_bytes(random, 5000, 7, true), out);
  out.clear();
  deflater.compress(bytes, out);
  CHECK(out == alone);
}

TEST_CASE(
    "a column that repeats takes a hundredth, one of a value less than a thousandth, random bytes a few more than they "
    "are") {
  std::mt19937_64 random(4);
  Bytes column;
  const Bytes warp = random_bytes(random, 1500, 5, false);
  while (column.size() < 32768) column.insert(column.end(), warp.begin(), warp.end());
  CHECK(deflated(column).size() < 800);
  CHECK(deflated(Bytes(32768, 3)).size() < 60);
  const Bytes noise = random_bytes(random, 100000, 256, false);
  CHECK(deflated(noise).size() <= noise.size() + 2 + 2 * 5 + 4);
}

TEST_CASE("the checksum is zlib's, also of more bytes than fit one round of sums") {
  for (const std::size_t size : {0U, 1U, 31U, 32U, 33U, 131072U, 131073U, 300001U}) {
    const Bytes bytes(size, 0xFF);
    CHECK(adler32(bytes) ==
          ::adler32(1, bytes.empty() ? reinterpret_cast<const Bytef*>("") : bytes.data(), static_cast<uInt>(size)));
  }
}

TEST_CASE(
    "a prefix code is complete, within its bound, and takes no more than an eighth of a bit above the entropy and one") {
  std::mt19937_64 random(5);
  for (unsigned round = 0; round < 200; ++round) {
    std::array<std::uint32_t, 286> frequency{};
    const unsigned used = 2 + static_cast<unsigned>(random() % 284);
    for (unsigned s = 0; s < used; ++s) frequency[random() % 286] = 1U << random() % 18;
    for (const unsigned longest : {9U, 15U}) {
      std::array<std::uint8_t, 286> length{};
      prefix_code_lengths(frequency.data(), 286, longest, length.data());
      double taken = 0, bits = 0, total = 0, entropy = 0;
      for (const std::uint32_t f : frequency) total += f;
      for (unsigned s = 0; s < 286; ++s) {
        REQUIRE(length[s] <= longest);
        REQUIRE((length[s] != 0 || frequency[s] == 0));
        if (length[s] != 0) taken += std::ldexp(1.0, -length[s]);
        bits += static_cast<double>(frequency[s]) * length[s];
        if (frequency[s] != 0) entropy += frequency[s] * std::log2(total / frequency[s]);
      }
      CHECK(taken == 1.0);
      if (longest == 15) CHECK(bits <= entropy + 1.125 * total);
    }
  }
}

TEST_CASE("one symbol, and none, get two codes of one bit, and codes are canonical") {
  for (const std::uint32_t often : {0U, 7U}) {
    const std::array<std::uint32_t, 4> frequency = {0, 0, often, 0};
    std::array<std::uint8_t, 4> length{};
    prefix_code_lengths(frequency.data(), 4, 15, length.data());
    CHECK(length[0] == 1);
    CHECK(length[1] + length[2] + length[3] == 1);
  }
  // RFC 1951, 3.2.2: lengths (3, 3, 3, 3, 3, 2, 4, 4) give 010, 011, 100, 101, 110, 00, 1110, 1111, which are turned around.
  const std::array<std::uint8_t, 8> length = {3, 3, 3, 3, 3, 2, 4, 4};
  std::array<std::uint16_t, 8> code{};
  prefix_codes(length.data(), 8, code.data());
  CHECK(code == std::array<std::uint16_t, 8>{0b010, 0b110, 0b001, 0b101, 0b011, 0b00, 0b0111, 0b1111});
}

}  // namespace atl::test
