#pragma once
#include <memory>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

/// The two organisations that never change (SAC section 2): the same role for every kernel.
namespace atl {

std::unique_ptr<Policy> make_memory_side(const SystemConfig&);
std::unique_ptr<Policy> make_sm_side(const SystemConfig&);

}  // namespace atl
