#include "inputs/trace/accelsim_list.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "core/engine/error.hpp"
#include "core/engine/file_exists.hpp"
#include "core/engine/whole_number.hpp"
#include "inputs/trace/accelsim_source.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl::accelsim {
namespace {

std::uint64_t number(const LineReader& lines, std::string_view text, int base) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  const auto value = whole_number<std::uint64_t>(text, base);
  if (!value) lines.fail("expected 'MemcpyHtoD,0x<address>,<bytes>'");
  return *value;
}

TraceAllocation read_copy(const LineReader& lines, std::string_view line, std::uint64_t ordinal) {
  const std::size_t first = line.find(','), second = line.find(',', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos)
    lines.fail("expected 'MemcpyHtoD,0x<address>,<bytes>'");
  const std::uint64_t address = number(lines, line.substr(first + 1, second - first - 1), 16);
  const std::uint64_t bytes = number(lines, line.substr(second + 1), 10);
  if (address >= trace_format::kAddressEnd || bytes > trace_format::kAddressEnd - address)
    lines.fail(fmt::format("a copy of {} bytes to {:#x} does not end below 2^63; mend the line", bytes, address));
  return {address, bytes, ordinal, {}};
}

/// Lists keep the name that the tracer gave a file, also when the file has been compressed since.
std::string find_kernel(const LineReader& lines, const std::filesystem::path& folder, std::string_view name) {
  const auto unreadable = [](const std::string& file) {
    return file.ends_with(".gz") || file.ends_with(".zst") || file.ends_with(".bz2");
  };
  std::string path = (folder / name).string();
  for (const char* ending : {"", ".xz", ".gz", ".zst", ".bz2"}) {
    std::string file = path + ending;
    if (!file_exists(file)) continue;
    if (!unreadable(file)) return file;
    lines.fail("the kernel's file '" + file + "' " + kCompressedOtherwise);
  }
  lines.fail("the kernel's file '" + path + "' does not exist");
}

/// With a folder in front, say; tracers write the name alone.
bool names_trace(std::string_view line) {
  return line.find(".trace") != line.npos && !line.starts_with('#') && !line.starts_with("//");
}

}  // namespace

KernelList read_kernel_list(const std::string& path) {
  KernelList list;
  LineReader lines(path);
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::string_view line;
  while (lines.next(line)) {
    while (line.ends_with(' ') || line.ends_with('\t')) line.remove_suffix(1);
    while (line.starts_with(' ') || line.starts_with('\t')) line.remove_prefix(1);
    if (line.starts_with("MemcpyHtoD"))
      list.allocations.push_back(read_copy(lines, line, list.allocations.size()));
    else if (line.starts_with("kernel") || names_trace(line))
      list.kernels.push_back(find_kernel(lines, folder, line));
  }
  if (list.kernels.empty())
    throw InputError(path, "expected a list of kernels (kernelslist.g), but no line names a kernel's trace");
  return list;
}

}  // namespace atl::accelsim
