#include <lzma.h>

#include "inputs/trace/accelsim_workload.hpp"
#include "support.hpp"

namespace atl::test::accelsim_errors_test {
namespace {

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0";

std::string failure(const std::string& text) {
  return message_of([&] { convert(text); });
}
std::string failure_of_line(const std::string& line) { return failure(one_warp({line, kExit})); }

std::string xz(const std::string& text) {
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  std::size_t size = 0;
  REQUIRE(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, nullptr, reinterpret_cast<const std::uint8_t*>(text.data()),
                                  text.size(), reinterpret_cast<std::uint8_t*>(out.data()), &size, out.size()) == LZMA_OK);
  out.resize(size);
  return out;
}

std::string large_kernel() {
  std::string text = header("5", "(200,1,1)");
  for (unsigned i = 0; i < 200; ++i)
    text +=
        thread_block(std::to_string(i) + ",0,0",
                     warp(0, {"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x" + std::to_string(7000000 + 128 * i) + " 4 0", kExit}));
  return text;
}

}  // namespace

// The header has 11 lines, so the first instruction of the first warp is line 16.
TEST_CASE("malformed instructions are reported with file, line, what was expected and what was found") {
  CHECK(contains(failure_of_line("zz ffffffff 0 NOP 0 0"), "kernel-1.traceg:16: expected a program counter, found 'zz'"));
  CHECK(contains(failure_of_line("0010"), ":16: expected an active mask, found the end of the line"));
  CHECK(contains(failure_of_line("0010 fffffffff 0 NOP 0 0"), ":16: expected an active mask of 32 bits"));
  CHECK(contains(failure_of_line("0010 ffffffff 9 R1 NOP 0 0"),
                 ":16: expected the number of destination registers (at most 8), found '9'"));
  CHECK(contains(failure_of_line("0010 ffffffff 1 7 NOP 0 0"), ":16: expected a register, found '7'"));
  CHECK(contains(failure_of_line("0010 ffffffff 1 R300 NOP 0 0"), ":16: expected a register, found 'R300'"));
  // Its dependence would be lost.
  for (const char* wrong : {"Q4", "R", "UR", "R4x", "RZ4", "P", "PZ", "UR-1", "SR_TID.X", "0x4"})
    CHECK(contains(failure_of_line(std::string("0010 ffffffff 0 NOP 1 ") + wrong + " 0"),
                   std::string(":16: expected a register, found '") + wrong + "'"));
  CHECK(contains(failure_of_line("0010 ffffffff 0 0 0"), ":16: expected an opcode, found '0'"));
  CHECK(contains(failure_of_line("0010 ffffffff 0 NOP 0"), ":16: expected a memory width, found the end of the line"));
}

TEST_CASE("every register that instructions name is read: general, uniform, predicates, barriers and scoreboards") {
  CHECK(failure_of_line("0010 ffffffff 8 R0 R254 R255 RZ UR0 UR63 URZ P0 NOP 8 P7 PT UP0 UP6 UPT B0 B15 SB5 0") ==
        "no error");
}

TEST_CASE("missing addresses are reported, for each address mode") {
  CHECK(contains(failure_of_line("0010 00000003 1 R4 LDG.E 1 R2 4 0 0x100 0x200 0x300 0"),
                 ":16: expected 2 addresses, one per active lane, found more"));
  CHECK(contains(failure_of_line("0010 00000003 1 R4 LDG.E 1 R2 4 0 0x100"),
                 ":16: expected one address per active lane, found the end of the line"));
  CHECK(contains(failure_of_line("0010 00000003 1 R4 LDG.E 1 R2 4 1 0x100"),
                 ":16: expected a stride, found the end of the line"));
  CHECK(contains(failure_of_line("0010 00000007 1 R4 LDG.E 1 R2 4 2 0x100 4"),
                 ":16: expected one address difference per further active lane"));
  CHECK(contains(failure_of_line("0010 00000005 1 R4 LDG.E 1 R2 4 1 0x100 4 0"), ":16: expected consecutive active lanes"));
  CHECK(contains(failure_of_line("0010 ffffffff 1 R4 LDG.E 1 R2 0 0"),
                 ":16: 'LDG.E' accesses memory, but the line has no addresses"));
}

