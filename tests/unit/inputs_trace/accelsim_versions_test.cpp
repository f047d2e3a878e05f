#include "inputs/workload/count.hpp"
#include "support.hpp"

namespace atl::test {
namespace {

constexpr std::uint64_t kBase = 0x7fb0fc400000;

/// The program every version below describes: one load of 32 consecutive words, then the exit.
void check_load(const CtaProgram& program) {
  REQUIRE(program.ops.size() == 2);
  CHECK(program.ops[0].kind == OpKind::load);
  CHECK(program.ops[0].slot == 0);
  CHECK(program.ops[0].wait == 0);
  REQUIRE(program.accesses.size() == 1);
  CHECK(program.accesses[0] == Access::make(kBase, 0xF));
  CHECK(program.ops[1].kind == OpKind::exit);
  CHECK(count_instructions(program) == 2);
  CHECK(count_sectors(program) == 4);
}

std::string list_of_addresses() {
  std::string text;
  for (unsigned i = 0; i < 32; ++i) {
    char hex[32];
    const unsigned long long address = kBase + std::uint64_t{4} * i;
    std::snprintf(hex, sizeof hex, " 0x%llx", address);
    text += hex;
  }
  return text;
}

std::string deltas(unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += " 4";
  return text;
}

}  // namespace

TEST_CASE("tracer 1.2 has the thread block and the warp on every line") {
  check_load(convert(one_warp(
      {"0 0 0 0 0010 ffffffff 1 R4 LDG.E 1 R2 4 0" + list_of_addresses(), "0 0 0 0 0020 ffffffff 0 EXIT 0 0"}, "1.2")));
}

TEST_CASE("tracer 3 has neither ids nor immediates") {
  check_load(convert(one_warp({"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7fb0fc400000 4", "0020 ffffffff 0 EXIT 0 0 "}, "3")));
}

TEST_CASE("tracer 4 with line information has the source line first") {
  check_load(convert(
      one_warp({"17 0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7fb0fc400000 4", "18 0020 ffffffff 0 EXIT 0 0"}, "4", true)));
}

TEST_CASE("tracer 5 ends with one immediate or two, and may name uniform registers") {
  check_load(convert(one_warp({"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7fb0fc400000 4 0", "0020 ffffffff 0 EXIT 0 0 0"}, "5")));
  check_load(convert(
      one_warp({"0010 ffffffff 1 R4 LDG.E 2 R2 UR4 4 1 0x7fb0fc400000 4 0 -1", "0020 ffffffff 0 EXIT 0 0 0 0"}, "5")));
}

TEST_CASE("tracer 6 ends with two immediates and register values or NoVal") {
  check_load(convert(one_warp(
      {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7fb0fc400000 4 0 0 NoVal", "0020 ffffffff 0 EXIT 0 0 0 0 NoVal"}, "6")));
  check_load(convert(one_warp(
      {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7fb0fc400000 4 0 0 Val 1 0x5 1 0x7", "0020 ffffffff 0 EXIT 0 0 0 0 NoVal"},
      "6")));
}

TEST_CASE("address modes 0, 1 and 2 give the same accesses") {
  const std::string exit = "0020 ffffffff 0 EXIT 0 0 0";
  check_load(convert(one_warp({"0010 ffffffff 1 R4 LDG.E 1 R2 4 0" + list_of_addresses() + " 0", exit})));
  check_load(convert(one_warp({"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7fb0fc400000 4 0", exit})));
  check_load(convert(one_warp({"0010 ffffffff 1 R4 LDG.E 1 R2 4 2 0x7fb0fc400000" + deltas(31) + " 0", exit})));
}

TEST_CASE("mode 2 with negative differences and inactive lanes goes from active lane to active lane") {
  const CtaProgram program =
      convert(one_warp({"0010 80010001 1 R4 LDG.E 1 R2 4 2 0x7fb0fc400100 -256 132 0", "0020 ffffffff 0 EXIT 0 0 0"}));
  REQUIRE(program.accesses.size() == 3);
  CHECK(program.accesses[0] == Access::make(kBase + 256, 0x1));
  CHECK(program.accesses[1] == Access::make(kBase, 0x1));
  CHECK(program.accesses[2] == Access::make(kBase + 132, 0x1));
}

TEST_CASE("the access width comes from the opcode and not from the width column") {
  const CtaProgram program =
      convert(one_warp({"0010 ffffffff 1 R4 LDG.E.128 1 R2 4 1 0x7fb0fc400000 16 0", "0020 ffffffff 0 EXIT 0 0 0"}));
  CHECK(program.ops[0].accesses == 4);
  CHECK(count_sectors(program) == 16);
}

TEST_CASE("the header gives name, grid, block, registers and shared memory") {
  const Scratch scratch;
  const accelsim::KernelFile file(scratch.write("k.traceg", header("5", "(3,2,1)", "(16,4,1)")));
  const KernelInfo& info = file.header().info;
  CHECK(info.name == "k");
  CHECK(info.ctas() == 6);
  CHECK(info.threads() == 64);
  CHECK(info.registers_per_thread == 20);
  CHECK(info.shared_bytes == 512);
  CHECK(file.header().shared_base == 0x7f0001000000);
}

TEST_CASE("cluster lines are skipped, and a warp that the trace leaves out only exits") {
  const std::string body = "#BEGIN_TB\n\nthread block = 0,0,0\ncluster id = 0,0,0\ncluster rank = 0\n\n" +
                           warp(1, {"0000 ffffffff 0 NOP 0 0 0", "0010 ffffffff 0 EXIT 0 0 0"}) + "\n\n#END_TB\n";
  const CtaProgram program = convert(header("5", "(1,1,1)", "(64,1,1)") + body);
  REQUIRE(program.warps.size() == 2);
  CHECK(program.warps[0].count == 1);
  CHECK(program.ops[program.warps[0].first].kind == OpKind::exit);
  CHECK(program.warps[1].count == 2);
}

}  // namespace atl::test
