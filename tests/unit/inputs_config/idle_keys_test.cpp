#include "inputs/config/idle_keys.hpp"

#include <doctest/doctest.h>

#include "inputs/config/reader.hpp"

using namespace atl;

namespace {

/// What is said of the key of the last of `sets`; "": nothing.
std::string said_of_last(std::vector<std::string> sets) {
  const std::vector<std::string> keys{sets.back().substr(0, sets.back().find('='))};
  sets.insert(sets.begin(), "chips=1");
  const auto lines = idle_keys(read_system("sac-4chip", sets), keys);
  return lines.empty() ? "" : lines[0];
}

}  // namespace

TEST_CASE("where chips alone are lacking, it says so, and names no other reason that is there") {
  const std::string sm_side = "llc.organisation=sm_side", rec = "coherence.protocol=rec";
  CHECK(said_of_last({sm_side, "llc.network=shared"}) == "`llc.network` has no effect: it needs more than one chip");
  CHECK(said_of_last({sm_side, rec, "coherence.range_bytes=512"}).ends_with("it needs more than one chip"));
  CHECK(said_of_last({sm_side, rec, "coherence.directory_ways=4"}).ends_with("it needs more than one chip"));
  CHECK(said_of_last({"llc.network=shared"}).ends_with("SM-side caching, or a split LLC, without an L2"));
}

TEST_CASE("a home directory spares SM-side slices of one chip their flush, which is an effect") {
  for (const char* organisation : {"sm_side", "static", "dynamic", "sac"})
    CHECK_MESSAGE(said_of_last({std::string("llc.organisation=") + organisation, "coherence.protocol=rec"}).empty(),
                  organisation);
  CHECK(said_of_last({"llc.organisation=memory_side", "coherence.protocol=rec"}).find("SM-side caching or an L2") !=
        std::string::npos);
}
