#include "inputs/cuda/runtime/checking.hpp"

#include <fmt/format.h>

#include <cstdio>

#include "inputs/ptx/source_name.hpp"

namespace atl::cudart {

void Checking::report_races(const ptx::AccessCheck& watched, const ptx::GlobalRaces* global) {
  if (global != nullptr)
    for (const ptx::GlobalRace& r : global->found())
      if (global_.size() < kMostGlobal && global_.emplace(r.kernel, r.first.line, r.second.line).second)
        std::fprintf(stderr, "atoll: warning: %s\n", text_of(r).c_str());
  for (const ptx::SharedRace& r : watched.races())
    if (races_.emplace(r.kernel, r.race.first.line, r.race.second.line).second)
      std::fprintf(stderr, "atoll: warning: %s\n", text_of(r).c_str());
  for (const ptx::WarpMisuse& m : watched.misuses())
    if (misuses_.emplace(m.kernel, m.line, m.kind).second) std::fprintf(stderr, "atoll: warning: %s\n", text_of(m).c_str());
}

std::string Checking::summary() const {
  const ptx::CheckCounts& n = check.counts();
  return fmt::format("checked {} launches: {} of {} loads from global memory carry the read-only mark; {}; {}", n.launches,
                     n.marked, n.loads, check.held() ? "every read-only mark held" : "a READ-ONLY MARK DID NOT HOLD",
                     races_.empty() ? "no shared-memory races" : fmt::format("{} shared-memory races", races_.size()));
}

std::string races_line(const ptx::GlobalRaces::Counts& n, bool named) {
  std::string line = "no races in global memory within a launch";
  if (n.locations != 0) {
    std::string kernels;
    std::size_t shown = 0;
    for (const auto& [kernel, locations] : n.kernels)
      if (++shown <= 3) kernels += (kernels.empty() ? "" : ", ") + ptx::short_source_name(kernel);
    if (shown > 3) kernels += fmt::format(" and {} more", shown - 3);
    line = fmt::format(
        "atoll: warning: {} locations of global memory raced, in {} launches of {}: written by one warp, and read or "
        "written "
        "by another with nothing to order them; results may differ with another schedule (--schedule-seed){}",
        n.locations, n.launches, kernels, named ? "" : "; --check names lines");
  }
  if (!named) line += n.locations != 0 ? ", and looks at shared memory" : "; in shared memory only --check looks for them";
  if (n.overlooked != 0) line += fmt::format("; {} accesses were not looked at, as memory for it ran out", n.overlooked);
  return line;
}

}  // namespace atl::cudart
