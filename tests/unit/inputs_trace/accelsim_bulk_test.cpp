#include "inputs/workload/count.hpp"
#include "support.hpp"

// Bulk accesses (TMA) and tensor instructions, as tracers of version 6 write them.
namespace atl::test::accelsim_bulk_test {
namespace {

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0 0 NoVal";

std::string sm(unsigned architecture, const std::vector<std::string>& lines) {
  std::string text = one_warp(lines, "6");
  const std::string id = "-kernel id = 1\n";  // which says nothing of how the kernel runs
  return text.replace(text.find(id), id.size(), "-binary version = " + std::to_string(architecture) + "\n");
}
CtaProgram hopper(std::vector<std::string> lines) {
  lines.push_back(kExit);
  return convert(sm(90, lines));
}
std::vector<Access> accesses(const CtaProgram& p, const Op& op) {
  return {p.accesses.begin() + op.first_access, p.accesses.begin() + op.first_access + op.accesses};
}
std::string failure_of(const std::string& line) {
  return message_of([&] { hopper({line}); });
}

TEST_CASE("a tensor load is the sectors of its pieces, past the L1, and the wait at the mbarrier waits for it") {
  // Two rows of 64 bytes, 256 apart: barrier, no multicast, 128 bytes, none outside, mode 3, two addresses.
  const CtaProgram p =
      hopper({"0010 00000001 0 UTMALDG.2D 2 R2 R3 64 0x30 0 128 0 3 2 0x1000 0x1100 0 0 NoVal",
              "0020 ffffffff 1 R4 MOV 1 R5 0 0 0 NoVal", "0030 ffffffff 0 SYNCS.PHASECHK.TRANS64.TRYWAIT 1 R2 0 0 0 NoVal"});
  REQUIRE(p.ops.size() == 4);
  CHECK(p.ops[0].kind == OpKind::load);
  CHECK(p.ops[0].flags == kBypassL1);
  CHECK(accesses(p, p.ops[0]) == std::vector{Access::make(0x1000, 0x3), Access::make(0x1100, 0x3)});
  CHECK(p.ops[1].wait == 0);
  CHECK(p.ops[2].wait == 1u << p.ops[0].slot);
}

TEST_CASE("bulk copies go by their direction, with addresses as differences, multicast or not; 16 KiB take two ops") {
  std::string rows = "4 0x2000 128";
  for (int i = 1; i < 128; ++i) rows += " 128";
  const CtaProgram in = hopper({"0010 00000001 0 UBLKCP.T.S.G 2 R2 R3 128 0x30 1 0x3 16384 0 " + rows + " 0 0 NoVal"});
  CHECK(in.ops[0].kind == OpKind::load);
  CHECK(in.ops[0].accesses == 64);
  CHECK(in.ops[1].accesses == 64);
  CHECK(in.ops[2].kind == OpKind::exit);
  CHECK(count_sectors(in) == 512);
  const CtaProgram out = hopper({"0010 00000001 0 UBLKCP.G.S 2 R2 R3 100 0x0 0 100 0 3 1 0x2000 0 0 NoVal"});
  CHECK(out.ops[0].kind == OpKind::store);
  CHECK(out.ops[0].flags == kPartial);
  CHECK(accesses(out, out.ops[0]) == std::vector{Access::make(0x2000, 0xF)});
  const CtaProgram reduce = hopper({"0010 00000001 0 UTMAREDG.1D.ADD 2 R2 R3 32 0x0 0 32 0 3 1 0x2020 0 0 NoVal"});
  CHECK(reduce.ops[0].kind == OpKind::atomic);
  CHECK(reduce.ops[0].slot == kNoSlot);
  CHECK(hopper({"0010 00000001 0 UBLKCP.S.S 2 R2 R3 0 0 0 NoVal"}).ops[0].kind == OpKind::compute);
}

TEST_CASE("bytes outside of the tensor move nothing, and a bulk access that is predicated off neither") {
  const CtaProgram p = hopper({"0010 00000001 0 UTMALDG.2D 2 R2 R3 64 0x30 0 128 64 3 1 0x1000 0 0 NoVal",
                               "0020 00000000 0 UTMALDG.2D 2 R2 R3 64 0x30 0 128 0 3 0 0 0 NoVal"});
  CHECK(count_sectors(p) == 2);
  CHECK(p.ops[1].kind == OpKind::compute);
}

TEST_CASE("the form of the first tracers with bulk accesses has a mode and addresses only") {
  const CtaProgram p = hopper({"0010 00000001 0 UTMASTG.1D 2 R2 R3 32 4 0x1000 2 32 0 0 NoVal"});
  CHECK(p.ops[0].kind == OpKind::store);
  CHECK(accesses(p, p.ops[0]) == std::vector{Access::make(0x1000, 0x3)});
}

TEST_CASE("a bulk access whose sectors are not in the trace is refused by name, with its line") {
  CHECK(contains(failure_of("0010 00000001 0 UTMALDG.2D 2 R2 R3 64 0x30 0 4096 0 3 1 0x1000 0 0 NoVal"),
                 ":16: 'UTMALDG.2D' moves more or fewer bytes than its addresses cover"));
  CHECK(contains(failure_of("0010 00000001 0 UTMALDG.2D 2 R2 R3 0 0 0 NoVal"), ":16: 'UTMALDG.2D' accesses memory, but"));
  CHECK(contains(failure_of("0010 00000001 0 UTMALDG.2D 2 R2 R3 64 0x30 0 64 0 2 1 0x1000 0"), "an address mode of 3 or 4"));
  CHECK(contains(failure_of("0010 00000001 0 UTMALDG.2D 2 R2 R3 64 0x30 0 128 0 3 2 0x1000"), "one address per piece"));
  CHECK(
      contains(failure_of("0010 00000001 0 UTMALDG.2D 2 R2 R3 64 0x30 0 128 0 3 99999999 0x1000"), "a number of addresses"));
}

/// Cycles from the first op's start to that of what follows two tensor instructions, the last using both results.
unsigned tensor_cycles(unsigned architecture) {
  const CtaProgram p = convert(sm(architecture, {"0010 ffffffff 1 R4 HMMA.16816.F32 3 R8 R12 R16 0 0 0 NoVal",
                                                 "0020 ffffffff 1 R20 HMMA.16816.F32 3 R8 R12 R16 0 0 0 NoVal",
                                                 "0030 ffffffff 0 STG.E 2 R2 R20 4 1 0x1000 4 0 0 NoVal", kExit}));
  REQUIRE(p.ops[0].kind == OpKind::compute);
  CHECK(p.ops[0].issue == 2);
  return p.ops[0].latency;
}

TEST_CASE("tensor instructions of a warp are as far apart, and take as long, as the architecture's table says") {
  CHECK(tensor_cycles(70) == 4 + 8);
  CHECK(tensor_cycles(75) == 16 + 16);
  CHECK(tensor_cycles(80) == 8 + 12);
  CHECK(tensor_cycles(86) == 32 + 32);
  CHECK(tensor_cycles(90) == 8 + 12);
}

TEST_CASE("an instruction of a warpgroup takes N / 2 cycles and says in version 6 whether it closes a group") {
  const CtaProgram p = hopper({"0010 ffffffff 1 R24 HGMMA.64x128x16.F32 2 R24 UR4 1 0 0 0 NoVal",
                               "0020 ffffffff 0 STG.E 2 R2 R87 4 1 0x1000 4 0 0 NoVal"});
  CHECK(p.ops[0].latency == 64);
}

}  // namespace
}  // namespace atl::test::accelsim_bulk_test