TEST_CASE("an address of local memory outside of a thread's window is named with its line") {
  CHECK(contains(failure_of_line("0010 ffffffff 1 R4 LDL 1 R1 4 1 0x7fb0fc400000 0"),
                 ":16: an address of local memory that lies outside the 16 MiB of a thread"));
  CHECK(contains(failure_of_line("0010 00000001 1 R4 LDL.64 1 R1 8 0 0xfffffc"), ":16: an address of local memory"));
}

TEST_CASE("an atomic access to local memory, which no GPU executes, is named with its line and lane") {
  CHECK(contains(failure_of_line("0010 0000000c 1 R4 ATOM.E.ADD 2 R2 R5 4 1 0x7f0003000100 4 0"),
                 ":16: an atomic of lane 2 in local memory, which has none; is 'local mem base_addr' right?"));
  CHECK(contains(failure_of_line("0010 0000000c 1 R4 ATOM.E.ADD 2 R2 R5 4 0 0x7fb0fc400000 0x7f0003000100 0"),
                 ":16: an atomic of lane 3 in local memory"));
}

TEST_CASE("an access whose last byte lies above 2^63 is refused as well as one whose first byte does") {
  CHECK(contains(failure_of_line("0010 00000001 1 R4 LDG.E.128 1 R2 16 0 0x7ffffffffffffff8 0"),
                 ":16: an access of 16 bytes at 0x7ffffffffffffff8 that does not end below 2^63"));
  CHECK(failure_of_line("0010 00000001 1 R4 LDG.E.128 1 R2 16 0 0x7ffffffffffffff0 0") == "no error");
  CHECK(contains(failure_of_line("0010 00000001 1 R4 LDG.E 1 R2 4 0 0x8000000000000000 0"), "does not end below 2^63"));
  CHECK(contains(failure_of_line("0010 00000001 1 R4 LDG.E 1 R2 4 0 0xffffffffffffffff 0"), "does not end below 2^63"));
  CHECK(contains(failure_of_line("0010 00000001 0 UTMASTG.1D 2 R2 R3 32 4 0x7fffffffffffffe0 2 16 0"),
                 ":16: an access of 32 bytes at 0x7ffffffffffffff0 that does not end below 2^63"));
}

TEST_CASE("a byte order mark in front of a trace or a list is said to be one") {
  const Scratch scratch;
  const std::string mark = "\xEF\xBB\xBF";
  const std::string says = ":1: begins with a byte order mark; save it without";
  CHECK(contains(failure(mark + one_warp({kExit})), "kernel-1.traceg" + says));
  scratch.write("kernel-1.traceg", one_warp({kExit}));
  const auto open = [&](const std::string& text) {
    const std::string list = scratch.write("kernelslist.g", text);
    return message_of([&] { AccelSimWorkload{list}; });
  };
  for (const char* text : {"kernel-1.traceg\n", "MemcpyHtoD,0x10,1\nkernel-1.traceg\n"})
    CHECK(contains(open(mark + text), "kernelslist.g" + says));
  CHECK(open("kernel-1.traceg\n# " + mark + "\n") == "no error");
}

TEST_CASE("address modes of bulk accesses are refused where lanes have addresses") {
  CHECK(contains(failure_of_line("0010 ffffffff 0 LDG.E 0 4 3 1 0x100"),
                 ":16: address modes 3 and 4 are for bulk accesses (TMA)"));
  CHECK(contains(failure_of_line("0010 00000003 1 R4 LDG.E 1 R2 4 7 0x100"),
                 ":16: expected an address mode (0, 1 or 2), found '7'"));
}

