#include "core/engine/whole_number.hpp"

#include <doctest/doctest.h>

#include <cstdint>

using atl::whole_number;

TEST_CASE("a number is all of the text, and fits its type") {
  CHECK(whole_number<std::uint8_t>("255") == 255);
  CHECK(whole_number<std::uint64_t>("ff", 16) == 255);
  CHECK(whole_number<std::int64_t>("-7") == -7);
  for (const char* text : {"", " 1", "1 ", "1.5", "+1", "0x1", "1e3", "one"}) CHECK_FALSE(whole_number<int>(text));
  CHECK_FALSE(whole_number<std::uint8_t>("256"));
  CHECK_FALSE(whole_number<std::uint64_t>("-1"));
  CHECK_FALSE(whole_number<std::uint64_t>("18446744073709551616"));
}
