#pragma once
#include <string>
#include <vector>

/// Workloads and experiments that come with Atoll, which commands take by name: below `share/atoll` of the prefix that this
/// program is installed in, or in the sources that it was built from.
namespace atl {

/// The file that a word on the command line means: the word itself if there is such a file or if it has a suffix or a
/// folder, else the workload (NAME.json, traces/NAME.h5) or experiment of this name. InputError if there is neither.
std::string workload_file(const std::string& word);
std::string experiment_file(const std::string& word);

/// What the user is to know of a word that is a file, and the name of something that comes with Atoll besides; else empty.
std::string hidden_workload(const std::string& word);
std::string hidden_experiment(const std::string& word);

/// The file of the workload of this name; empty if none comes with Atoll.
std::string shipped_workload(const std::string& name);

/// Their names, in order.
std::vector<std::string> shipped_workloads();
std::vector<std::string> shipped_experiments();

}  // namespace atl
