#include "core/stats/human.hpp"

#include <doctest/doctest.h>

using namespace atl;

TEST_CASE("a name that fits stays as it is") {
  CHECK(shortened("ns::gemm<float, 16>", 19) == "ns::gemm<float, 16>");
  CHECK(shortened("", 5).empty());
}

TEST_CASE("a name that is too long loses template arguments, scopes from the front, and its end last") {
  CHECK(shortened("ns::gemm<float, 16>", 18) == "ns::gemm");
  CHECK(shortened("cub::CUB_300001_SM_900::detail::scan::DeviceScanKernel<cub::policy<int>, int*>", 28) ==
        "scan::DeviceScanKernel");
  CHECK(shortened("a::b::c::kernel", 10) == "c::kernel");
  CHECK(shortened("a::b::c::kernel", 9) == "c::kernel");
  CHECK(shortened("a::b::c::kernel", 8) == "kernel");
  CHECK(shortened("a::b::c::kernel", 3) == "ker");
  CHECK(shortened("plain_name_of_c", 5) == "plain");
}

TEST_CASE("template arguments are dropped with those in them, wherever they stand, and those in round brackets") {
  CHECK(shortened("outer<a<b<c>>, d>::inner<e>::f<(Mode)1, void (g<int>*)>", 20) == "outer::inner::f");
  CHECK(shortened("kernel<(4 > 3), (1 >> 1)>", 20) == "kernel");
  CHECK(shortened("kernel<decltype (a->b), c::d>", 20) == "kernel");
}

TEST_CASE("scopes in brackets are those of something else") {
  CHECK(shortened("(anonymous namespace)::copy<int>", 30) == "(anonymous namespace)::copy");
  CHECK(shortened("(anonymous namespace)::copy<int>", 20) == "copy");
  CHECK(shortened("f(a::b)::{lambda(c::d)#1}::operator()", 30) == "{lambda(c::d)#1}::operator()");
}

TEST_CASE("signs of operators and of comparisons are no brackets") {
  CHECK(shortened("matrix::operator< <int, 4>", 20) == "matrix::operator<");
  CHECK(shortened("matrix<int>::operator<< <int>", 20) == "matrix::operator<<");
  CHECK(shortened("matrix<int>::operator-><int>", 20) == "matrix::operator->");
  CHECK(shortened("matrix<int>::operator()<int>", 20) == "matrix::operator()");
  CHECK(shortened("my_operator<int>::run", 20) == "my_operator::run");
  CHECK(shortened("a < b, no template", 17) == "a < b, no templat");
}

TEST_CASE("a name is not cut within a sign of several bytes") { CHECK(shortened("größenänderung", 4) == "größ"); }
