#pragma once
#include <string_view>

namespace atl {

/// Whether an MPI launcher started this process.
bool started_by_launcher();

/// Whether an entry of an environment, `NAME=value`, is what a launcher told this rank: a child that sees it would take
/// itself for that rank, or wait for its daemon. What the user sets for launchers and MPI is not.
bool is_launchers(std::string_view entry);

/// This process's number in its job, as the launcher tells it; 0 if none does.
int launched_rank();

/// Ranks of this job on this host, as Open MPI's or Slurm's launcher tells them; 0 if none does.
int ranks_on_this_host();

/// Processors that this process may use.
int processors_of_process();

/// Tasks on node `node` of a list as Slurm writes it: "4(x2),1" are 4, 4 and 1. 0 if the list has no such node.
int tasks_on_node(std::string_view list, int node);

}  // namespace atl
