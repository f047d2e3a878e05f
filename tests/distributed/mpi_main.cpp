/// The contract suite on the ranks that mpirun started: every rank runs all cases in the same order; the program fails if
/// a case failed on any of them. Debian's doctest has no MPI extension.
#define DOCTEST_CONFIG_IMPLEMENT
#include <mpi.h>

#include <cstdio>

#include "comm/mpi_transport.hpp"
#include "tests/contract/transport_contract.hpp"

namespace atl::test {
namespace {
Transport* ranks = nullptr;  // set once by main, before any case runs
}
void on_all_ranks(const std::function<void(Transport&)>& body) { body(*ranks); }
}  // namespace atl::test

int main(int argc, char** argv) {
  atl::MpiSession session(argc, argv, true);
  atl::test::ranks = &session.transport();
  const int rank = session.transport().rank(), size = session.transport().size();
  doctest::Context context(argc, argv);
  context.setOption("no-colors", true);
  if (rank != 0) context.setOption("minimal", true);  // only failures
  int failed = context.run();
  if (size > 1) MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks: %s\n", size, failed ? "FAILED" : "passed");
  return failed;
}
