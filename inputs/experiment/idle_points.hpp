#pragma once
#include <set>
#include <string>
#include <vector>

#include "inputs/experiment/experiment.hpp"

namespace atl {

/// Keys without effect (inputs/config/idle_keys.hpp) in an experiment's points. In some points most keys change nothing, and
/// are set for the others; one that changes nothing anywhere makes a flat line of its axis.
struct IdlePoints {
  std::set<std::string> somewhere;      ///< what idle_keys() says of any point
  std::vector<std::string> everywhere;  ///< of these: of every point that sets the key
};

IdlePoints idle_points(const Experiment& experiment);

}  // namespace atl
