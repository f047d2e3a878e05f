#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

/// Counters, declared by their rows in counters.def: their order is that of every counter array in memory and in messages.
namespace atl {

enum class Counter : std::uint16_t {
#define ATOLL_COUNTER(id, name, unit, doc) id,
#define ATOLL_SAMPLED(id, name, unit, doc) id,
#include "core/stats/counters.def"
  count_  ///< number of counters
};

inline constexpr std::size_t kCounters = static_cast<std::size_t>(Counter::count_);

struct CounterInfo {
  Counter id;
  std::string_view name;  ///< `group.quantity`, as in results and on the command line
  std::string_view unit;
  std::string_view doc;
  bool sampled;  ///< nothing has to happen for it to grow
};

/// What caches hold, added up at each multiple of `control.sample_cycles`.
inline constexpr std::array kHeldLines{Counter::l2_local_lines, Counter::l2_remote_lines, Counter::llc_local_lines,
                                       Counter::llc_remote_lines};

/// All counters merge by summing over chips and over time; ratios are formed on output only.
std::span<const CounterInfo, kCounters> counter_table();

/// One chip's counters. Plain data: sampled by copying.
struct Counters {
  using PlainState = void;
  std::array<std::uint64_t, kCounters> value{};
  std::uint64_t& operator[](Counter c) { return value[static_cast<std::size_t>(c)]; }
  std::uint64_t operator[](Counter c) const { return value[static_cast<std::size_t>(c)]; }
  Counters& operator+=(const Counters& other) {
    for (std::size_t i = 0; i < kCounters; ++i) value[i] += other.value[i];
    return *this;
  }
  Counters operator-(const Counters& other) const {
    Counters d = *this;
    for (std::size_t i = 0; i < kCounters; ++i) d.value[i] -= other.value[i];
    return d;
  }
};

/// Something happened.
bool moved(const Counters& increments);

}  // namespace atl
