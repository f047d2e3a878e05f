#include "inputs/ptx/modifiers.hpp"
#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

TEST_CASE("an opcode is decoded into base, types and modifiers, whatever their order in the text") {
  Instruction i;
  CHECK(decode_opcode("ld.volatile.global.v4.f32", i).empty());
  CHECK(i.op == Op::ld);
  CHECK(i.has(kVolatile));
  CHECK(i.space == Space::global);
  CHECK(i.vector == 4);
  CHECK(i.type == Type::f32);

  Instruction cvt;
  CHECK(decode_opcode("cvt.rzi.ftz.sat.u32.f32", cvt).empty());
  CHECK(cvt.type == Type::u32);
  CHECK(cvt.source_type == Type::f32);
  CHECK(cvt.round == Round::rzi);
  CHECK((cvt.has(kFtz) && cvt.has(kSat)));

  for (const char* spelled : {"vote.sync.ballot.b32", "vote.ballot.sync.b32"}) {
    Instruction vote;
    CHECK(decode_opcode(spelled, vote).empty());
    CHECK((vote.op == Op::vote && vote.mode == Mode::ballot && vote.has(kSync)));
  }
}

TEST_CASE("the same word means what its opcode makes of it") {
  Instruction setp, atom, product, barrier, shuffle;
  CHECK(decode_opcode("setp.lo.and.u32", setp).empty());
  CHECK((setp.compare == Compare::lo && setp.bool_op == BoolOp::and_));
  CHECK(decode_opcode("atom.acq_rel.gpu.global.and.b32", atom).empty());
  CHECK((atom.mode == Mode::and_ && atom.scope == Scope::gpu && atom.order == Order::acq_rel));
  CHECK(decode_opcode("mad.lo.cc.u32", product).empty());
  CHECK((product.part == Part::lo && product.has(kCarryOut)));
  CHECK(decode_opcode("bar.red.popc.u32", barrier).empty());
  CHECK(barrier.mode == Mode::popc);
  CHECK(decode_opcode("shfl.sync.bfly.b32", shuffle).empty());
  CHECK(shuffle.mode == Mode::bfly);
}

TEST_CASE("an unknown opcode or modifier is handed back") {
  Instruction i;
  CHECK(decode_opcode("wgmma.fence.sync.aligned", i) == "wgmma");
  CHECK(decode_opcode("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes", i) == "im2col");
  CHECK(decode_opcode("mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", i) == "sp");
  CHECK(decode_opcode("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", i) == "m16n8k64");
}

TEST_CASE("every opcode in the table is found under its own name") {
  for (unsigned op = 0; op < static_cast<unsigned>(Op::unsupported); ++op) {
    Instruction i;
    CHECK(decode_opcode(name_of(static_cast<Op>(op)), i).empty());
    CHECK(static_cast<unsigned>(i.op) == op);
  }
}
