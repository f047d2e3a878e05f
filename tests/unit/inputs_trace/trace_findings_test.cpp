#include "inputs/trace/trace_findings.hpp"

#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "support.hpp"

namespace atl::test::trace_findings_test {
namespace {

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0";
const std::string kMov = "0010 ffffffff 1 R5 MOV 1 R4 0 0";

TraceFindings findings_of(const std::string& text) {
  const Scratch scratch;
  accelsim::KernelFile file(scratch.write("kernel-1.traceg", text));
  CtaProgram program;
  std::uint64_t cta = 0;
  while (file.next_cta(cta, program)) {
  }
  return file.findings();
}

/// Blocks of four warps, of which the first lacks two and the third one.
std::string three_blocks() {
  return header("6", "(3,1,1)", "(128,1,1)") + thread_block("0,0,0", warp(1, {kExit}) + warp(3, {kExit})) +
         thread_block("1,0,0", warp(0, {}) + warp(1, {kExit}) + warp(2, {kExit}) + warp(3, {kExit})) +
         thread_block("2,0,0", warp(0, {kExit}) + warp(1, {kExit}) + warp(2, {kExit}));
}

TEST_CASE(
    "warps that the block's dimensions promise and the trace lacks are counted; those without instructions are there") {
  const TraceFindings f = findings_of(three_blocks());
  CHECK(f.warps == 3);
  CHECK(f.ctas == 2);
  CHECK(f.text() == "3 warps of 2 CTAs are missing: the blocks' dimensions promise them");
}

TEST_CASE("instructions with registers beyond the header's, or more sources than the tracer writes, are counted") {
  CHECK_FALSE(findings_of(one_warp({kMov, "0020 ffffffff 1 R19 IADD3 4 R19 R255 UR60 R1 0 0", kExit})).any());
  // The header has nregs = 20.
  const TraceFindings f = findings_of(one_warp({kMov, "0020 ffffffff 1 R20 MOV 1 R4 0 0", "0030 ffffffff 1 R4 MOV 1 R99 0 0",
                                                "0040 ffffffff 1 R4 IADD3 5 R1 R2 R3 R4 R5 0 0", kExit}));
  CHECK(f.beyond == 2);
  CHECK(f.sources == 1);
  CHECK(f.text() ==
        "2 instructions name a register beyond the header's nregs; 1 instruction names more than 4 source registers");
}

/// The same of all that a kernel lacks, in words.
std::string lacks(const std::vector<std::string>& lines) {
  const Scratch scratch;
  accelsim::KernelFile file(scratch.write("kernel-1.traceg", one_warp(lines)));
  CtaProgram program;
  std::uint64_t cta = 0;
  while (file.next_cta(cta, program)) {
  }
  return file.incomplete();
}

TEST_CASE("instructions with addresses and an opcode that is not known are counted by opcode, as they become compute") {
  const std::string at = " 4 1 0x7fb0fc400000 4 0";
  CHECK(lacks({"0010 ffffffff 1 R3 LDQQ.E 1 R2" + at, kExit}) ==
        "1 instruction of LDQQ has addresses and is taken for compute");
  CHECK(lacks({"0010 ffffffff 1 R3 SULD.D 1 R2" + at, "0020 ffffffff 1 R3 LDQQ.E 1 R2" + at,
               "0030 00000001 1 R3 LDQQ.64 1 R2" + at, kExit}) ==
        "3 instructions of LDQQ, SULD have addresses and are taken for compute");
  std::vector<std::string> many;
  for (const char* opcode : {"AA", "BB", "CC", "DD", "EE", "FF"})
    many.push_back(std::string("0010 ffffffff 1 R3 ") + opcode + " 1 R2" + at);
  CHECK(lacks(many) == "6 instructions of AA, BB, CC, DD and 2 more have addresses and are taken for compute");
  // The header has nregs = 20. Of a damaged opcode only the characters that opcodes have are shown.
  CHECK(lacks({"0010 ffffffff 1 R20 LD\xFFQ 1 R2" + at, kExit}) ==
        "1 instruction names a register beyond the header's nregs; "
        "1 instruction of LD has addresses and is taken for compute");
}

TEST_CASE("opcodes that are known to be compute, inactive ones and those without addresses lack nothing") {
  const std::string at = " 4 1 0x7fb0fc400000 4 0";
  for (const char* known : {"TEX.SCR.B.LL", "TLD.LZ", "LDC.64", "ULDC", "CCTL.E.PF2", "QSPC.E.S", "ARRIVES.LDGSTSBAR.64",
                            "SYNCS.EXCH.64", "SYNCS.PHASECHK.TRANS64.TRYWAIT", "LDG.E", "RED.E.ADD", "LDS", "STSM.16.M88"})
    CHECK_MESSAGE(lacks({std::string("0010 ffffffff 1 R3 ") + known + " 1 R2" + at, kExit}) == "", known);
  CHECK(lacks({"0010 00000000 1 R3 LDQQ.E 1 R2" + at, "0020 ffffffff 1 R3 SULD.D 1 R2 0 0", kExit}) == "");
}

TEST_CASE("a trace with opcodes that are not known says so when imported and read, and is an error if asked for") {
  const Scratch scratch;
  const std::string file =
      scratch.write("kernel-1.traceg", one_warp({"0010 ffffffff 1 R3 SULD.D 1 R2 4 1 0x7fb0fc400000 4 0", kExit}));
  const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\n");
  const std::string what = "1 instruction of SULD has addresses and is taken for compute";
  std::vector<std::string> told;
  ImportOptions options;
  options.warn = [&](const std::string& text) { told.push_back(text); };
  import_accel_sim(list, scratch.path("out.h5"), options);
  CHECK(told == std::vector<std::string>{file + ": " + what});
  CHECK(TraceWorkload(scratch.path("out.h5")).incomplete(0) == what);
  CHECK(AccelSimWorkload(list).incomplete(0) == what);
  options.strict = true;
  CHECK(message_of([&] { import_accel_sim(list, scratch.path("strict.h5"), options); }) == file + ": " + what);
}

TEST_CASE("what a trace lacks is told when it is imported, stands in the container, and is an error if asked for") {
  const Scratch scratch;
  scratch.write("kernel-1.traceg", one_warp({kMov, kExit}));
  const std::string file = scratch.write("kernel-2.traceg", three_blocks());
  const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
  const std::string what = "3 warps of 2 CTAs are missing: the blocks' dimensions promise them";
  std::vector<std::string> told;
  ImportOptions options;
  options.warn = [&](const std::string& text) { told.push_back(text); };
  import_accel_sim(list, scratch.path("out.h5"), options);
  CHECK(told == std::vector<std::string>{file + ": " + what});
  TraceWorkload imported(scratch.path("out.h5"));
  AccelSimWorkload direct(list);
  for (Workload* w : {static_cast<Workload*>(&imported), static_cast<Workload*>(&direct)}) {
    CHECK(w->incomplete(0).empty());
    CHECK(w->incomplete(1) == what);
  }
  options.strict = true;
  CHECK(message_of([&] { import_accel_sim(list, scratch.path("strict.h5"), options); }) == file + ": " + what);
  CHECK_FALSE(std::filesystem::exists(scratch.path("strict.h5")));
  CHECK_FALSE(std::filesystem::exists(scratch.path("strict.h5.part")));
}

}  // namespace
}  // namespace atl::test::trace_findings_test
