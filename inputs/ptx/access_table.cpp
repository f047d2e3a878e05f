#include "inputs/ptx/access_table.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "inputs/ptx/register_pressure.hpp"

namespace atl::ptx {
namespace {

/// "12 15 18 and 7 more".
std::string lines_text(const Module& m, const std::vector<std::uint32_t>& lines) {
  constexpr std::size_t kShown = 8;
  std::string text;
  for (std::size_t n = 0; n < std::min(kShown, lines.size()); ++n)
    text += (n == 0 ? "" : " ") + m.lines.short_place(lines[n]);
  if (lines.size() > kShown) text += fmt::format(" and {} more", lines.size() - kShown);
  return text;
}

std::string all_lines(const Module& m, const DataObject& o) {
  std::string text;
  const auto part = [&](const char* what, const std::vector<std::uint32_t>& lines) {
    if (!lines.empty()) text += fmt::format("{}{} {}", text.empty() ? "" : "; ", what, lines_text(m, lines));
  };
  part("atomic", o.atomics);
  part("write", o.writes);
  part("read", o.reads);
  return text;
}

/// nvcc repeats the kernel's name in those of its parameters.
std::string short_name(const DataObject& o, const Function& kernel) {
  const std::string prefix = kernel.name + "_";
  return o.parameter && o.name.starts_with(prefix) ? o.name.substr(prefix.size()) : o.name;
}

/// Pieces of a structure that are no pointers, and variables that are not accessed, would hide what matters. A parameter of
/// a pointer's size is always shown: that nothing is accessed through it may be news.
bool shown(const DataObject& o, const Function& kernel) {
  return o.kind != AccessKind::unused || (o.parameter && kernel.params[o.index].size == sizeof(std::uint64_t));
}

}  // namespace

std::string access_table(const Module& m, const KernelAccess& access) {
  const Function& kernel = m.functions[access.kernel];
  std::string text = fmt::format("kernel {} (line {}, about {} registers)\n", kernel.name, m.lines.short_place(kernel.line),
                                 estimate_registers(m, access.kernel));
  std::size_t width = 9;
  for (const DataObject& o : access.objects)
    if (shown(o, kernel)) width = std::max(width, short_name(o, kernel).size());
  for (const DataObject& o : access.objects) {
    const char* kind = o.parameter ? "parameter" : m.variables[o.index].space == Space::constant ? "constant" : "variable";
    if (!shown(o, kernel)) continue;
    const std::string line =
        fmt::format("  {:<9}  {:<{}}  {:<9}  {}", kind, short_name(o, kernel), width, name_of(o.kind), all_lines(m, o));
    text += line.substr(0, line.find_last_not_of(' ') + 1) + '\n';
  }
  if (!access.unknown_writes.empty())
    text += fmt::format("  writes through pointers of unknown origin: lines {}\n", lines_text(m, access.unknown_writes));
  const auto marked =
      std::count_if(access.loads.begin(), access.loads.end(), [](const GlobalLoad& l) { return l.read_only; });
  text += fmt::format("  {} of {} global loads are read-only\n", marked, access.loads.size());
  return text;
}

}  // namespace atl::ptx