TEST_CASE("a warp with fewer instructions than announced is reported where the next thing begins") {
  CHECK(contains(failure(header() + "#BEGIN_TB\nthread block = 0,0,0\nwarp = 0\ninsts = 3\n" + kExit + "\n#END_TB\n"),
                 ":17: expected 3 instructions of warp 0, found 1"));
}

TEST_CASE("a file that ends early is reported at its last line, wherever it ends") {
  const std::string whole = one_warp({"0000 ffffffff 1 R4 LDG.E 1 R2 4 1 0x7fb0fc400000 4 0", kExit});
  for (std::size_t size = 1; size + 1 < whole.size(); size += 7) {
    CAPTURE(size);
    const Scratch scratch;
    scratch.write("kernel-1.traceg", whole.substr(0, size));
    const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\n");
    const std::string message = message_of([&] {
      AccelSimWorkload workload(list);
      CtaProgram program;
      workload.load_cta(0, 0, program);
    });
    CHECK(contains(message, "kernel-1.traceg:"));
  }
}

TEST_CASE("a header that lacks registers or shared memory, under a misspelt name for one, or has a key twice is refused") {
  const auto with = [](std::string_view what, std::string_view by) {
    std::string text = header();
    return text.replace(text.find(what), what.size(), by);
  };
  CHECK(contains(failure(with("-nregs", "-nreg")), "the header has no '-nregs = N': is it misspelt?"));
  CHECK(contains(failure(with("-shmem =", "-smem =")), "the header has no '-shmem = N': is it misspelt?"));
  CHECK(contains(failure(with("-shmem =", "-nregs = 7\n-shmem =")), "'-nregs' is in the header twice"));
}

TEST_CASE("generic accesses need a header that says where shared and local memory lie, and others do not") {
  const auto of = [](const std::string& opcode, std::string_view key) {
    std::string text = one_warp({"0010 ffffffff 1 R4 " + opcode + " 1 R2 4 1 0x7f0000 4 0", kExit});
    if (!key.empty()) text.replace(text.find(key), key.size(), "-no such");
    return failure(text);
  };
  for (const char* opcode : {"LD.E", "LDG.E"}) CHECK(of(opcode, "") == "no error");
  for (const char* key : {"-shmem base_addr", "-local mem base_addr"}) {
    CHECK(
        contains(of("LD.E", key), ":16: LD may access shared or local memory, but the header does not say where they lie"));
    CHECK(contains(of("LDGSTS.E", key), ":16: LDGSTS may access shared or local memory"));
    CHECK(of("LDG.E", key) == "no error");
  }
}

TEST_CASE("what does not print is refused as a kernel's name, and in no message") {
  std::string text = header();
  text.insert(text.find('\n', text.find("-kernel name")), "\x1b[2J");
  CHECK(contains(failure(text), ":1: the kernel's name has signs that do not print"));
  CHECK(contains(failure_of_line(std::string("\x1b[2J\0q ffffffff 0 NOP 0 0", 25)),
                 "expected a program counter, found '?[2J?q'"));
}

TEST_CASE("headers without grid, of an unknown version or with broken numbers are refused") {
  CHECK(contains(failure("-kernel name = k\n-accelsim tracer version = 5\n#x\n"),
                 ":3: expected '-grid dim' and '-block dim'"));
  CHECK(contains(failure(header("7")), ":11: tracer version 7 is not supported (1 to 6 are)"));
  CHECK(contains(failure(header("5", "(1,1)")), ":3: expected the grid dimensions as x,y,z, found '(1,1)'"));
  CHECK(contains(failure(header("5", "(1,a,1)")), ":3: expected the grid dimensions as x,y,z, found 'a'"));
}

