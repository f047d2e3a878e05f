#pragma once
#include <vector>

#include "core/engine/data_structure.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl {

/// What a traced program's addresses belong to. Allocations that overlap, because freed memory was used again or because
/// a part of one was copied to, cannot be told apart by address: they are one structure. Those without a name are numbered
/// in the order in which the program made them.
std::vector<DataStructure> structures_of(std::vector<TraceAllocation> allocations);

}  // namespace atl
