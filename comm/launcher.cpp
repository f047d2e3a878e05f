#include "comm/launcher.hpp"

#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace atl {
namespace {

int number(std::string_view text) {
  int value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

int environment_number(const char* name) {
  const char* text = std::getenv(name);
  return text ? number(text) : 0;
}

}  // namespace

bool started_by_launcher() {
  return std::getenv("OMPI_COMM_WORLD_SIZE") || std::getenv("PMIX_RANK") || std::getenv("PMI_RANK");
}

bool is_launchers(std::string_view entry) {
  constexpr std::array<std::string_view, 10> kPrefixes{"OMPI_COMM_WORLD_",
                                                       "OMPI_UNIVERSE_",
                                                       "OMPI_MCA_ess",
                                                       "OMPI_MCA_orte_ess_",
                                                       "OMPI_MCA_orte_hnp_uri=",
                                                       "OMPI_MCA_pmix=",
                                                       "OMPI_MCA_orte_launch=",
                                                       "OMPI_MCA_orte_local_daemon_uri=",
                                                       "PMIX_",
                                                       "PMI_"};
  return std::ranges::any_of(kPrefixes, [entry](std::string_view prefix) { return entry.starts_with(prefix); });
}

int launched_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK"})
    if (std::getenv(name) != nullptr) return environment_number(name);
  return 0;
}

int ranks_on_this_host() {
  if (const int local = environment_number("OMPI_COMM_WORLD_LOCAL_SIZE")) return local;
  const char* tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  return tasks ? tasks_on_node(tasks, environment_number("SLURM_NODEID")) : 0;
}

int processors_of_process() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

int tasks_on_node(std::string_view list, int node) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    const std::size_t times = entry.find("(x");
    const int nodes = times == entry.npos ? 1 : number(entry.substr(times + 2));
    if (node < nodes) return number(entry);
    node -= nodes;
    list.remove_prefix(entry.size() == list.size() ? list.size() : entry.size() + 1);
  }
  return 0;
}

}  // namespace atl
