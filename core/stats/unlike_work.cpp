#include "core/stats/unlike_work.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

/// Read leniently: results of other versions have other keys.
Json config_of(const RunResult& r) { return Json::parse(r.provenance.effective_config, nullptr, false); }

Json value_at(const Json& config, const char* pointer) {
  const Json::json_pointer at(pointer);
  return config.contains(at) ? config.at(at) : Json();
}

struct Count {
  double value = 0, half_width = 0;  ///< of its interval, where it is extrapolated
};

/// Of the whole workload.
Count total(const RunResult& r, Counter id) {
  if (r.sampling) {
    const SampledFigure* const f = r.sampling->find(counter_table()[static_cast<std::size_t>(id)].name);
    return f != nullptr ? Count{f->value, f->half_width} : Count{0, std::numeric_limits<double>::infinity()};
  }
  std::uint64_t sum = 0;
  for (const ChipResult& chip : r.chips) sum += chip.totals[id];
  return {static_cast<double>(sum), 0};
}

/// What a program does on any machine, whatever its caches hold: not lines, which are of 64 or 128 bytes. Of sampled runs
/// as far as is known: only what lies twice as far apart as the intervals reach is another number.
bool did_the_same(const RunResult& a, const RunResult& b) {
  constexpr Counter kDone[] = {Counter::warp_instructions, Counter::l1_sector_accesses, Counter::l1_store_sectors};
  return std::ranges::all_of(kDone, [&](Counter id) {
    const Count x = total(a, id), y = total(b, id);
    return std::abs(x.value - y.value) <= 2 * (x.half_width + y.half_width) + 0.5;
  });
}

}  // namespace

std::vector<std::string> unlike_work(const RunResult& a, const RunResult& b) {
  std::vector<std::string> names;
  const Provenance &p = a.provenance, &q = b.provenance;
  if (p.workload_digest != q.workload_digest) names.emplace_back("workload_digest");
  if (p.selection != q.selection) names.emplace_back("selection");
  if (a.kernels.size() != b.kernels.size()) names.emplace_back("kernels");
  if (!a.complete || !b.complete) names.emplace_back("complete");
  const Json x = config_of(a), y = config_of(b);
  if (value_at(x, "/scale") != value_at(y, "/scale")) names.emplace_back("scale");
  // A profile lays its pages out for the system's chips and their size: others, other accesses. A program's are the same.
  constexpr std::pair<const char*, const char*> kLayout[] = {{"/chips", "chips"},
                                                             {"/partition/compute_chips", "partition.compute_chips"},
                                                             {"/partition/page_kib", "partition.page_kib"}};
  if (names.empty() && !did_the_same(a, b))
    for (const auto& [pointer, key] : kLayout)
      if (value_at(x, pointer) != value_at(y, pointer)) names.emplace_back(key);
  return names;
}

std::uint64_t scale_of(const RunResult& r) {
  const Json scale = value_at(config_of(r), "/scale");
  return scale.is_number_unsigned() ? scale.get<std::uint64_t>() : 1;
}

}  // namespace atl