TEST_CASE("thread blocks outside the grid, twice or missing and warps outside the block are refused") {
  const auto load = [](const std::string& text) {
    const Scratch scratch;
    scratch.write("kernel-1.traceg", text);
    const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\n");
    auto direct = message_of([&] {
      AccelSimWorkload workload(list);
      CtaProgram program;
      workload.load_cta(0, 0, program);
    });
    CHECK(message_of([&] { import_accel_sim(list, scratch.path("out.h5")); }) == direct);
    CHECK_FALSE(std::filesystem::exists(scratch.path("out.h5")));
    CHECK_FALSE(std::filesystem::exists(scratch.path("out.h5.part")));
    return direct;
  };
  const std::string some = warp(0, {kExit});
  CHECK(contains(load(header() + thread_block("1,0,0", some)), ":13: thread block 1,0,0 is outside the grid"));
  CHECK(contains(load(header("5", "(2,1,1)") + thread_block("1,0,0", some) + thread_block("1,0,0", some)),
                 ": thread block 1 a second time"));
  CHECK(contains(load(header("5", "(2,1,1)") + thread_block("1,0,0", some)),
                 "the file ends after 1 of 2 thread blocks; block 0 is missing"));
  CHECK(contains(load(header() + thread_block("0,0,0", warp(1, {kExit}))), ":14: warp 1 is outside the block, which has 1"));
  CHECK(contains(load(header() + thread_block("0,0,0", some + some)), ":17: warp 0 a second time"));
}

