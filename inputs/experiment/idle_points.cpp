#include "inputs/experiment/idle_points.hpp"

#include <map>
#include <span>

#include "inputs/config/idle_keys.hpp"
#include "inputs/config/reader.hpp"

namespace atl {

IdlePoints idle_points(const Experiment& e) {
  IdlePoints out;
  std::map<std::string, std::string> idle;  // by key
  std::set<std::string> counts;
  for (const Point& point : expand(e)) {
    const std::vector<std::string> sets = overrides(e, point);
    const SystemConfig config = read_system(e.system, sets);
    for (const std::string& key : keys_set(sets)) {
      const std::vector<std::string> said = idle_keys(config, std::span(&key, 1));
      if (said.empty()) counts.insert(key);
      for (const std::string& what : said) idle[key] = what, out.somewhere.insert(what);
    }
  }
  for (const auto& [key, what] : idle)
    if (!counts.contains(key)) out.everywhere.push_back(what);
  return out;
}

}  // namespace atl
