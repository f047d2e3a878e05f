/// A suite on the ranks that mpirun started, or on so many threads of each: every rank runs all cases in the same
/// order; the program fails if a case failed on any of them. Debian's doctest has no MPI extension.
#define DOCTEST_CONFIG_IMPLEMENT
#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "comm/mpi_transport.hpp"
#include "comm/worker_transport.hpp"
#include "tests/contract/transport_contract.hpp"

namespace atl::test {
namespace {
MpiSession* job = nullptr;  // set once by main, before any case runs
int threads = 1;
}  // namespace
void on_all_ranks(const std::function<void(Transport&)>& body) {
  if (threads == 1) return body(job->transport());
  run_workers(job->transport(), threads, body, [](const std::exception_ptr&) { job->abort(1); });
}
}  // namespace atl::test

int main(int argc, char** argv) {
  using atl::test::threads;
  if (argc == 3 && std::string_view(argv[1]) == "--threads") threads = std::atoi(argv[2]), argc = 1;
  atl::MpiSession session(argc, argv, true, threads);
  atl::test::job = &session;
  const int rank = session.transport().rank(), size = session.transport().size();
  if (threads > 1 && !session.no_threads().empty()) {
    std::printf("skipped: %s\n", session.no_threads().c_str());
    return 77;
  }
  doctest::Context context(argc, argv);
  context.setOption("no-colors", true);
  if (rank != 0) context.setOption("minimal", true);  // only failures
  int failed = context.run();
  if (size > 1) MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) std::printf("%d ranks of %d threads: %s\n", size, threads, failed ? "FAILED" : "passed");
  return failed;
}
