#pragma once
#include <string_view>

namespace atl {

/// Whether an MPI launcher started this process.
bool started_by_launcher();

/// This process's number in its job, as the launcher tells it; 0 if none does.
int launched_rank();

/// Ranks of this job on this host, as Open MPI's or Slurm's launcher tells them; 0 if none does.
int ranks_on_this_host();

/// Processors that this process may use.
int processors_of_process();

/// Tasks on node `node` of a list as Slurm writes it: "4(x2),1" are 4, 4 and 1. 0 if the list has no such node.
int tasks_on_node(std::string_view list, int node);

}  // namespace atl
