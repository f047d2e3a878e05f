#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// One decision of a policy, with everything its model saw and predicted.
struct Decision {
  std::uint64_t kernel = 0;                            ///< index in the workload
  Cycle cycle = 0;                                     ///< end of the epoch that it rests on
  std::string choice;                                  ///< what rules from now on
  std::vector<std::pair<std::string, double>> values;  ///< inputs and predictions by name
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, kernel, cycle, choice, values); }
};

}  // namespace atl
