#include <doctest/doctest.h>

#include "core/stats/human.hpp"

using namespace atl;

TEST_CASE("a mangled name is shown as the function's, without parameters and result") {
  CHECK(function_name("_Z8max_poolPfPKf5Shape") == "max_pool");
  CHECK(function_name("_Z4gemmIfEvPT_S1_i") == "gemm<float>");
  CHECK(function_name("_ZN3lib4gemmIfLi16EEEvPT_") == "lib::gemm<float, 16>");
  CHECK(function_name("_ZN12_GLOBAL__N_14copyEPfi") == "(anonymous namespace)::copy");
  CHECK(function_name("_ZN12_GLOBAL__N_15applyIFvfEEEvT_") == "(anonymous namespace)::apply<void (float)>");
  CHECK(function_name("product") == "product");
  CHECK(function_name("_Zbroken") == "_Zbroken");
  CHECK(function_name("").empty());
}
