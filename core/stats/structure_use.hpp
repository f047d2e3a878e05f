#pragma once
#include <array>
#include <vector>

#include "core/engine/data_structure.hpp"
#include "core/stats/data_origin.hpp"

/// How chips use the data structures of a workload: what their SMs ask for beyond the L1s, and who answers.
namespace atl {

enum class Use : std::uint8_t {
  reads,
  writes,
  atomics,
  remote,
  local_llc,
  remote_llc,
  local_memory,
  remote_memory,
  neighbour_l1,
  l2,
  latency_cycles,
  count_
};
inline constexpr std::size_t kUses = static_cast<std::size_t>(Use::count_);
using UseCounts = std::array<std::uint64_t, kUses>;

inline constexpr Use answered_by(DataOrigin o) {
  return static_cast<Use>(static_cast<std::size_t>(Use::local_llc) + static_cast<std::size_t>(o));
}
static_assert(answered_by(DataOrigin::l2) == Use::l2);

struct UseInfo {
  std::string_view name, unit, doc;
};
/// In the order of Use.
inline constexpr UseInfo kUseTable[kUses] = {
    {"reads", "requests", "loads' requests that left an L1, bound for LLC or memory"},
    {"writes", "requests", "stores"},
    {"atomics", "requests", "atomics"},
    {"remote", "requests", "of reads, writes and atomics: those whose home is another chip"},
    {"local_llc", "loads", "L1 misses served by an LLC slice of the same chip"},
    {"remote_llc", "loads", "... by an LLC slice of another chip"},
    {"local_memory", "loads", "... by the memory of the same chip"},
    {"remote_memory", "loads", "... by the memory of another chip"},
    {"neighbour_l1", "loads", "... by the L1 of another SM of the cluster"},
    {"l2", "loads", "... by an L2 slice of the same chip"},
    {"latency_cycles", "cycles", "latency of these loads, from the L1 miss to the answer, summed"},
};

/// One chip's use of one structure in one kernel.
struct StructureUse {
  using PlainState = void;
  std::uint64_t kernel = 0, structure = 0;
  UseCounts count{};
};

/// What one chip has counted.
struct StructureLog {
  std::vector<StructureUse> use;     ///< kernel by kernel, structures that it used
  std::vector<std::uint64_t> homes;  ///< [structure][home chip] requests
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, use, homes); }
};

struct StructuresResult {
  struct Row {
    std::uint64_t kernel = 0, structure = 0;
    std::vector<UseCounts> chips;
    bool operator==(const Row&) const = default;
  };
  std::vector<DataStructure> structures;  ///< by address; the last one stands for all other addresses
  std::vector<Row> use;                   ///< by kernel and structure; only what was used
  std::vector<std::uint64_t> homes;       ///< [structure][chip that asked][home chip] requests
  bool operator==(const StructuresResult&) const = default;
};

/// Of all chips' logs, in the order of the chips.
StructuresResult gather_structures(std::vector<DataStructure> structures, const std::vector<StructureLog>& chips);

/// A log as a row of numbers, for messages, and back. `homes`: their number.
std::vector<std::uint64_t> flatten(const StructureLog& log);
StructureLog unflatten_structures(const std::vector<std::uint64_t>& numbers, std::size_t homes);

}  // namespace atl
