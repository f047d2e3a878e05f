#pragma once
#include <memory>
#include <optional>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

/// What `llc.replication` can name. These policies decide the replication part of the modes only.
namespace atl {

/// The same degree for ever.
std::unique_ptr<Policy> make_fixed_degree(const SystemConfig& config);
/// Zhao et al., ISCA 2019.
std::unique_ptr<Policy> make_adaptive(const SystemConfig& config);
/// Zhao et al., MICRO 2020.
std::unique_ptr<Policy> make_selrep(const SystemConfig& config);

/// Bytes of SelRep's hardware per chip (SelRep section III-D): 16-bit counters for the routed requests and the hits of each
/// degree and for all sampled, and the directory, whose 520 bytes are published without their make-up; so there are none for
/// other settings than the published ones.
struct SelrepStorage {
  std::uint64_t counters, directory;
  std::uint64_t total() const { return counters + directory; }
};
std::optional<SelrepStorage> selrep_storage(const SystemConfig& config);

}  // namespace atl
