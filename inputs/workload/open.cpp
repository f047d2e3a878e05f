#include <fmt/format.h>

#include "core/engine/error.hpp"
#include "core/engine/printable.hpp"
#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "inputs/workload/parametric.hpp"
#include "inputs/workload/workload.hpp"
#include "inputs/workload/workload_files.hpp"

namespace atl {
namespace {

std::unique_ptr<Workload> open_recorded(const std::string& path) {
  if (has_hdf5_signature(path)) return std::make_unique<TraceWorkload>(path);
  switch (first_character(path)) {
    case '{':
      return nullptr;
    case '\0':
      throw InputError(
          path,
          "neither an Atoll trace (HDF5), nor a parametric workload (JSON), nor a list of SASS traces (kernelslist.g)");
    default:
      return std::make_unique<AccelSimWorkload>(path);
  }
}

std::unique_ptr<Workload> open_any(const std::string& path, const WorkloadFit& fit) {
  const std::string file = main_file(path);
  std::unique_ptr<Workload> recorded = open_recorded(file);
  if (!recorded) return open_parametric(file, fit);
  if (fit.scale_by > 1)
    throw InputError(
        path, fmt::format("is a recorded trace, which cannot be scaled by {}; only parametric workloads can", fit.scale_by));
  return recorded;
}

}  // namespace

std::unique_ptr<Workload> open_workload(const std::string& path, const WorkloadFit& fit) {
  std::unique_ptr<Workload> workload = open_any(path, fit);
  for (std::size_t k = 0; k < workload->kernels().size(); ++k)
    if (!printable(workload->kernels()[k].name))
      throw InputError(path, fmt::format("the name of kernel {} has signs that do not print: give it another one", k));
  for (const DataStructure& s : workload->structures())
    if (!printable(s.name))
      throw InputError(path, "the name of a data structure has signs that do not print: give it another one");
  return workload;
}

}  // namespace atl
