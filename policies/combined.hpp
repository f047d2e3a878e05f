#pragma once
#include <memory>

#include "policies/policy.hpp"

namespace atl {

/// An LLC organisation and the replication inside its chips, each with its own policy and epochs. The chips report whenever
/// an epoch of either ends; what they report between is added up for the other.
std::unique_ptr<Policy> combine(std::unique_ptr<Policy> organisation, std::unique_ptr<Policy> replication);

}  // namespace atl
