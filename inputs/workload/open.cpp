#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/engine/digest.hpp"
#include "core/engine/error.hpp"
#include "core/engine/file_digest.hpp"
#include "core/engine/file_exists.hpp"
#include "core/engine/input_file.hpp"
#include "inputs/trace/accelsim_list.hpp"
#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "inputs/workload/parametric.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {
namespace {

/// The first character that is not blank; '\0' for an empty or binary file.
char first_character(const std::string& path) {
  check_input(path);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  int c = std::fgetc(file);
  while (c == ' ' || c == '\t' || c == '\r' || c == '\n') c = std::fgetc(file);
  std::fclose(file);
  return c >= 0x20 && c < 0x7F ? static_cast<char>(c) : '\0';
}

/// The file that stands for a workload: of a folder of SASS traces, their list.
std::string main_file(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) return path;
  std::string list = (std::filesystem::path(path) / "kernelslist.g").string();
  if (!file_exists(list)) throw InputError(path, "this folder has no kernelslist.g");
  return list;
}

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

}  // namespace

std::unique_ptr<Workload> open_workload(const std::string& path, const WorkloadFit& fit) {
  const std::string file = main_file(path);
  std::unique_ptr<Workload> recorded = open_recorded(file);
  if (!recorded) return open_parametric(file, fit);
  if (fit.scale_by > 1)
    throw InputError(
        path, fmt::format("is a recorded trace, which cannot be scaled by {}; only parametric workloads can", fit.scale_by));
  return recorded;
}

std::string workload_digest(const std::string& path, const std::string& kernels, const std::string& ctas) {
  const std::string file = main_file(path);
  Digest digest = digest_of_file(file);
  if (!has_hdf5_signature(file) && first_character(file) != '{') {
    for (const std::string& kernel : accelsim::read_kernel_list(file).kernels) digest.add(digest_of_file(kernel).value());
  }
  if (!kernels.empty() || !ctas.empty())
    for (const char c : fmt::format("{};{}", kernels, ctas)) digest.add(static_cast<unsigned char>(c));
  return fmt::format("{:016x}", digest.value());
}

}  // namespace atl
