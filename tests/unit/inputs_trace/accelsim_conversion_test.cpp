#include "inputs/trace/accelsim_opcodes.hpp"
#include "inputs/workload/count.hpp"
#include "support.hpp"

namespace atl::test {
namespace {

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0";
const std::string kAddress = " 4 1 0x7fb0fc400000 4 0";

Op first_op(const std::string& line) { return convert(one_warp({line, kExit})).ops[0]; }

}  // namespace

TEST_CASE("an atomic with a result takes a slot, RED and an atomic into R255 take none") {
  CHECK(first_op("0010 ffffffff 1 R4 ATOMG.E.ADD 2 R2 R8" + kAddress).kind == OpKind::atomic);
  CHECK(first_op("0010 ffffffff 1 R4 ATOMG.E.ADD 2 R2 R8" + kAddress).slot == 0);
  CHECK(first_op("0010 ffffffff 1 R255 ATOMG.E.ADD 2 R2 R8" + kAddress).slot == kNoSlot);
  CHECK(first_op("0010 ffffffff 0 RED.E.ADD 2 R2 R8" + kAddress).kind == OpKind::atomic);
  CHECK(first_op("0010 ffffffff 0 RED.E.ADD 2 R2 R8" + kAddress).slot == kNoSlot);
}

using Accesses = std::vector<Access>;

/// The first op, and what it accesses.
std::pair<Op, Accesses> first_access(const std::string& line) {
  const CtaProgram p = convert(one_warp({line, kExit}));
  const auto first = p.accesses.begin() + p.ops[0].first_access;
  return {p.ops[0], {first, first + p.ops[0].accesses}};
}

/// Row of the word at a byte offset of local memory.
Access row(std::uint64_t offset, unsigned sectors) { return Access::make(offset / 4 * 128, sectors); }

TEST_CASE("all threads of a warp store their word of local memory into one row: 64 bits are two rows, 8 sectors") {
  const auto [store, rows] = first_access("0010 ffffffff 0 STL.64 2 R1 R4 8 1 0xfffd60 0 0");
  CHECK(store.kind == OpKind::store);
  CHECK(store.flags == kLocal);
  CHECK(rows == Accesses{row(0xfffd60, 0xF), row(0xfffd64, 0xF)});
  const auto [load, loaded] = first_access("0010 0000ffff 1 R4 LDL 1 R1 4 1 0xfffd60 0 0");
  CHECK(load.kind == OpKind::load);
  CHECK(load.flags == kLocal);
  CHECK(load.slot == 0);
  CHECK(loaded == Accesses{row(0xfffd60, 0x3)});
}

TEST_CASE("threads that index their local memory apart touch a row each, in the sector of their lane") {
  const auto [op, rows] = first_access("0010 80000101 0 STL 2 R1 R4 4 0 0x10 0x14 0x18 0");
  CHECK(op.flags == (kLocal | kPartial));
  CHECK(rows == Accesses{row(0x10, 0x1), row(0x14, 0x2), row(0x18, 0x8)});
  CHECK(first_access("0010 000000ff 0 STL 2 R1 R4 4 1 0x10 0 0").first.flags == kLocal);
  CHECK(first_access("0010 ffffffff 0 STL.U8 2 R1 R4 1 1 0x11 0 0").first.flags == (kLocal | kPartial));
}

TEST_CASE("a local access of more than 64 rows takes several ops, and its reader waits for the last") {
  // 32 lanes, 16 bytes each, 16 bytes apart: 128 rows.
  const CtaProgram p =
      convert(one_warp({"0010 ffffffff 1 R4 LDL.128 1 R1 16 1 0x1000 16 0", "0020 ffffffff 1 R8 FADD 2 R4 R5 0 0", kExit}));
  REQUIRE(p.ops.size() == 4);
  CHECK(p.ops[0].accesses == 64);
  CHECK(p.ops[1].accesses == 64);
  CHECK(p.ops[2].wait == 1u << p.ops[1].slot);
  CHECK(count_sectors(p) == 128);
}

TEST_CASE("generic and absolute addresses in the window of local memory are offsets from its base") {
  const auto [generic, rows] = first_access("0010 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0003000100 0 0");
  CHECK(generic.flags == kLocal);
  CHECK(rows == Accesses{row(0x100, 0xF)});
  CHECK(first_access("0010 ffffffff 1 R4 LDL 1 R1 4 1 0x7f0003000100 0 0").second == rows);
  CHECK(first_op("0010 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0004000000 4 0").flags == 0);
}

TEST_CASE(
    "a shared load takes a slot and as many issue passes as its bank conflicts ask for, and counts as one instruction") {
  const CtaProgram p =
      convert(one_warp({"0010 ffffffff 1 R4 LDS 1 R2 4 1 0x0 8 0", "0020 ffffffff 1 R5 FADD 1 R4 0 0", kExit}));
  CHECK(p.ops[0].kind == OpKind::shared);
  CHECK(p.ops[0].issue == 2);
  CHECK(p.ops[0].slot == 0);
  CHECK(p.ops[0].accesses == 0);
  CHECK(p.ops[1].wait == 1u);
  CHECK(count_instructions(p) == 3);
}

TEST_CASE("a shared store has no slot, an LDSM of four matrices takes 4 passes") {
  CHECK(first_op("0010 ffffffff 0 STS 2 R2 R4 4 1 0x0 4 0").slot == kNoSlot);
  const Op matrix = first_op("0010 ffffffff 1 R4 LDSM.16.M88.4 1 R2 4 1 0x0 16 0");
  CHECK(matrix.kind == OpKind::shared);
  CHECK(matrix.issue == 4);
}

TEST_CASE("a generic access inside the shared-memory window is shared, outside it is global") {
  CHECK(first_op("0010 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0001000010 4 0").kind == OpKind::shared);
  CHECK(first_op("0010 ffffffff 0 ST.E 2 R2 R4 4 1 0x7f0001ffff80 4 0").kind == OpKind::shared);
  CHECK(first_op("0010 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f0002000000 4 0").kind == OpKind::load);
  CHECK(first_op("0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7f0001000010 4 0").kind == OpKind::load);
}

TEST_CASE("a generic load whose lanes lie in several spaces is an access to each, and its reader waits for the last") {
  // Lanes 0 and 8: global; 1: shared; 2 and 3: local.
  const std::string addresses = " 4 0 0x7fb0fc400000 0x7f0001000010 0x7f0003000100 0x7f0003000104 0x7fb0fc400080 0";
  const CtaProgram p =
      convert(one_warp({"0010 0000010f 1 R4 LD.E 1 R2" + addresses, "0020 ffffffff 1 R8 FADD 2 R4 R5 0 0", kExit}));
  REQUIRE(p.ops.size() == 5);
  CHECK(p.ops[0].kind == OpKind::shared);
  CHECK(p.ops[0].issue == 1);
  CHECK(p.ops[1].kind == OpKind::load);
  CHECK(p.ops[1].flags == kLocal);
  CHECK(p.ops[2].kind == OpKind::load);
  CHECK(p.ops[2].flags == 0);
  CHECK(p.accesses ==
        Accesses{row(0x100, 0x1), row(0x104, 0x1), Access::make(0x7fb0fc400000, 0x1), Access::make(0x7fb0fc400080, 0x1)});
  CHECK(p.ops[3].wait == 1u << p.ops[2].slot);
  // The first active lane decides nothing.
  const CtaProgram q = convert(one_warp({"0010 00000003 1 R4 LD.E 1 R2 4 0 0x7f0001000010 0x7fb0fc400000 0", kExit}));
  REQUIRE(q.ops.size() == 3);
  CHECK(q.ops[0].kind == OpKind::shared);
  CHECK(q.ops[1].kind == OpKind::load);
  CHECK(q.ops[1].slot != kNoSlot);
  CHECK(q.accesses == Accesses{Access::make(0x7fb0fc400000, 0x1)});
}

TEST_CASE("generic stores and atomics are split by space as loads are") {
  const auto kinds = [](const std::string& line) {
    std::vector<std::pair<OpKind, unsigned>> found;
    for (const Op& op : convert(one_warp({line, kExit})).ops) found.emplace_back(op.kind, op.flags);
    return found;
  };
  using Found = std::vector<std::pair<OpKind, unsigned>>;
  CHECK(kinds("0010 00000003 0 ST.E 2 R2 R4 4 0 0x7f0003000100 0x7fb0fc400000 0") ==
        Found{{OpKind::store, kLocal | kPartial}, {OpKind::store, kPartial}, {OpKind::exit, 0}});
  CHECK(kinds("0010 00000003 1 R4 ATOM.E.ADD 2 R2 R5 4 0 0x7fb0fc400000 0x7f0001000010 0") ==
        Found{{OpKind::shared, 0}, {OpKind::atomic, 0}, {OpKind::exit, 0}});
}

TEST_CASE("read-only loads and loads of the whole GPU's scope are flagged") {
  CHECK(first_op("0010 ffffffff 1 R4 LDG.E.CONSTANT 1 R2" + kAddress).flags == kReadOnly);
  CHECK(first_op("0010 ffffffff 1 R4 LDG.E.STRONG.GPU 1 R2" + kAddress).flags == kBypassL1);
  CHECK(first_op("0010 ffffffff 1 R4 LDG.E.STRONG.SYS 1 R2" + kAddress).flags == kBypassL1);
  CHECK(first_op("0010 ffffffff 1 R4 LDG.E.STRONG.CTA 1 R2" + kAddress).flags == 0);
  CHECK(first_op("0010 ffffffff 1 R4 LDG.E 1 R2" + kAddress).flags == 0);
}

TEST_CASE("EXIT ends a warp only as its last instruction; before, it is a compute instruction") {
  const CtaProgram p = convert(one_warp({"0000 0000ffff 0 EXIT 0 0 0", "0010 ffff0000 0 NOP 0 0 0", kExit}));
  REQUIRE(p.ops.size() == 2);
  CHECK(p.ops[0].kind == OpKind::compute);
  CHECK(p.ops[0].issue == 2);
  CHECK(p.ops[1].kind == OpKind::exit);
}

TEST_CASE("a warp whose trace stops without EXIT gets one") {
  const CtaProgram p = convert(one_warp({"0010 ffffffff 0 NOP 0 0 0"}));
  REQUIRE(p.ops.size() == 2);
  CHECK(p.ops[1].kind == OpKind::exit);
}

TEST_CASE("a memory instruction or barrier with no active lane is a compute instruction that writes nothing") {
  const CtaProgram p = convert(one_warp({"0010 00000000 1 R4 LDG.E 1 R2 4 1 0x0 0 0", "0018 00000000 0 BAR.SYNC 0 0 0",
                                         "0020 ffffffff 1 R5 MOV 1 R4 0 0", kExit}));
  REQUIRE(p.ops.size() == 2);
  CHECK(p.ops[0].kind == OpKind::compute);
  CHECK(p.ops[0].issue == 3);
  CHECK(p.ops[0].latency == 3);
}

TEST_CASE("BAR.SYNC is a barrier, BAR.ARV is not") {
  CHECK(first_op("0010 ffffffff 0 BAR.SYNC 0 0 0").kind == OpKind::barrier);
  CHECK(first_op("0010 ffffffff 0 BAR.ARV 0 0 0").kind == OpKind::compute);
}

TEST_CASE("DEPBAR waits for all groups of asynchronous copies but the newest N") {
  const std::string copy = "0010 ffffffff 0 LDGSTS.E.BYPASS.128 2 R2 R4 16 1 0x7fb0fc400000 16 0",
                    commit = "0020 ffffffff 0 LDGDEPBAR 0 0 0";
  const CtaProgram p = convert(one_warp(
      {copy, copy, commit, copy, commit, "0030 ffffffff 0 DEPBAR.LE 0 0 1", "0040 ffffffff 0 DEPBAR.LE 0 0 0", kExit}));
  REQUIRE(p.ops.size() == 8);
  CHECK(p.ops[0].kind == OpKind::load);
  CHECK(p.ops[0].flags == kBypassL1);
  CHECK(p.ops[0].accesses == 4);
  CHECK(p.ops[5].wait == 0b011u);
  CHECK(p.ops[6].wait == 0b100u);
}

TEST_CASE("a barrier waits for asynchronous copies that no LDGDEPBAR has committed") {
  const CtaProgram p = convert(
      one_warp({"0010 ffffffff 0 LDGSTS.E 2 R2 R4 4 1 0x7fb0fc400000 4 0", "0020 ffffffff 0 BAR.SYNC 0 0 0", kExit}));
  CHECK(p.ops[1].kind == OpKind::barrier);
  CHECK(p.ops[1].wait == 1u);
}

TEST_CASE("with Accel-Sim's latencies results come six cycles later, and constants are integer operations") {
  using accelsim::decode_opcode, accelsim::Latencies;
  for (const auto& [opcode, gpu, accel_sim] : {std::tuple{"IADD3", 4, 10},
                                               {"FFMA", 4, 10},
                                               {"MUFU.RCP", 21, 27},
                                               {"DFMA", 64, 70},
                                               {"LDC", 8, 10},
                                               {"ULDC.64", 8, 10}}) {
    CAPTURE(opcode);
    CHECK(decode_opcode(opcode, 86).latency == gpu);
    CHECK(decode_opcode(opcode, 86, Latencies::accel_sim).latency == accel_sim);
  }
  CHECK(decode_opcode("HMMA.884.F32.F32.STEP0", 70, Latencies::accel_sim).latency == 14);  // 8, as a constant's
  CHECK(decode_opcode("HMMA.16816.F32", 80, Latencies::accel_sim).interval == decode_opcode("HMMA.16816.F32", 80).interval);
}

TEST_CASE("opcode suffixes give the width: U8 1, S16 2, none 4, 64 8, 128 16 bytes") {
  using accelsim::decode_opcode;
  CHECK(decode_opcode("LDG.E.U8").width == 1);
  CHECK(decode_opcode("LDG.E.S16").width == 2);
  CHECK(decode_opcode("LDG.E").width == 4);
  CHECK(decode_opcode("LDG.E.64").width == 8);
  CHECK(decode_opcode("LDGSTS.E.BYPASS.LTC128B.128").width == 16);
  CHECK(decode_opcode("ATOMG.E.ADD.F64.RN").width == 8);
}

}  // namespace atl::test
