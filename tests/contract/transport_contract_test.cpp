#include "tests/contract/transport_contract.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

namespace atl::test {
namespace {

/// Sends to the ranks that `is_peer` names and receives from them, `size(from, to)` bytes each way; CHECKs what arrives.
template <class IsPeer, class Size> void swap_with(Transport& t, int round, IsPeer is_peer, Size size) {
  std::map<int, std::unique_ptr<Stream>> peers;
  for (int r = 0; r < t.size(); ++r) {
    if (r != t.rank() && is_peer(t.rank(), r)) peers.emplace(r, t.open(r, 0));
  }
  for (auto& [r, stream] : peers) stream->send(pattern(size(t.rank(), r), t.rank(), r, round));
  for (auto& [r, stream] : peers) {
    std::string body = "stale";
    stream->receive(body);
    const bool equal = body == pattern(size(r, t.rank()), r, t.rank(), round);
    CHECK(equal);
  }
}

constexpr auto everybody = [](int, int) { return true; };

}  // namespace

TEST_CASE("ranks are numbered from 0 and all see the same size") {
  on_all_ranks([](Transport& t) {
    const auto all = t.all_gather(std::to_string(t.rank()) + "/" + std::to_string(t.size()));
    CHECK(all.size() == static_cast<std::size_t>(t.size()));
    for (std::size_t r = 0; r < all.size(); ++r) CHECK(all[r] == std::to_string(r) + "/" + std::to_string(t.size()));
  });
}

TEST_CASE("streams between two ranks are independent: messages are taken in any order of streams, in order within each") {
  on_all_ranks([](Transport& t) {
    constexpr int kNumbers[] = {0, 1, 2, 77, Transport::kStreams - 1};
    for (int r = 0; r < t.size(); ++r) {
      if (r == t.rank()) continue;
      std::vector<std::unique_ptr<Stream>> streams;
      for (const int n : kNumbers) streams.push_back(t.open(r, n));
      for (int round = 0; round < 3; ++round) {
        for (std::size_t i = 0; i < streams.size(); ++i)
          streams[i]->send(pattern(100 + 30000 * i, t.rank(), kNumbers[i], round));
        for (std::size_t i = streams.size(); i-- > 0;) {
          std::string body;
          streams[i]->receive(body);
          const bool equal = body == pattern(100 + 30000 * i, r, kNumbers[i], round);
          CHECK(equal);
        }
      }
    }
  });
}

TEST_CASE("two messages of any size may be under way on a stream in each direction") {
  on_all_ranks([](Transport& t) {
    std::map<int, std::unique_ptr<Stream>> peers;
    for (int r = 0; r < t.size(); ++r) {
      if (r != t.rank()) peers.emplace(r, t.open(r, 3));
    }
    constexpr std::size_t kBytes = 300'000;
    for (auto& [r, stream] : peers) stream->send(pattern(kBytes, t.rank(), r, 0));
    for (int round = 1; round < 6; ++round) {
      for (auto& [r, stream] : peers)
        stream->send(pattern(kBytes + 7 * static_cast<std::size_t>(round), t.rank(), r, round));
      for (auto& [r, stream] : peers) {
        std::string body;
        stream->receive(body);
        const bool equal = body == pattern(kBytes + 7 * static_cast<std::size_t>(round - 1), r, t.rank(), round - 1);
        CHECK(equal);
      }
    }
    for (auto& [r, stream] : peers) {
      std::string body;
      stream->receive(body);
      CHECK(body.size() == kBytes + 35);
    }
  });
}

TEST_CASE("streams deliver buffers of every size around the first part's, and of several megabytes") {
  on_all_ranks([](Transport& t) {
    int round = 0;
    for (const std::size_t bytes :
         {0u, 1u, 7u, 8u, 4096u, 61431u, 61432u, 61433u, 61440u, 65535u, 65536u, 65537u, 3000001u}) {
      swap_with(t, ++round, everybody, [&](int, int) { return bytes; });
    }
  });
}

TEST_CASE("streams deliver different sizes in the two directions") {
  on_all_ranks([](Transport& t) {
    for (int round = 0; round < 4; ++round) {
      swap_with(t, round, everybody, [&](int from, int to) {
        const int kind = (from + 2 * to + round) % 4;
        return static_cast<std::size_t>(kind == 0 ? 0 : kind == 1 ? 100 : kind == 2 ? 200000 + from : 1500000);
      });
    }
  });
}

TEST_CASE("2000 rounds of changing sizes arrive in order and complete") {
  on_all_ranks([](Transport& t) {
    for (int round = 0; round < 2000; ++round) {
      swap_with(t, round, everybody,
                [&](int from, int to) { return static_cast<std::size_t>((round * 37 + from * 11 + to) % 300); });
    }
  });
}

TEST_CASE("neighbours on a ring swap messages without the others' part, some of them more often") {
  on_all_ranks([](Transport& t) {
    const int n = t.size();
    const auto ring = [n](int a, int b) { return (a + 1) % n == b || (b + 1) % n == a; };
    for (int round = 0; round < 200; ++round) {
      swap_with(t, round, ring,
                [](int from, int to) { return static_cast<std::size_t>(from) * 10 + static_cast<std::size_t>(to); });
      // Pairs only: 0-1, 2-3, ...; the last of an odd number has nobody and goes on.
      if (round % 3 == 0)
        swap_with(
            t, -round, [](int a, int b) { return a / 2 == b / 2; }, [](int, int) { return 50u; });
    }
  });
}

TEST_CASE("all_min gives every rank the smallest value, whoever has it, up to the largest number") {
  on_all_ranks([](Transport& t) {
    for (int smallest = 0; smallest < t.size(); ++smallest) {
      CHECK(t.all_min(t.rank() == smallest ? 3 : 1000 + static_cast<std::uint64_t>(t.rank())) == 3);
    }
    CHECK(t.all_min(UINT64_MAX) == UINT64_MAX);
    CHECK(t.all_min(UINT64_MAX - static_cast<std::uint64_t>(t.rank())) ==
          UINT64_MAX - static_cast<std::uint64_t>(t.size() - 1));
    CHECK(t.all_min(0) == 0);
  });
}

TEST_CASE("broadcast replaces every rank's body by the root's, of any size") {
  on_all_ranks([](Transport& t) {
    for (int root = 0; root < t.size(); ++root) {
      for (const std::size_t bytes : {0u, 1u, 70000u, 2500000u}) {
        std::string body = t.rank() == root ? pattern(bytes, root, 0, 5) : "mine, of another length";
        t.broadcast(body, root);
        const bool equal = body == pattern(bytes, root, 0, 5);
        CHECK(equal);
      }
    }
  });
}

TEST_CASE("all_gather gives every rank all bodies in rank order, empty and large ones") {
  on_all_ranks([](Transport& t) {
    for (int round = 0; round < 5; ++round) {
      const auto bytes = [&](int rank) { return static_cast<std::size_t>((rank + round) % 3 * 400000); };
      const auto all = t.all_gather(pattern(bytes(t.rank()), t.rank(), 0, round));
      for (int r = 0; r < t.size(); ++r) {
        const bool equal = all[static_cast<std::size_t>(r)] == pattern(bytes(r), r, 0, round);
        CHECK(equal);
      }
    }
  });
}

TEST_CASE("collectives and streams may follow each other in any mixture") {
  on_all_ranks([](Transport& t) {
    for (int round = 0; round < 100; ++round) {
      swap_with(t, round, everybody, [](int, int) { return 64u; });
      CHECK(t.all_min(static_cast<std::uint64_t>(t.rank() + round)) == static_cast<std::uint64_t>(round));
      std::string body = std::to_string(t.rank() * 1000 + round);
      t.broadcast(body, round % t.size());
      CHECK(body == std::to_string(round % t.size() * 1000 + round));
    }
  });
}

}  // namespace atl::test
