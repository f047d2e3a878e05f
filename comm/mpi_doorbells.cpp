#include "comm/mpi_doorbells.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>
#include <new>

namespace atl {
namespace {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "a futex is a plain word");

/// Between processes, so without FUTEX_PRIVATE_FLAG.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value, const timespec* timeout) {
  return syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

}  // namespace

MpiDoorbells::MpiDoorbells() {
  int size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  bell_.resize(static_cast<std::size_t>(size));
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_);
  int here = 1;
  MPI_Comm_size(host_, &here);
  if (here == 1) return;
  MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN);  // without shared memory ranks sleep for moments instead
  Bell* mine = nullptr;
  if (MPI_Win_allocate_shared(sizeof(Bell), 1, MPI_INFO_NULL, host_, &mine, &window_) != MPI_SUCCESS) return;
  new (mine) Bell;
  MPI_Group all, host;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Comm_group(host_, &host);
  for (int r = 0; r < here; ++r) {
    int rank = 0, unit = 0;
    MPI_Aint bytes = 0;
    void* bell = nullptr;
    MPI_Group_translate_ranks(host, 1, &r, all, &rank);
    MPI_Win_shared_query(window_, r, &bytes, &unit, &bell);
    bell_[static_cast<std::size_t>(rank)] = static_cast<Bell*>(bell);
  }
  MPI_Group_free(&all);
  MPI_Group_free(&host);
  MPI_Barrier(host_);  // all bells are there
}

MpiDoorbells::~MpiDoorbells() {
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  MPI_Comm_free(&host_);
}

void MpiDoorbells::ring(int rank) {
  Bell* const bell = bell_[static_cast<std::size_t>(rank)];
  if (bell == nullptr) return;
  bell->rings.fetch_add(1);
  if (bell->asleep.load() != 0) futex(bell->rings, FUTEX_WAKE, INT_MAX, nullptr);
}

std::uint32_t MpiDoorbells::rings() const {
  const Bell* const bell = bell_[static_cast<std::size_t>(rank_)];
  return bell == nullptr ? 0 : bell->rings.load();
}

void MpiDoorbells::sleep(std::uint32_t rings) {
  Bell& bell = *bell_[static_cast<std::size_t>(rank_)];
  const timespec longest{0, 1'000'000};
  bell.asleep.fetch_add(1);                        // several threads may sleep, and all are woken
  futex(bell.rings, FUTEX_WAIT, rings, &longest);  // returns at once if it has been rung since
  bell.asleep.fetch_sub(1);
}

}  // namespace atl
