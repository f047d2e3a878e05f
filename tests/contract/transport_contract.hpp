#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <string>

#include "comm/transport.hpp"

/// One suite for every Transport. The cases lie in *_contract_test.cpp; two programs are made of them: one runs each case
/// on one rank alone and on 2 to 5 threads, the other on the ranks that mpirun starts (tests/distributed/mpi_main.cpp).
namespace atl::test {

/// Runs `body` on every rank, for each layout that the program tests. Bodies use CHECK only: a REQUIRE that fails on one
/// rank would leave the others waiting.
void on_all_ranks(const std::function<void(Transport&)>& body);

/// `size` bytes that tell sender, receiver and round apart.
inline std::string pattern(std::size_t size, int from, int to, int round) {
  std::string text(size, '\0');
  auto x = static_cast<std::uint32_t>(from * 7919 + to * 104729 + round * 31 + 1);
  for (char& c : text) c = static_cast<char>((x = x * 1664525u + 1013904223u) >> 24);
  return text;
}

}  // namespace atl::test
