#pragma once
#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "core/stats/wait_census.hpp"

/// Where a chip's cycles went: a stack whose parts add up to the run's time.
namespace atl {

enum class StackPart : std::uint8_t {
  issue,
  compute,
  no_warp,
  l1,
  cluster,
  mshr,
  page_home,
  request,
  l2,
  slice,
  response,
  link_out,
  link_in,
  dram,
  coherence,
  flush,
  balance,
  launch,
  unseen,
  count_
};
inline constexpr std::size_t kStackParts = static_cast<std::size_t>(StackPart::count_);

struct StackPartInfo {
  StackPart id;
  std::string_view name;   ///< in results and for programs
  std::string_view label;  ///< for people
  std::string_view doc;
};
std::span<const StackPartInfo, kStackParts> stack_parts();

/// Cycles of one chip during one kernel, from the end of the kernel before.
struct Stack {
  std::array<double, kStackParts> cycles{};
  double& operator[](StackPart p) { return cycles[static_cast<std::size_t>(p)]; }
  double operator[](StackPart p) const { return cycles[static_cast<std::size_t>(p)]; }
  double total() const;
  Stack& operator+=(const Stack& other);
  bool operator==(const Stack&) const = default;
};

/// [kernel][chip]
using StackResult = std::vector<std::vector<Stack>>;

/// Those that means of chips are over: chips without SMs have empty stacks. At least 1.
std::size_t chips_with_stacks(const StackResult& stacks);

/// What of a machine a stack depends on.
struct StackMachine {
  double issue_slots = 1;  ///< per cycle and chip
  double l1_latency = 0, memory_latency = 0;
  /// Cycles that a packet is on its way there and back with every queue empty, by what it passes: an SM's request to a
  /// slice of its chip, what it takes more to another chip, and a slice's fetch from another chip. An L2's fetch from the
  /// LLC of its own chip; empty without one.
  Stack local, remote, fetch, fetch_near;
  std::vector<std::vector<std::size_t>> neighbours;  ///< [chip]
};

/// When a kernel was launched (the end of the one before), started and finished.
struct KernelSpan {
  Cycle launched = 0, started = 0, finished = 0;
};

/// More requests under way can save at most what the busiest resource left unused of the running phase: of the time that is
/// charged to MSHRs, what goes beyond is this resource's. `use`: work done over what could be done in `running` cycles.
void bound_mshrs(Stack& stack, double running, StackPart busiest, double use);

/// Shares the unseen time of short kernels out as the chip's other kernels spent their running phases, as far as any look
/// saw one.
void fill_unseen(StackResult& stack);

/// The stacks of all chips during one kernel; each adds up to `span`. `chips`: one census of each.
std::vector<Stack> bottleneck_stack(const StackMachine& machine, const KernelSpan& span, std::span<const WaitCensus> chips);

}  // namespace atl
