#include "inputs/config/suggest.hpp"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "inputs/config/system_config.hpp"
#include "inputs/config/walk.hpp"

namespace atl {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

std::string closest_key(const std::string& key, std::span<const std::string> known) {
  const auto split = [](const std::string& k) {
    const auto dot = k.rfind('.');
    return dot == std::string::npos ? std::pair(std::string(), k) : std::pair(k.substr(0, dot), k.substr(dot + 1));
  };
  const auto [section, name] = split(key);
  // Two typing errors in a word of six letters still find it; shorter words allow fewer.
  const std::size_t tolerance = std::max<std::size_t>(1, name.size() / 3);

  std::tuple<std::size_t, std::size_t, std::string> best{tolerance + 1, 0, ""};
  for (const std::string& candidate : known) {
    const auto [other_section, other_name] = split(candidate);
    const std::size_t whole = edit_distance(key, candidate);
    // A forgotten unit suffix (`latency` for `latency_cycles`) is long but a small mistake.
    const std::size_t names = other_name.starts_with(name + "_") ? 1 : edit_distance(name, other_name);
    const std::size_t moved = names + (section == other_section ? 0 : 1);
    best = std::min(best, std::tuple{std::min(whole, moved), whole, candidate});
  }
  return std::get<2>(best);
}

std::vector<std::string> all_keys() {
  const SystemConfig config;
  std::set<std::string> keys;
  for_each_leaf(config, "", [&](const auto&, const Field&, const std::string& key) {
    keys.insert(key);
    for (auto dot = key.find('.'); dot != std::string::npos; dot = key.find('.', dot + 1)) keys.insert(key.substr(0, dot));
  });
  return {keys.begin(), keys.end()};
}

}  // namespace atl
