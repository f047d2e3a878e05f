#include "inputs/trace/structures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "inputs/workload/workload.hpp"

namespace atl {
namespace {

constexpr std::size_t kNamed = 3;  ///< allocations of one structure; the others are counted

struct Group {
  std::uint64_t begin = 0, last = 0;   ///< first and last byte
  std::set<std::uint64_t> ordinals{};  ///< of those without a name
  std::set<std::string> names{};
};

std::string name_of(const Group& g) {
  std::vector<std::string> all(g.names.begin(), g.names.end());
  for (const std::uint64_t o : g.ordinals) all.push_back(fmt::format("#{}", o));
  const std::size_t more = all.size() > kNamed ? all.size() - kNamed : 0;
  all.resize(all.size() - more);
  return fmt::format("{}{}", fmt::join(all, ", "), more != 0 ? fmt::format(" and {} more", more) : "");
}

}  // namespace

std::vector<DataStructure> structures_of(std::vector<TraceAllocation> allocations) {
  std::erase_if(allocations, [](const TraceAllocation& a) { return a.size == 0 || a.address >= trace_format::kAddressEnd; });
  std::ranges::stable_sort(allocations, {}, &TraceAllocation::address);
  std::vector<Group> groups;
  for (const TraceAllocation& a : allocations) {
    const std::uint64_t last = a.address + std::min(a.size, trace_format::kAddressEnd - a.address) - 1;
    if (groups.empty() || a.address > groups.back().last) groups.push_back({a.address, last});
    Group& g = groups.back();
    g.last = std::max(g.last, last);
    if (a.name.empty()) {
      g.ordinals.insert(a.ordinal);
    } else {
      g.names.insert(a.name);
    }
  }
  std::vector<DataStructure> out;
  for (const Group& g : groups) out.push_back({name_of(g), g.begin, g.last - g.begin + 1});
  return out;
}

}  // namespace atl
