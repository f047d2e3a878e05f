#include "inputs/workload/count.hpp"
#include "support.hpp"

namespace atl::test::accelsim_dependences_test {
namespace {

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0";
const std::string kAddress = " 4 1 0x7fb0fc400000 4 0";

std::string load(const std::string& to, const std::string& from) {
  return "0010 ffffffff 1 " + to + " LDG 1 " + from + kAddress;
}
std::string alu(const std::string& opcode, const std::string& to, const std::string& sources) {
  return "0020 ffffffff 1 " + to + " " + opcode + " " + sources + " 0 0";
}

}  // namespace

TEST_CASE("a run of compute instructions is one op whose latency is the in-order issue of the run") {
  // S2R R6 at 0 (ready 4), S2R R3 at 1 (ready 5), IMAD R6 at 5 (ready 9); the load's address is R6, so it issues at 9.
  const CtaProgram p =
      convert(one_warp({alu("S2R", "R6", "0"), alu("S2R", "R3", "0"), alu("IMAD", "R6", "2 R6 R3"), load("R4", "R6"),
                        alu("FADD", "R0", "2 R4 R3"), "0030 ffffffff 0 STG 2 R6 R0" + kAddress, kExit}));
  REQUIRE(p.ops.size() == 5);
  CHECK(p.ops[0].kind == OpKind::compute);
  CHECK(p.ops[0].issue == 3);
  CHECK(p.ops[0].latency == 9);
  CHECK(p.ops[1].kind == OpKind::load);
  CHECK(p.ops[1].slot == 0);
  CHECK(p.ops[1].latency == 1);
  // FADD waits for the load, then the store for FADD's 4 cycles.
  CHECK(p.ops[2].wait == 1u);
  CHECK(p.ops[2].issue == 1);
  CHECK(p.ops[2].latency == 4);
  CHECK(p.ops[3].kind == OpKind::store);
  CHECK(p.ops[3].slot == kNoSlot);
  CHECK(p.ops[3].wait == 0);
  CHECK(p.ops[4].kind == OpKind::exit);
  CHECK(count_instructions(p) == 7);
}

TEST_CASE("independent instructions issue one per cycle") {
  const CtaProgram p =
      convert(one_warp({alu("MOV", "R1", "0"), alu("MOV", "R2", "0"), alu("MOV", "R3", "0"), load("R4", "R9"), kExit}));
  CHECK(p.ops[0].issue == 3);
  CHECK(p.ops[0].latency == 3);
}

TEST_CASE("opcode classes differ in latency: special function 21, double 64, tensor 32, constant 8, texture 200") {
  const auto latency = [](const char* opcode) {
    return convert(one_warp({alu(opcode, "R1", "0"), alu("MOV", "R2", "1 R1"), load("R4", "R9"), kExit})).ops[0].latency;
  };
  CHECK(latency("FADD") == 5);
  CHECK(latency("MUFU.RCP") == 22);
  CHECK(latency("DADD") == 65);
  CHECK(latency("HMMA.16816.F32") == 33);
  CHECK(latency("LDC") == 9);
  for (const char* texture : {"TEX", "TEXS", "TLDS", "TLD4S"}) CHECK(latency(texture) == 201);
}

TEST_CASE("a fixed-latency result that is still due behind a load delays the op after the load") {
  // MUFU at 0 (ready 21), the load at 1, FADD on MUFU's result at 21: 20 cycles after the load.
  const CtaProgram p = convert(one_warp({alu("MUFU.EX2", "R1", "0"), load("R4", "R9"), alu("FADD", "R2", "1 R1"), kExit}));
  CHECK(p.ops[0].latency == 1);
  CHECK(p.ops[1].latency == 20);
  CHECK(p.ops[2].wait == 0);
}

TEST_CASE("a 64-bit address is a register pair, and its second half is waited for, too") {
  const CtaProgram p = convert(one_warp({alu("IADD3.X", "R3", "0"), "0010 ffffffff 1 R4 LDG.E 1 R2" + kAddress, kExit}));
  CHECK(p.ops[0].latency == 4);
}

TEST_CASE("loads take slots in turn, and each reader waits for the slots of its operands only") {
  const CtaProgram p = convert(one_warp({load("R1", "R9"), load("R2", "R9"), load("R3", "R9"), alu("FADD", "R5", "2 R1 R3"),
                                         alu("FADD", "R6", "1 R1"), alu("FADD", "R7", "1 R2"), kExit}));
  REQUIRE(p.ops.size() == 6);
  CHECK(p.ops[0].slot == 0);
  CHECK(p.ops[1].slot == 1);
  CHECK(p.ops[2].slot == 2);
  CHECK(p.ops[3].wait == 0b101u);
  CHECK(p.ops[3].issue == 2);  // R1 is there already, so the second FADD joins the run
  CHECK(p.ops[4].wait == 0b010u);
}

TEST_CASE("overwriting a register that a load has yet to deliver waits for the load") {
  const CtaProgram p = convert(one_warp({load("R1", "R9"), alu("MOV", "R1", "0"), kExit}));
  CHECK(p.ops[1].wait == 1u);
}

TEST_CASE("a load whose address comes from a load waits for it and takes the next slot") {
  const CtaProgram p = convert(one_warp({load("R2", "R9"), load("R3", "R2"), kExit}));
  CHECK(p.ops[1].wait == 1u);
  CHECK(p.ops[1].slot == 1);
}

TEST_CASE("a 64-bit load delivers two registers and a 128-bit load four") {
  CHECK(convert(one_warp({"0010 ffffffff 1 R4 LDG.64 1 R9 8 1 0x7fb0fc400000 8 0", alu("FADD", "R1", "1 R5"), kExit}))
            .ops[1]
            .wait == 1u);
  CHECK(convert(one_warp({"0010 ffffffff 1 R4 LDG.128 1 R9 8 1 0x7fb0fc400000 16 0", alu("FADD", "R1", "1 R7"), kExit}))
            .ops[1]
            .wait == 1u);
  CHECK(convert(one_warp({"0010 ffffffff 1 R4 LDG.128 1 R9 8 1 0x7fb0fc400000 16 0", alu("FADD", "R1", "1 R8"), kExit}))
            .ops[1]
            .wait == 0u);
}

TEST_CASE("the 33rd load in flight waits for the first, whose slot it takes") {
  std::vector<std::string> lines;
  for (unsigned i = 0; i < 33; ++i) lines.push_back(load(std::string("R").append(std::to_string(10 + i)), "R9"));
  lines.push_back(kExit);
  const CtaProgram p = convert(one_warp(lines));
  for (unsigned i = 0; i < 32; ++i) CHECK(p.ops[i].wait == 0);
  CHECK(p.ops[32].slot == 0);
  CHECK(p.ops[32].wait == 1u);
}

TEST_CASE("the zero registers R255 and UR63 carry no dependence, uniform registers do") {
  CHECK(convert(one_warp({load("R255", "R9"), alu("MOV", "R1", "1 R255"), kExit})).ops[1].wait == 0);
  const CtaProgram p = convert(
      one_warp({alu("ULDC", "UR4", "0"), alu("MOV", "R1", "1 UR4"), alu("MOV", "R2", "1 UR63"), load("R4", "R9"), kExit}));
  CHECK(p.ops[0].latency == 10);  // ULDC at 0 (ready 8), MOV at 8, MOV at 9
}

TEST_CASE("a run longer than a 16-bit count is split and loses no instruction") {
  std::vector<std::string> lines(70000, "0000 ffffffff 0 NOP 0 0 0");
  lines.push_back(kExit);
  const CtaProgram p = convert(one_warp(lines));
  REQUIRE(p.ops.size() == 3);
  CHECK(p.ops[0].issue == 60000);
  CHECK(p.ops[0].latency == 60000);
  CHECK(p.ops[1].issue == 10000);
  CHECK(count_instructions(p) == 70001);
}

}  // namespace atl::test::accelsim_dependences_test
