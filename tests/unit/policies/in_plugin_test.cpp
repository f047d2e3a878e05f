#include "policies/plugin/in_plugin.hpp"

#include <doctest/doctest.h>

#include <cfenv>
#include <string>

using namespace atl;

TEST_CASE("numbers are rounded as before after a plug-in has changed that") {
  const std::string file = "mine.so";
  REQUIRE(std::fegetround() == FE_TONEAREST);
  {
    const InPlugin here(file);
    std::fesetround(FE_UPWARD);
  }
  CHECK(std::fegetround() == FE_TONEAREST);
}
