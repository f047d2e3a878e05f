#include "core/stats/structure_use.hpp"

#include <algorithm>
#include <map>

namespace atl {

StructuresResult gather_structures(std::vector<DataStructure> structures, const std::vector<StructureLog>& chips) {
  StructuresResult out;
  out.structures = std::move(structures);
  out.structures.push_back({"other", 0, 0});
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::vector<UseCounts>> rows;
  for (std::size_t chip = 0; chip < chips.size(); ++chip) {
    for (const StructureUse& u : chips[chip].use) {
      auto& row = rows[{u.kernel, u.structure}];
      row.resize(chips.size());
      row[chip] = u.count;
    }
  }
  for (auto& [at, row] : rows) out.use.push_back({at.first, at.second, std::move(row)});
  for (std::size_t s = 0; s < out.structures.size(); ++s)
    for (const StructureLog& log : chips)
      for (std::size_t home = 0; home < chips.size(); ++home) out.homes.push_back(log.homes.at(s * chips.size() + home));
  return out;
}

std::vector<std::uint64_t> flatten(const StructureLog& log) {
  std::vector<std::uint64_t> out = log.homes;
  for (const StructureUse& u : log.use) {
    out.push_back(u.kernel), out.push_back(u.structure);
    out.insert(out.end(), u.count.begin(), u.count.end());
  }
  return out;
}

StructureLog unflatten_structures(const std::vector<std::uint64_t>& numbers, std::size_t homes) {
  StructureLog log;
  require_state(homes <= numbers.size() && (numbers.size() - homes) % (2 + kUses) == 0);
  auto at = numbers.begin() + static_cast<std::ptrdiff_t>(homes);
  log.homes.assign(numbers.begin(), at);
  while (at != numbers.end()) {
    StructureUse& u = log.use.emplace_back();
    u.kernel = *at++, u.structure = *at++;
    std::copy_n(at, kUses, u.count.begin());
    at += kUses;
  }
  return log;
}

}  // namespace atl
