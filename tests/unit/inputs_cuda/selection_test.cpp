#include <doctest/doctest.h>

#include <string>

#include "core/engine/error.hpp"
#include "inputs/cuda/launch_selection.hpp"
#include "inputs/ptx/source_name.hpp"

using namespace atl;
using namespace atl::cuda;

namespace {

/// Launches of the kernels `names`, each one letter: 'x' for those that are recorded.
std::string recorded(const std::string& selection, const std::string& names) {
  LaunchSelection s(selection);
  std::string out;
  for (const char name : names) out += s.next(std::string("_Z1") + name + "Pf") ? 'x' : '.';
  return out;
}

}  // namespace

TEST_CASE("a range is first-last, one number, or open at its end") {
  CHECK(parse_range("3-10", "--ctas") == std::pair<std::uint64_t, std::uint64_t>{3, 10});
  CHECK(parse_range("3", "--ctas") == std::pair<std::uint64_t, std::uint64_t>{3, 3});
  CHECK(parse_range("3-", "--ctas") == std::pair<std::uint64_t, std::uint64_t>{3, ~0ull});
  for (const char* bad : {"", "-", "x", "10-3", "3-x", "-3", "3-4-5"})
    CHECK_THROWS_WITH_AS(parse_range(bad, "--ctas"), doctest::Contains("3-10"), InputError);
}

TEST_CASE("launches are chosen by number, by name, and by number among those of a name") {
  LaunchSelection all;
  CHECK(all.next("_Z1aPf"));
  CHECK(recorded("1-2,5-", "ababab") == ".xx..x");
  CHECK(recorded("b", "ababab") == ".x.x.x");
  CHECK(recorded("b:1-", "ababab") == "...x.x");
  CHECK(recorded("b:1,a:0-1", "ababab") == "x.xx..");
  CHECK(recorded("[bc],0", "abcab") == "xxx.x");
  for (const char* bad : {"3-x", "b:2-1", "a,,b", "a,", ":3", "-3"}) {
    CAPTURE(bad);
    CHECK_THROWS_WITH_AS(LaunchSelection{bad}, doctest::Contains("--kernels"), InputError);
  }
}

TEST_CASE("variables and long names are said as in the source, without what is around the name") {
  CHECK(ptx::source_name_of_variable("_ZN3app5tableE") == "app::table");
  CHECK(ptx::source_name_of_variable("_Z8per_typeIiE") == "per_type<int>");
  CHECK(ptx::source_name_of_variable("table") == "table");
  // As nvcc calls those that are local to a file: static, and in a nameless namespace of `app`.
  CHECK(ptx::source_name_of_variable("_ZN25_INTERNAL_406a4d5e_4_a_cu6hiddenE") == "hidden");
  CHECK(ptx::source_name_of_variable("_ZN25_INTERNAL_406a4d5e_4_a_cu3app18_GLOBAL__N__406a4d4anonE") ==
        "app::(anonymous namespace)::anon");
  CHECK(ptx::short_source_name("_ZN3lin4gemmILi2EfEEvPT0_") == "lin::gemm<2, float>");
  const std::string name(70, 'k'), many = "_Z70" + name + "ILi1ELi2ELi3ELi4ELi5EEvv";
  CHECK(ptx::short_source_name(many) == name + "<...>");
  CHECK(ptx::short_source_name(std::string(90, 'k')) == std::string(90, 'k'));
}

TEST_CASE("launches are chosen by names that have commas in brackets") {
  LaunchSelection listed("lin::gemm<2, float>,fill");
  CHECK(listed.next("_ZN3lin4gemmILi2EfEEvPT0_"));
  CHECK(listed.next("_Z4fillIiEvPT_S0_i"));
  CHECK_FALSE(listed.next("_Z4vaddPKfS0_Pfi"));
}
