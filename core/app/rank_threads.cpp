#include "core/app/rank_threads.hpp"

#include <fmt/format.h>

#include <mutex>
#include <string>

#include "comm/collective_errors.hpp"
#include "comm/launcher.hpp"
#include "comm/mpi_transport.hpp"
#include "comm/thread_transport.hpp"
#include "comm/worker_transport.hpp"
#include "core/app/commands.hpp"
#include "core/app/tell.hpp"

namespace atl {

int run_on_ranks(Commands& c, const ThreadPlan& plan, const std::function<int(Transport&, unsigned)>& on_rank) {
  Transport& t = c.mpi.transport();
  if (plan.threads == 1) return on_rank(t, 1);
  if (t.size() == 1 && !plan.mapped && plan.chips() == 1) return on_rank(t, static_cast<unsigned>(plan.threads));
  int code = 0;
  std::mutex mutex;
  const auto body = [&](Transport& rank) {
    const int mine = on_rank(rank, 1);  // the same on all
    const std::lock_guard lock(mutex);
    code = mine;
  };
  if (t.size() == 1) {
    run_threads(plan.threads, body);
    return code;
  }
  run_collectively(t, [&] {
    if (const std::string why = c.mpi.no_threads(); !why.empty())
      throw InputError("--threads", why + "; give mpirun more ranks instead");
    const int workers = t.size() * plan.threads, most = static_cast<int>(plan.chips()) + 1;
    if (workers > most)
      throw InputError(
          fmt::format("--threads {}", plan.threads),
          fmt::format("with {} ranks of mpirun these are {} in all; a system of {} chip{} takes {} at most, one "
                      "per chip and one for the controller",
                      t.size(), workers, most - 1, most == 2 ? "" : "s", most));
  });
  if (t.rank() == 0 && processors_of_process() < plan.threads)
    tell(
        "note: rank 0 is bound to {} processor{}, which its {} threads share; give mpirun `--map-by slot:PE={}`, or "
        "srun `--cpus-per-task={}`\n",
        processors_of_process(), processors_of_process() == 1 ? "" : "s", plan.threads, plan.threads, plan.threads);
  run_workers(t, plan.threads, body, c.give_up);
  return code;
}

}  // namespace atl
