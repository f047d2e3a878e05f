#include "core/stats/counters.hpp"

namespace atl {
namespace {

constexpr std::array<CounterInfo, kCounters> kTable{{
#define ATOLL_COUNTER(id, name, unit, doc) {Counter::id, name, unit, doc, false},
#define ATOLL_SAMPLED(id, name, unit, doc) {Counter::id, name, unit, doc, true},
#include "core/stats/counters.def"
}};

}  // namespace

std::span<const CounterInfo, kCounters> counter_table() { return kTable; }

bool moved(const Counters& increments) {
  for (const CounterInfo& c : kTable)
    if (increments[c.id] != 0 && !c.sampled) return true;
  return false;
}

}  // namespace atl