TEST_CASE("an .xz trace gives the same ops as the plain one, also when the list names the plain file") {
  const Scratch scratch;
  const std::string text = large_kernel();
  scratch.write("kernel-1.traceg", text);
  scratch.write("kernel-2.traceg.xz", xz(text));
  AccelSimWorkload workload(scratch.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg.xz\nkernel-2.traceg\n"));
  REQUIRE(workload.kernels().size() == 3);
  CtaProgram plain, packed;
  workload.load_cta(0, 137, plain);
  for (std::size_t kernel : {1u, 2u}) {
    workload.load_cta(kernel, 137, packed);
    CHECK(same(plain, packed));
  }
}

TEST_CASE("a compressed file without its ending is read if it is xz, and refused by name if not") {
  const Scratch scratch;
  const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\n");
  scratch.write("kernel-1.traceg", xz(large_kernel()));
  CHECK(AccelSimWorkload(list).kernels().size() == 1);
  scratch.write("kernel-1.traceg", "\x1f\x8b\x08");
  CHECK(contains(message_of([&] { AccelSimWorkload{list}; }), "kernel-1.traceg: is compressed in a way that is not read"));
}

TEST_CASE("truncated, damaged and false .xz files are told apart") {
  const Scratch scratch;
  const std::string whole = xz(large_kernel());
  const auto open = [&](const std::string& bytes) {
    const std::string path = scratch.write("kernel-1.traceg.xz", bytes);
    return message_of([&] {
      accelsim::LineReader lines(path);
      std::string_view line;
      while (lines.next(line)) {
      }
    });
  };
  CHECK(open(whole) == "no error");
  for (const std::size_t size : {std::size_t{14}, whole.size() / 2, whole.size() - 1})
    CHECK(contains(open(whole.substr(0, size)), "xz data is truncated at byte"));
  std::string damaged = whole;
  damaged[whole.size() / 2] ^= 0x55;
  CHECK(contains(open(damaged), "xz data is damaged at byte"));
  CHECK(contains(open(header()), "is named .xz but is not xz data"));
}

TEST_CASE("a list keeps copies to the device as allocations, in order, and ignores lines it does not know") {
  const Scratch scratch;
  scratch.write("kernel-1.traceg", one_warp({kExit}));
  const AccelSimWorkload workload(scratch.write(
      "kernelslist.g",
      "MemcpyHtoD,0x00007fc841500000,32768\n# note\nkernel-1.traceg\nMemcpyDtoH,0x1,2\nMemcpyHtoD,0x10,1\r\n"));
  CHECK(workload.kernels().size() == 1);
  REQUIRE(workload.allocations().size() == 2);
  CHECK(workload.allocations()[0] == TraceAllocation{0x7fc841500000, 32768, 0, ""});
  CHECK(workload.allocations()[1] == TraceAllocation{0x10, 1, 1, ""});
}

TEST_CASE("broken lists name the line") {
  const Scratch scratch;
  const auto open = [&](const std::string& text) {
    const std::string list = scratch.write("kernelslist.g", text);
    return message_of([&] { AccelSimWorkload workload(list); });
  };
  CHECK(contains(open("MemcpyHtoD,0xzz,1\n"), "kernelslist.g:1: expected 'MemcpyHtoD,0x<address>,<bytes>'"));
  CHECK(contains(open("\nMemcpyHtoD,0xffffffffffffff00,4096\n"),
                 "kernelslist.g:2: a copy of 4096 bytes to 0xffffffffffffff00 does not end below 2^63"));
  CHECK(contains(open("MemcpyHtoD,0x7fffffffffffffff,2\n"), "kernelslist.g:1: a copy of 2 bytes"));
  CHECK(contains(open("MemcpyHtoD,0x7fffffffffffffff,1\n"), "no line names a kernel's trace"));
  CHECK(contains(open("\nkernel-9.traceg\n"), "kernelslist.g:2: the kernel's file"));
  CHECK(contains(open("kernel-" + std::string(300, '9') + ".traceg\n"), "kernelslist.g:1: the kernel's file"));
  CHECK(contains(open("hello\n"), "no line names a kernel's trace"));
  CHECK(contains(open("\n sub/kernel-9.traceg\n"), "kernelslist.g:2: the kernel's file"));
}

TEST_CASE("a trace that is compressed in a way that is not read is said to be that") {
  const Scratch scratch;
  scratch.write("kernel-1.traceg.gz", "\x1f\x8b");
  for (const char* name : {"kernel-1.traceg", "kernel-1.traceg.gz"}) {
    const std::string list = scratch.write("kernelslist.g", std::string(name) + "\n");
    const std::string message = message_of([&] { AccelSimWorkload workload(list); });
    CHECK(contains(message, "kernelslist.g:1: the kernel's file"));
    CHECK(contains(message,
                   "kernel-1.traceg.gz' is compressed in a way that is not read; .traceg, .traceg.xz and .tracez are"));
  }
}

TEST_CASE("a list may name its kernels with folders in front") {
  const Scratch scratch;
  const std::string kernel =
      scratch.write("kernel-1.traceg", header("5", "(1,1,1)", "(32,1,1)") + thread_block("0,0,0", warp(0, {kExit})));
  const AccelSimWorkload w(
      scratch.write("kernelslist.g", "kernel-1.traceg\n./kernel-1.traceg\n " + kernel + "\n# kernel-1.traceg\n"));
  CHECK(w.kernels().size() == 3);
}

TEST_CASE("a grid that no memory holds is refused by what is missing of it, and one beyond 64 bits as such") {
  const Scratch scratch;
  const auto refused = [&](const std::string& grid, const std::string& block) {
    scratch.write("kernel-1.traceg", header("5", grid, block) + thread_block("0,0,0", warp(0, {kExit})));
    return message_of([&] {
      CtaProgram cta;
      AccelSimWorkload(scratch.write("kernelslist.g", "kernel-1.traceg\n")).load_cta(0, 0, cta);
    });
  };
  CHECK(contains(refused("(2000000000,60000,1)", "(32,1,1)"),
                 "the file ends after 1 of 120000000000000 thread blocks; block 1 is missing"));
  CHECK(contains(refused("(4294967295,4294967295,4294967295)", "(32,1,1)"), "larger than any that a GPU accepts"));
  CHECK(contains(refused("(1,1,1)", "(2,2147483664,1)"), "larger than any that a GPU accepts"));
}

}  // namespace atl::test::accelsim_errors_test
