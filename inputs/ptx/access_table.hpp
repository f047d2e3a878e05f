#pragma once
#include <string>

#include "inputs/ptx/access_analysis.hpp"

namespace atl::ptx {

/// One kernel for people: its structures, what happens to them, and in which lines of the PTX.
std::string access_table(const Module& m, const KernelAccess& access);

}  // namespace atl::ptx
