#include "inputs/cuda/copy_kernel.hpp"

#include <doctest/doctest.h>

using namespace atl;
using cuda::CopyKernel;

namespace {

CtaProgram cta_of(const CopyKernel& kernel, std::uint64_t cta) {
  CtaProgram program;
  kernel.load_cta(cta, program);
  return program;
}

}  // namespace

TEST_CASE("a copy of 32 KiB is one block whose 8 warps load 8 pieces of 512 bytes each, past the L1, and then store them") {
  const CopyKernel kernel({{0x100000, 0x200000, 32768}});
  const KernelInfo info = kernel.info();
  CHECK(info.ctas() == 1);
  CHECK(info.threads() == 256);
  const CtaProgram program = cta_of(kernel, 0);
  REQUIRE(program.warps.size() == 8);
  REQUIRE(program.warps[1].count == 17);
  const Op* op = &program.ops[program.warps[1].first];
  CHECK(op[0].kind == OpKind::load);
  CHECK(op[0].flags == kBypassL1);
  CHECK(op[0].accesses == 4);
  CHECK(program.accesses[op[0].first_access] == Access::make(0x200000 + 512, 0xF));
  CHECK(program.accesses[op[1].first_access] == Access::make(0x200000 + 9 * 512, 0xF));  // after one piece of each warp
  CHECK(op[8].kind == OpKind::store);
  CHECK(op[8].wait == 1);
  CHECK(op[15].wait == 1 << 7);
  CHECK(op[8].flags == 0);
  CHECK(program.accesses[op[8].first_access] == Access::make(0x100000 + 512, 0xF));
  CHECK(op[16].kind == OpKind::exit);
}

TEST_CASE("rows of a copy are pieces of their own, and what covers no whole sector is a partial store") {
  // 600 bytes from 0x1010 on: 512, which begin in the middle of a sector, and 88; then 8 bytes elsewhere.
  const CopyKernel kernel({{0x1010, 0x8000, 600}, {0x4000, 0x9000, 8}});
  CHECK(kernel.info().ctas() == 1);
  const CtaProgram program = cta_of(kernel, 0);
  const auto store = [&](unsigned warp) { return program.ops[program.warps[warp].first + 1]; };
  CHECK(store(0).flags == kPartial);
  CHECK(store(0).accesses == 5);  // 0x1010 to 0x1210
  CHECK(program.accesses[store(0).first_access + 4] == Access::make(0x1200, 0b0001));
  CHECK(program.accesses[store(1).first_access] == Access::make(0x1200, 0b1111));  // 0x1210 to 0x1268
  CHECK(program.accesses[store(2).first_access] == Access::make(0x4000, 0b0001));
  CHECK(program.accesses[program.ops[program.warps[2].first].first_access] == Access::make(0x9000, 0b0001));
  CHECK(program.warps[3].count == 1);  // nothing is left for it
}
