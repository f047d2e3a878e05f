#include "inputs/trace/trace_findings.hpp"

#include <fmt/format.h>

namespace atl {

std::string TraceFindings::text() const {
  const auto counted = [](std::uint64_t n, const char* what) { return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s"); };
  std::string out;
  const auto add = [&](const std::string& sentence) { out += (out.empty() ? "" : "; ") + sentence; };
  if (warps != 0)
    add(fmt::format("{} of {} {} missing: the blocks' dimensions promise them", counted(warps, "warp"), counted(ctas, "CTA"),
                    warps == 1 ? "is" : "are"));
  if (beyond != 0)
    add(fmt::format("{} a register beyond the header's nregs",
                    counted(beyond, "instruction") + (beyond == 1 ? " names" : " name")));
  if (sources != 0)
    add(fmt::format("{} more than 4 source registers",
                    counted(sources, "instruction") + (sources == 1 ? " names" : " name")));
  return out;
}

}  // namespace atl
