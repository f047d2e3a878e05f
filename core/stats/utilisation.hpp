#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/stats/bottleneck_stack.hpp"
#include "core/stats/run_result.hpp"

/// How busy a chip's resources were: what the counters say of work done, over what could have been done.
namespace atl {

enum class Resource : std::uint8_t { issue, l1, request, l2, slice, response, link_out, link_in, dram, count_ };
inline constexpr std::size_t kResources = static_cast<std::size_t>(Resource::count_);

struct ResourceInfo {
  Resource id;
  StackPart part;  ///< what waits for it
  std::string_view name, label;
};
std::span<const ResourceInfo, kResources> resources();

/// Most that one chip can do per cycle, in what work_of() counts: issue slots, lines, bytes, cycles of DRAM data buses.
/// 0: it has none of it.
struct Capacity {
  std::array<double, kResources> per_cycle{};
  double line_bytes = 128, l2_line_bytes = 128;  ///< that a look-up in a slice takes; 0: its sectors
  double& operator[](Resource r) { return per_cycle[static_cast<std::size_t>(r)]; }
  double operator[](Resource r) const { return per_cycle[static_cast<std::size_t>(r)]; }
};

using Capacities = std::vector<Capacity>;  ///< [chip]

/// The sampling periods of which rates can be given: all, but for a last one of several that the end cuts short. Chips hear
/// of the end up to two controller latencies later, and what they do until then is in it.
std::size_t periods_with_rates(const RunResult& result);

struct Utilisation {
  double mean = 0;  ///< over the run
  double most = 0;  ///< in the busiest sampling period
};

/// Of one resource of one chip.
Utilisation utilisation(const RunResult& result, const Capacities& capacities, std::size_t chip, Resource resource);

/// What was done, in the units of Capacity.
double work_of(const Counters& counters, const Capacity& capacity, Resource resource);

}  // namespace atl
