#pragma once
#include <H5Cpp.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/stats/run_result.hpp"

/// Names and small operations that the result writer and the result reader share.
namespace atl::hdf5 {

inline constexpr const char* kSchema = "atoll-result";
/// Raised whenever a reader of the old layout would miss or misread something. A new counter is no such change: readers look
/// for counters by name.
inline constexpr std::uint64_t kSchemaVersion = 5;
/// Of results of sampled runs, whose totals are not the workload's: a reader that does not know of them refuses them.
inline constexpr std::uint64_t kSampledVersion = 6;
/// Files from this version on are read as well; what they lack is optional in RunResult.
inline constexpr std::uint64_t kOldestVersion = 3;

/// Columns of /kernels, apart from the names.
struct KernelColumn {
  const char* name;
  const char* unit;
  const char* doc;
  std::uint64_t KernelResult::*field;
};
inline constexpr KernelColumn kKernelColumns[] = {
    {"ctas", "CTAs", "CTAs of the launch", &KernelResult::ctas},
    {"launched", "cycles", "end of the kernel before, 0 for the first: its launch latency counts", &KernelResult::launched},
    {"started", "cycles", "the first chip received it", &KernelResult::started},
    {"finished", "cycles", "the last chip was done, flush included", &KernelResult::finished},
};

/// Per-chip arrays whose length is a property of the machine.
struct PartArray {
  const char* path;
  const char* unit;
  const char* doc;
  std::vector<std::uint64_t> ChipResult::*field;
  std::uint64_t since = kOldestVersion;  ///< schema version that began with it
};
inline constexpr PartArray kPartArrays[] = {
    {"slices/accesses", "requests", "requests looked up in each slice", &ChipResult::slice_accesses},
    {"slices/hits", "requests", "requests that hit in each slice", &ChipResult::slice_hits},
    {"slices/requests", "requests", "reads, writes and atomics that left each slice's queues", &ChipResult::slice_requests,
     5},
    {"slices/queue_cycles", "cycles", "their time in these queues, after the look-up latency",
     &ChipResult::slice_queue_cycles, 5},
    {"slices/miss_cycles", "cycles", "time that requests waited for data missing in each slice",
     &ChipResult::slice_miss_cycles, 5},
    {"channels/reads", "requests", "reads served by each memory channel", &ChipResult::channel_reads},
    {"channels/writes", "requests", "writes served by each memory channel", &ChipResult::channel_writes},
};

/// What an L2 adds to a group that names places: absent from files of machines without one, and then zero.
inline bool is_of_l2(std::string_view name) { return name == "l2" || name == "energy.l2"; }

/// Where a component's joules are: "energy.llc" in /energy/llc.
inline std::string energy_path(const EnergyInfo& component) {
  std::string path = "/" + std::string(component.name);
  path[path.find('.')] = '/';
  return path;
}

/// Our own messages say what failed; the library's stack trace on stderr would only bury them.
inline void silence() { H5::Exception::dontPrint(); }

inline H5::StrType text_type() {
  H5::StrType type(H5::PredType::C_S1, H5T_VARIABLE);
  type.setCset(H5T_CSET_UTF8);
  return type;
}

}  // namespace atl::hdf5
