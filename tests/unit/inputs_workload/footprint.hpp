#pragma once
#include <unistd.h>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>

#include "inputs/workload/parametric.hpp"

/// Helpers of the parametric workload's tests.
namespace atl::test {

/// Opens a workload from text, by way of a temporary file.
inline std::unique_ptr<Workload> open_text(const std::string& text, std::string* path_used = nullptr, WorkloadFit fit = {}) {
  static std::atomic<unsigned> next = 0;
  const auto path = std::filesystem::temp_directory_path() /
                    ("atoll_workload_" + std::to_string(getpid()) + "_" + std::to_string(next++) + ".json");
  if (path_used) *path_used = path.string();
  std::ofstream(path) << text;
  struct Remove {
    std::filesystem::path path;
    ~Remove() { std::filesystem::remove(path); }
  } remove{path};
  return open_parametric(path.string(), fit);
}

/// A workload with one kernel of 64 CTAs x 4 warps in 4 groups, and the given kernel keys and region.
inline std::string one_region(const std::string& kernel_keys, const std::string& region_keys) {
  return R"({"kernels": [{"ctas": 64, "warps_per_cta": 4, )" + kernel_keys + R"( "regions": [{"name": "r", )" + region_keys +
         "}]}]}";
}

/// For each block: how often each group of 16 CTAs touched it.
inline std::map<std::uint64_t, std::map<unsigned, unsigned>> touches(Workload& workload, std::size_t kernel = 0) {
  std::map<std::uint64_t, std::map<unsigned, unsigned>> out;
  CtaProgram cta;
  for (std::uint64_t id = 0; id < workload.kernels()[kernel].ctas(); ++id) {
    workload.load_cta(kernel, id, cta);
    for (const Access& a : cta.accesses) ++out[a.block()][static_cast<unsigned>(id / 16)];
  }
  return out;
}

}  // namespace atl::test
