#include "core/engine/archive.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <numeric>

namespace atl::test {
namespace {

/// Bytes one after the other, which is all that containers ask of an archive.
struct Writer {
  using is_saving = std::true_type;
  std::string bytes;
  void save_binary(const void* from, std::size_t size) { bytes.append(static_cast<const char*>(from), size); }
};
struct Reader {
  using is_saving = std::false_type;
  const std::string& bytes;
  std::size_t at = 0;
  void load_binary(void* to, std::size_t size) {
    if (bytes.size() - at < size) throw SimulationError("the data end");
    std::memcpy(to, bytes.data() + at, size);
    at += size;
  }
};

TEST_CASE("a text and a vector are their number and their elements, also beyond a piece of 1 MiB and between two pieces") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, kPiece - 1, kPiece, kPiece + 1, 2 * kPiece + 12345}) {
    CAPTURE(size);
    std::string text(size, 'a');
    std::iota(text.begin(), text.end(), 'a');
    std::vector<std::uint64_t> words(size / 8 + 1);
    std::iota(words.begin(), words.end(), 1u);
    const std::string text_before = text;
    const std::vector<std::uint64_t> words_before = words;
    Writer written;
    state(written, text, words);
    CHECK(written.bytes.size() == 8 + size + 8 + (size / 8 + 1) * 8);

    std::string text_back = "longer before it is read, or shorter";
    std::vector<std::uint64_t> words_back{3, 2, 1};
    Reader read{written.bytes};
    state(read, text_back, words_back);
    CHECK(read.at == written.bytes.size());
    CHECK((text_back == text_before));
    CHECK((words_back == words_before));
  }
}

/// Says that its two numbers are in order.
struct Ordered {
  std::uint32_t low = 0, high = 0;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, low, high); }
  void check_state() const { require_state(low <= high); }
};

TEST_CASE(
    "a vector that keeps its size, and a part that checks itself, are refused when they are read and not when written") {
  std::vector<std::uint16_t> three{1, 2, 3}, four(4);
  Ordered sound{1, 2}, wrong{2, 1};
  Writer written;
  state(written, fixed(three), sound, wrong);
  Reader all{written.bytes}, other{written.bytes};
  std::vector<std::uint16_t> back(3);
  Ordered read;
  state(all, fixed(back), read);
  CHECK((back == three));
  CHECK(read.high == 2);
  CHECK_THROWS_AS(state(all, read), SimulationError);
  CHECK_THROWS_AS(state(other, fixed(four)), SimulationError);
}

TEST_CASE("places are named once each and are there") {
  CHECK((require_places(std::vector<std::uint32_t>{2, 0}, 3) == std::vector<bool>{true, false, true}));
  CHECK_THROWS_AS(require_places(std::vector<std::uint32_t>{0, 3}, 3), SimulationError);
  CHECK_THROWS_AS(require_places(std::vector<std::uint32_t>{1, 1}, 3), SimulationError);
}

TEST_CASE("a truth value that was read as it lay is 0 or 1") {
  bool value = false;
  CHECK(is_bool(value));
  const unsigned char two = 2;
  std::memcpy(&value, &two, 1);
  CHECK_FALSE(is_bool(value));
}

TEST_CASE("a number of elements that is wrong ends at the end of the data, with room made for one piece") {
  std::string bytes(8 + 3, '\0');
  bytes[6] = 1;  // 2^48 elements
  Reader text_of{bytes}, words_of{bytes};
  std::string text;
  std::vector<std::uint64_t> words;
  CHECK_THROWS_WITH_AS(state(text_of, text), "the data end", SimulationError);
  CHECK_THROWS_WITH_AS(state(words_of, words), "the data end", SimulationError);
  CHECK(text.size() == kPiece);
  CHECK(words.size() == kPiece / 8);
}

}  // namespace
}  // namespace atl::test
