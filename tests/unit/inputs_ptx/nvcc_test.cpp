#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

TEST_CASE("PTX of nvcc 13 with calls, tables of functions, textures and inline assembly is understood") {
  const Module m = parse_fixture("features.ptx");
  CHECK(m.version == 90);
  CHECK(m.target == 80);
  const Function& k = function(m, "features");
  CHECK(k.entry);
  CHECK(k.params.size() == 5);
  CHECK(k.params[3].size == 24);
  CHECK(k.shared_bytes == 144);  // int[33], then up to the alignment of the dynamic part
  CHECK_FALSE(function(m, "vprintf").defined);
  CHECK(variable(m, "managed").managed);
  CHECK(variable(m, "functions").relocations.size() == 2);
  CHECK(variable(m, "into_head").relocations.at(0).addend == 12);
  CHECK(variable(m, "head").init.size() <= variable(m, "head").size);
  CHECK(function(m, "_Z5twicef").address_taken);
  for (const Instruction& i : k.code) {
    if (i.op == Op::bra) CHECK(i.target < k.code.size());
    if (i.op == Op::bra && i.guard != kNone) CHECK(i.reconverge < k.code.size());
  }
}
