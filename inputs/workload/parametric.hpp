#pragma once
#include <memory>
#include <string>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Opens a parametric workload: CTAs are generated when asked for, from the seed, the kernel, the CTA and the warp alone.
/// The format is described in docs/workloads.md. Throws InputError naming the file and
/// the dotted key.
std::unique_ptr<Workload> open_parametric(const std::string& path, const WorkloadFit& fit = {});

}  // namespace atl
