#pragma once
#include <cstdint>
#include <functional>

#include "comm/transport.hpp"

namespace atl {
struct Commands;

/// Threads as they were asked for, of a system of so many chips.
struct ThreadPlan {
  int threads = 1;
  std::function<std::uint32_t()> chips;  ///< called if there are several threads
  bool mapped = false;                   ///< the user says where each process is
};

/// Runs `on_rank(rank, threads of a chip)` on the ranks of the program: those of mpirun, or threads of this process, or so
/// many threads in each process of mpirun. One chip in one process is no two ranks: its threads share it. Collective; throws
/// InputError for more threads than there is work for.
int run_on_ranks(Commands& c, const ThreadPlan& plan, const std::function<int(Transport&, unsigned)>& on_rank);

}  // namespace atl
