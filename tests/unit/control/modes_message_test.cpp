#include <doctest/doctest.h>

#include "comm/control_message.hpp"
#include "policies/policy.hpp"

using namespace atl;

TEST_CASE("modes come to the chips as they were sent, with every member that they have") {
  Modes sent;
  // A member more does not compile here: give it a value below.
  auto& [llc, local_ways, profile, epoch_cycles, replication, range_bytes, epoch_gone, beside_cycles, beside_gone] = sent;
  auto& [level, all_lines, profile_degrees, restart] = replication;
  llc = LlcRole::split, local_ways = 1, profile = true, epoch_cycles = 2, range_bytes = 3;
  epoch_gone = 4, beside_cycles = 5, beside_gone = 6;
  level = 7, all_lines = profile_degrees = restart = true;
  CHECK(unpack<Modes>(pack(sent)) == sent);
}
