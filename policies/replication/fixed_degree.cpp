#include <bit>

#include "partition/replica_map.hpp"
#include "policies/replication/degree_policies.hpp"

namespace atl {
namespace {

class FixedDegree final : public Policy {
 public:
  explicit FixedDegree(const SystemConfig& c)
      : modes_(c.chips, {.replication = {.level = static_cast<std::uint32_t>(
                                             std::countr_zero(fixed_degree(c.llc.replication, ReplicaMap(c).slices())))}}) {}
  Verdict at_kernel_start(std::size_t, Cycle) override { return {{}, modes_}; }

 private:
  const std::vector<Modes> modes_;
};

}  // namespace

std::unique_ptr<Policy> make_fixed_degree(const SystemConfig& c) { return std::make_unique<FixedDegree>(c); }

}  // namespace atl
