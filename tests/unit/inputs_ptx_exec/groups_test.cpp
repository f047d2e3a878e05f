#include <doctest/doctest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>

#include "harness.hpp"

using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;

namespace {

constexpr unsigned kThreads = 64;

std::string fixture(const std::string& file) {
  std::ifstream in(ATOLL_SOURCE_DIR "/tests/unit/inputs_ptx_exec/fixtures/" + file);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}

/// What groups.cu leaves for one thread of a group; ranks are positions in `threads`.
U32 expected(const std::vector<unsigned>& threads, const U32& value, unsigned rank) {
  U32 out(8);
  out[0] = rank;
  out[1] = static_cast<std::uint32_t>(threads.size());
  bool any = false, all = true;
  for (unsigned r = 0; r < threads.size(); ++r) {
    const std::uint32_t v = value[threads[r]];
    out[2] += v;
    out[3] = std::max(out[3], v);
    out[4] |= (v & 1) << r;
    any |= v == 3, all &= v < 90;
    out[6] |= static_cast<std::uint32_t>(v % 3 == value[threads[rank]] % 3) << r;
  }
  out[5] = any * 2u + all;
  out[7] = value[threads[std::min<std::size_t>(rank + 1, threads.size() - 1)]];
  return out;
}

U32 values(std::mt19937& random) {
  U32 v(kThreads);
  for (std::uint32_t& x : v) x = random() % 95;
  return v;
}

}  // namespace

TEST_CASE("tiles of cooperative groups of every size see their own threads, and no others") {
  std::mt19937 random(7);
  for (const char* file : {"groups_75.ptx", "groups_80.ptx"})
    for (const unsigned size : {2, 4, 8, 16, 32}) {
      CAPTURE(file);
      CAPTURE(size);
      Harness h(fixture(file), file);
      U32 in = values(random), out(8 * kThreads), mine(8);
      h.run("tile" + std::to_string(size), 1, kThreads, h.buffer(in), h.buffer(out));
      for (unsigned t = 0; t < kThreads; ++t) {
        std::vector<unsigned> threads;
        for (unsigned n = 0; n < size; ++n) threads.push_back(t / size * size + n);
        std::copy_n(out.begin() + 8 * t, 8, mine.begin());
        CHECK(mine == expected(threads, in, t % size));
      }
    }
}

TEST_CASE("coalesced groups of any threads of a warp see their own threads, and no others") {
  std::mt19937 random(8);
  for (const char* file : {"groups_75.ptx", "groups_80.ptx"})
    for (unsigned round = 0; round < 12; ++round) {
      CAPTURE(file);
      Harness h(fixture(file), file);
      U32 in = values(random), out(8 * kThreads), way(kThreads), mine(8), value = in;
      for (std::uint32_t& w : way) w = random() % (round + 2) == 0;
      for (unsigned t = 0; t < kThreads; ++t) value[t] += way[t] != 1;
      h.run("coalesced", 1, kThreads, h.buffer(in), h.buffer(out), h.buffer(way));
      for (unsigned t = 0; t < kThreads; ++t) {
        std::vector<unsigned> threads;
        unsigned rank = 0;
        for (unsigned n = t / 32 * 32; n < t / 32 * 32 + 32; ++n) {
          if (way[n] != way[t]) continue;
          if (n == t) rank = static_cast<unsigned>(threads.size());
          threads.push_back(n);
        }
        std::copy_n(out.begin() + 8 * t, 8, mine.begin());
        if (rank + 1 == threads.size()) mine[7] = value[t];  // what the last one gets is not defined
        CHECK(mine == expected(threads, value, rank));
      }
    }
}
