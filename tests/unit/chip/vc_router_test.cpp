#include "core/chip/noc/vc_router.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace atl {
namespace {

/// A stage of routers whose packets take five cycles; a packet's SM names its output.
struct Stage {
  struct Passage {
    std::uint64_t end;
    std::uint32_t input, output;
    std::uint32_t token;
  };
  auto begin() {
    return [this](std::uint32_t input, std::uint32_t output, const Packet& p) {
      passing.push_back({now + 5, input, output, p.token});
    };
  }
  explicit Stage(std::uint32_t inputs, std::uint32_t window, std::uint32_t capacity = 6,
                 std::uint32_t room = VcRouter::kNoLimit)
      : router(inputs, inputs, inputs, window, capacity, room) {}

  void arrive(std::uint32_t input, std::uint32_t output, std::uint32_t token = 0) {
    Packet p;
    p.sm = static_cast<std::uint8_t>(output), p.token = token;
    router.arrive(input, p, output_of, begin());
  }
  void free(std::uint32_t output) { router.free(output, 0, output_of, begin()); }
  /// Ends the passages that are due.
  void advance() {
    ++now;
    for (std::size_t i = 0; i < passing.size();) {
      if (passing[i].end > now) {
        ++i;
        continue;
      }
      const Passage p = passing[i];
      passing.erase(passing.begin() + static_cast<std::ptrdiff_t>(i));
      done.push_back(p);
      router.finish(p.input, output_of, begin());
    }
  }
  std::vector<std::uint32_t> tokens_passing() const {
    std::vector<std::uint32_t> t;
    for (const Passage& p : passing) t.push_back(p.token);
    std::sort(t.begin(), t.end());
    return t;
  }

  static constexpr auto output_of = [](const Packet& p) { return std::uint32_t{p.sm}; };
  VcRouter router;
  std::uint64_t now = 0;
  std::vector<Passage> passing, done;
};

/// Of 16 inputs that always have packets: the part of the outputs' bandwidth that is used.
template <class Choose> double throughput(std::uint32_t window, Choose&& choose) {
  Stage s(16, window);
  for (int cycle = 0; cycle < 20000; ++cycle) {
    for (std::uint32_t i = 0; i < 16; ++i)
      while (s.router.room(i)) s.arrive(i, choose(i));
    s.advance();
  }
  return static_cast<double>(s.done.size()) * 5 / 20000 / 16;
}

TEST_CASE(
    "under uniform traffic one virtual channel passes 0.6 of the bandwidth, four pass 0.8, and all if inputs have outputs "
    "of their own") {
  std::mt19937 random(7);
  const auto uniform = [&](std::uint32_t) { return random() % 16; };
  CHECK(throughput(1, uniform) == doctest::Approx(0.60).epsilon(0.05));
  CHECK(throughput(4, uniform) == doctest::Approx(0.81).epsilon(0.05));
  CHECK(throughput(1, [](std::uint32_t i) { return i; }) > 0.999);
}

TEST_CASE("a packet that waits for its output holds up those behind it, but not other virtual channels") {
  for (const std::uint32_t window : {1u, 2u}) {
    Stage s(2, window);
    s.arrive(1, 0, 1);
    s.arrive(0, 0, 2);
    s.arrive(0, 1, 3);
    CHECK(s.tokens_passing() == (window == 1 ? std::vector<std::uint32_t>{1} : std::vector<std::uint32_t>{1, 3}));
    while (s.done.size() < 3) s.advance();
    CHECK(s.now == (window == 1 ? 15 : 10));
    CHECK(s.router.empty());
  }
}

TEST_CASE("a full far side stops an output, and what is freed lets one packet pass") {
  Stage s(2, 4, 6, 1);
  for (std::uint32_t token = 1; token <= 3; ++token) s.arrive(0, 1, token);
  for (int i = 0; i < 20; ++i) s.advance();
  CHECK(s.done.size() == 1);
  s.free(1);
  CHECK(s.tokens_passing() == std::vector<std::uint32_t>{2});
  for (int i = 0; i < 20; ++i) s.advance();
  CHECK(s.done.size() == 2);
}

TEST_CASE("inputs have their turns at an output, and packets from one input to one output stay in order") {
  Stage s(4, 4);
  std::vector<std::uint32_t> sent(4), got(4);
  for (int cycle = 0; cycle < 1000; ++cycle) {
    for (std::uint32_t i = 0; i < 4; ++i)
      while (s.router.room(i)) s.arrive(i, 2, sent[i]++);
    s.advance();
  }
  for (const Stage::Passage& p : s.done) CHECK(p.token == got[p.input]++);
  CHECK(*std::max_element(got.begin(), got.end()) - *std::min_element(got.begin(), got.end()) <= 1);
}

}  // namespace
}  // namespace atl
