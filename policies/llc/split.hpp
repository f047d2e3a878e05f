#pragma once
#include <memory>

#include "inputs/config/system_config.hpp"
#include "policies/policy.hpp"

/// Organisations that divide the ways of every set between lines of the own chip and lines of other chips.
namespace atl {

/// Static LLC: an L1.5 for remote lines with a fixed part of the capacity, half by default (SAC section 2.2, MCM-GPU).
std::unique_ptr<Policy> make_static(const SystemConfig&);

/// Dynamic LLC: starts at half and half in every kernel; each chip's division then follows whichever of its links and its
/// memory is saturated (Milic et al., MICRO 2017).
std::unique_ptr<Policy> make_dynamic(const SystemConfig&);

/// Utilisation of a chip's memory over `length` cycles. A memory never moves data all the time: rows have to be opened and
/// the bus turned round. With dynamic.memory = attainable it is in full use when its buses move data or stand still although
/// requests have waited for longer than an idle channel takes; what it then delivers is what it can attain.
double memory_use(const Counters& counted, Cycle length, const SystemConfig& config);

/// The rule at the end of a period: ways for local lines, given those of now and the utilisations of the chip's incoming
/// links and of its memory.
std::uint32_t next_local_ways(std::uint32_t local_ways, double link, double memory, std::uint32_t ways,
                              const DynamicConfig& rules);

}  // namespace atl
