#include <cstdio>
#include <cstring>
#include <filesystem>

#include "core/engine/error.hpp"
#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "inputs/workload/parametric.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {
namespace {

/// The first character that is not blank; '\0' for an empty or binary file.
char first_character(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  int c = std::fgetc(file);
  while (c == ' ' || c == '\t' || c == '\r' || c == '\n') c = std::fgetc(file);
  std::fclose(file);
  return c >= 0x20 && c < 0x7F ? static_cast<char>(c) : '\0';
}

}  // namespace

std::unique_ptr<Workload> open_workload(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    const std::string list = (std::filesystem::path(path) / "kernelslist.g").string();
    if (!std::filesystem::exists(list, ignored)) throw InputError(path, "this folder has no kernelslist.g");
    return std::make_unique<AccelSimWorkload>(list);
  }
  if (has_hdf5_signature(path)) return std::make_unique<TraceWorkload>(path);
  switch (first_character(path)) {
    case '{':
      return open_parametric(path);
    case '\0':
      throw InputError(
          path,
          "neither an Atoll trace (HDF5), nor a parametric workload (JSON), nor a list of SASS traces (kernelslist.g)");
    default:
      return std::make_unique<AccelSimWorkload>(path);
  }
}

}  // namespace atl
