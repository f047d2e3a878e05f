/// A thread of a rank fails while the others wait for it, those of other ranks too, and know nothing: the job must end.
/// worker_fails THREADS WHO
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "comm/mpi_transport.hpp"
#include "comm/worker_transport.hpp"

int main(int argc, char** argv) {
  const int threads = argc == 3 ? std::atoi(argv[1]) : 2, who = argc == 3 ? std::atoi(argv[2]) : 0;
  argc = 1;
  atl::MpiSession job(argc, argv, true, threads);
  atl::run_workers(
      job.transport(), threads,
      [&](atl::Transport& t) {
        t.all_min(1);
        if (t.rank() == who) throw std::runtime_error("worker " + std::to_string(who) + " is gone");
        std::string body;
        t.rank() % 2 == 0 ? t.open(who, 5)->receive(body) : static_cast<void>(t.all_min(1));
      },
      [&](const std::exception_ptr& error) {
        try {
          std::rethrow_exception(error);
        } catch (const std::exception& e) {
          std::fprintf(stderr, "failed: %s\n", e.what());
        }
        job.abort(7);
      });
  return 0;
}
