#include "inputs/cuda/runtime/checking.hpp"

#include <fmt/format.h>

#include <cstdio>

namespace atl::cudart {

void Checking::report_races() {
  for (const ptx::SharedRace& r : check.races())
    if (races_.emplace(r.kernel, r.race.first.line, r.race.second.line).second)
      std::fprintf(stderr, "atoll: warning: %s\n", text_of(r).c_str());
  for (const ptx::WarpMisuse& m : check.misuses())
    if (misuses_.emplace(m.kernel, m.line, m.kind).second) std::fprintf(stderr, "atoll: warning: %s\n", text_of(m).c_str());
}

std::string Checking::summary() const {
  const ptx::CheckCounts& n = check.counts();
  return fmt::format("checked {} launches: {} of {} loads from global memory carry the read-only mark; {}; {}", n.launches,
                     n.marked, n.loads, check.held() ? "every read-only mark held" : "a READ-ONLY MARK DID NOT HOLD",
                     races_.empty() ? "no shared-memory races" : fmt::format("{} shared-memory races", races_.size()));
}

}  // namespace atl::cudart
