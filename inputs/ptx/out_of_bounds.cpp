#include "inputs/ptx/out_of_bounds.hpp"

#include <fmt/format.h>

#include "core/engine/function_name.hpp"

namespace atl::ptx {

void OutOfBounds::note(const Site& site) {
  const std::lock_guard lock(mutex_);
  const auto [known, fresh] = sites_.try_emplace({site.kernel, site.line}, site);
  if (fresh) return;
  const std::uint64_t count = known->second.count + site.count;
  if (site.cta < known->second.cta) known->second = site;
  known->second.count = count;
}

std::vector<OutOfBounds::Site> OutOfBounds::sites() const {
  const std::lock_guard lock(mutex_);
  std::vector<Site> all;
  for (const auto& [place, site] : sites_) all.push_back(site);
  return all;
}

std::string text_of(const OutOfBounds::Site& s) {
  return fmt::format("kernel {}, {}: {} {}; the first in block {}, thread {}: {} bytes at {:#x}, {}",
                     function_name(s.kernel), s.place, s.count,
                     s.writes ? "stores out of bounds were dropped" : "loads out of bounds gave 0", s.cta, s.thread, s.bytes,
                     s.address, s.where);
}

}  // namespace atl::ptx
