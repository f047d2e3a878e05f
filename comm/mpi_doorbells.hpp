#pragma once
#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <vector>

namespace atl {

/// Wakes ranks of this host that wait for a message: one word for each in memory that they share, on which it sleeps until
/// somebody rings. MPI alone can only be polled, and a rank that polls keeps the processor that another rank, or another
/// job, needs for what it waits for.
class MpiDoorbells {
 public:
  /// Collective over all ranks, as is the end, which must come before MPI_Finalize.
  MpiDoorbells();
  ~MpiDoorbells();
  MpiDoorbells(const MpiDoorbells&) = delete;
  MpiDoorbells& operator=(const MpiDoorbells&) = delete;

  /// `rank` is on this host, so that ring() wakes it, and it this one.
  bool reaches(int rank) const { return bell_[static_cast<std::size_t>(rank)] != nullptr; }
  /// After a message to `rank`; nothing happens if it is elsewhere.
  void ring(int rank);

  /// How often this rank's bell has been rung: to be asked before looking for a message that may not be there.
  std::uint32_t rings() const;
  /// Sleeps until the bell has been rung more often than `rings`, or for about a millisecond: messages that MPI had to hold
  /// back at the sender come without a ring.
  void sleep(std::uint32_t rings);

 private:
  struct Bell {
    std::atomic<std::uint32_t> rings{0}, asleep{0};
    char padding[56];  ///< a cache line each
  };
  int rank_ = 0;
  MPI_Comm host_ = MPI_COMM_NULL;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<Bell*> bell_;  ///< [rank] nullptr: on another host
};

}  // namespace atl
