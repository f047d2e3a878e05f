#include "core/engine/function_name.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

using namespace atl;

TEST_CASE("a mangled name is shown as the function's, without parameters and result") {
  CHECK(function_name("_Z8max_poolPfPKf5Shape") == "max_pool");
  CHECK(function_name("_Z4gemmIfEvPT_S1_i") == "gemm<float>");
  CHECK(function_name("_ZN3lib4gemmIfLi16EEEvPT_") == "lib::gemm<float, 16>");
  CHECK(function_name("_ZN12_GLOBAL__N_14copyEPfi") == "(anonymous namespace)::copy");
  CHECK(function_name("_ZN12_GLOBAL__N_15applyIFvfEEEvT_") == "(anonymous namespace)::apply<void (float)>");
  CHECK(function_name("_Z6kernelIL4Mode1ELb1ELj4EEvPi") == "kernel<(Mode)1, true, 4u>");
  CHECK(function_name("_ZNK3Sum3addEi") == "Sum::add");
  CHECK(function_name("_ZZ4mainENKUliE_clEi") == "main::{lambda(int)#1}::operator()");
  CHECK(function_name("product") == "product");
  CHECK(function_name("f") == "f");  // a name of C, not the type float
  CHECK(function_name("a triad (2)") == "a triad (2)");
  CHECK(function_name("_Zbroken") == "_Zbroken");
  CHECK(function_name("").empty());
  CHECK(function_declaration("_Z6kernelIL4Mode1EEvPi") == "void kernel<(Mode)1>(int*)");
  CHECK(function_declaration("f") == "f");
  CHECK(function_template_name("_ZN3lib4gemmIfLi16EEEvPT_") == "lib::gemm");
  CHECK(function_template_name("a<b>") == "a<b>");
}

TEST_CASE("a pattern fits the mangled name and the name in the source, with and without template arguments") {
  const std::string plain = "_Z4vaddPKfS0_Pfi", of_template = "_Z4fillIiEvPT_S0_i",
                    in_namespace = "_ZN3lin4gemmILi2EfEEvPT0_", of_mode = "_Z6kernelIL4Mode1ELb1ELj4EEvPi";
  for (const char* fits : {"vadd", "va*", "_Z4vadd*", "vadd(float const*, float const*, float*, int)", "v?dd"})
    CHECK_MESSAGE(fits_function(fits, plain), fits);
  for (const char* fits : {"fill", "fill<int>", "fill<*>", "void fill<int>(*"})
    CHECK_MESSAGE(fits_function(fits, of_template), fits);
  for (const char* fits : {"lin::gemm", "*::gemm", "lin::gemm<2, float>"})
    CHECK_MESSAGE(fits_function(fits, in_namespace), fits);
  for (const char* other : {"gemm", "add", "lin::gemm<3, float>"}) CHECK_FALSE(fits_function(other, in_namespace));
  for (const char* fits : {"kernel", "kernel<*>", "kernel<(Mode)1, true, 4u>"})
    CHECK_MESSAGE(fits_function(fits, of_mode), fits);
  for (const char* fits : {"copy", "*::copy", "(anonymous namespace)::copy"})
    CHECK_MESSAGE(fits_function(fits, "_ZN12_GLOBAL__N_14copyEPfi"), fits);
  CHECK(fits_function("triton_*", "triton_add_0"));
  CHECK(fits_function("f", "f"));
  CHECK_FALSE(fits_function("float", "f"));
}

TEST_CASE("commas in brackets do not divide a list of patterns") {
  using List = std::vector<std::string>;
  CHECK(split_patterns("a<int, 2>,b") == List{"a<int, 2>", "b"});
  CHECK(split_patterns("f(int, g<1, 2>),3-10") == List{"f(int, g<1, 2>)", "3-10"});
  CHECK(split_patterns("a,,b,") == List{"a", "", "b", ""});
  CHECK(split_patterns("") == List{""});
}
