#pragma once
#include <string>
#include <vector>

#include "comm/transport.hpp"
#include "core/app/run_job.hpp"
#include "inputs/workload/workload.hpp"
#include "inputs/workload/workload_files.hpp"
#include "partition/rank_map.hpp"

/// What can be wrong with a run, looked at before it begins, or, of its files, when it has ended. All throw InputError; the
/// collective ones do so on every rank.
namespace atl {

/// Options that are at odds, with each other or with so many ranks.
void check_options(const RunJob& job, int ranks);

/// Collective. Chips that do not fit into a host's memory would end the run, or the host, long after it began.
void check_memory(Transport& t, const RunJob& job, const RankMap& map, const std::string& host);

/// Collective. The workload's digest, which is the same on all ranks: a rank on another host, or started with another name,
/// may see another file, as large and with the same kernels, and the run would be of neither. Ranks that see the same file
/// read it together, each some pieces of it: none reads all of a trace of many gigabytes.
std::string common_digest(Transport& t, const RunJob& job, const WorkloadFiles& files);

/// Collective. Throws InputError if the workload is not what `digest` says any more: the run would be of both.
void check_unchanged(Transport& t, const RunJob& job, const WorkloadFiles& files, const std::string& digest);

/// What the trace lacks, and each of its kernels', a line for each; told to the user, who may want an error instead.
std::string look_at_traces(const RunJob& job, Workload& workload);

/// What is legal and hardly meant: of the system's keys, of those that the command line sets, and of a workload that fits
/// other machines or is scaled otherwise than asked for. A line each.
std::vector<std::string> warnings_of(const RunJob& job, const Workload& workload);

/// What the run writes and replaces, on the controller's rank. Throws IoError, too.
void prepare_files(const RunJob& job, const std::string& digest);

/// Whether a run would soon mix its checkpoints with those of an earlier one: if it does not go on from them.
bool replaces_checkpoints(const RunJob& job);
/// Last of all that can fail before the run begins. Throws IoError.
void remove_checkpoints(const RunJob& job);

}  // namespace atl
