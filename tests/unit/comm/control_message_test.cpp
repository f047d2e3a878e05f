#include "comm/control_message.hpp"

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace atl::test {
namespace {

struct Body {
  std::uint64_t cycle = 0;
  std::vector<std::pair<std::uint64_t, std::uint64_t>> homes;
  std::string text;
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, cycle, homes, text); }
};

TEST_CASE("a body comes back as it was packed, and one that is too short or too long is refused without taking memory") {
  const Body body{7, {{1, 2}, {3, 4}}, "words"};
  const std::string packed = pack(body);
  const Body back = unpack<Body>(packed);
  CHECK(back.cycle == 7);
  CHECK((back.homes == body.homes));
  CHECK(back.text == "words");
  CHECK_THROWS_AS(unpack<Body>(packed + '\0'), SimulationError);
  for (std::size_t size = 0; size < packed.size(); ++size)
    CHECK_THROWS_AS(unpack<Body>(packed.substr(0, size)), SimulationError);
  std::string huge = packed;
  huge[8 + 6] = 1;  // 2^48 homes
  CHECK_THROWS_AS(unpack<Body>(huge), SimulationError);
}

}  // namespace
}  // namespace atl::test
