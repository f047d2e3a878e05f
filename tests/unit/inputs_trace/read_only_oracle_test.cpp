#include "inputs/trace/read_only_oracle.hpp"

#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "support.hpp"

namespace atl::test::read_only_oracle_test {
namespace {

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0";

std::string at(const std::string& instruction, const std::string& address) {
  return "0010 ffffffff " + instruction + " 4 1 " + address + " 4 0";
}
std::string load(const std::string& address) { return at("1 R4 LDG.E 1 R2", address); }
std::string store(const std::string& address) { return at("0 STG.E 2 R2 R4", address); }

/// Two CTAs; the second writes what the first has read before.
std::string kernel(const std::vector<std::string>& first, const std::vector<std::string>& second) {
  return header("5", "(2,1,1)") + thread_block("0,0,0", warp(0, first)) + thread_block("1,0,0", warp(0, second));
}

/// The flags of the loads of CTA 0, as the workload delivers them.
std::vector<int> flags_of(Workload& w, std::size_t kernel) {
  CtaProgram cta;
  w.load_cta(kernel, 0, cta);
  std::vector<int> out;
  for (const Op& op : cta.ops)
    if (op.kind == OpKind::load) out.push_back(op.flags);
  return out;
}

TEST_CASE("loads from blocks that no CTA of the kernel writes are read-only, read directly and imported") {
  const Scratch scratch;
  const std::string x = "0x7fb0fc400000", y = "0x7fb0fc400080", z = "0x7fb0fc400100", yz = "0x7fb0fc4000c0";
  // y is stored to by the other CTA, z takes an atomic there; yz touches the end of y and the beginning of z; x is only
  // read.
  scratch.write("kernel-1.traceg",
                kernel({load(x), load(y), load(z), load(yz), kExit}, {store(y), at("0 RED.E.ADD 2 R2 R8", z), kExit}));
  // Another kernel writes x only; a load that the program marked itself stays marked.
  scratch.write("kernel-2.traceg", kernel({load(x), load(y), at("1 R4 LDG.E.CONSTANT 1 R2", x), kExit}, {store(x), kExit}));
  const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\n");
  const std::vector<std::vector<int>> wanted = {{kReadOnly, 0, 0, 0}, {0, kReadOnly, kReadOnly}};

  AccelSimWorkload direct(list);
  CHECK(flags_of(direct, 0) == wanted[0]);
  CHECK(flags_of(direct, 1) == wanted[1]);
  CHECK(flags_of(direct, 0) == wanted[0]);

  import_accel_sim(list, scratch.path("out.h5"));
  TraceWorkload imported(scratch.path("out.h5"));
  CHECK(flags_of(imported, 0) == wanted[0]);
  CHECK(flags_of(imported, 1) == wanted[1]);
  CHECK(contains(imported.provenance().importer, "read-only"));

  ImportOptions options;
  options.selection = {"", "0"};
  import_accel_sim(list, scratch.path("first.h5"), options);
  TraceWorkload first(scratch.path("first.h5"));
  CHECK(flags_of(first, 0) == wanted[0]);
}

TEST_CASE("the oracle forgets a kernel's writes, and keeps them however many there are") {
  ReadOnlyOracle oracle;
  CtaProgram writes, reads;
  Op op;
  op.kind = OpKind::store, op.accesses = 1;
  constexpr std::uint64_t kBlocks = 300000;
  const auto address = [](std::uint64_t i) { return (i * 7919 % kBlocks) * 2 * Access::kBlockBytes; };  // even blocks
  for (std::uint64_t i = 0; i < kBlocks; ++i) {
    writes.ops.assign(1, op);
    writes.accesses.assign(1, Access::make(address(i), 1));
    oracle.note(writes);
  }
  op.kind = OpKind::load;
  const auto marked = [&](std::uint64_t block) {
    reads.ops.assign(1, op);
    reads.accesses.assign(1, Access::make(block * Access::kBlockBytes, 1));
    oracle.mark(reads);
    return reads.ops[0].flags == kReadOnly;
  };
  for (std::uint64_t block = 0; block < 2 * kBlocks; block += 611) CHECK(marked(block) == (block % 2 == 1));
  oracle.clear();
  CHECK(marked(0));
}

TEST_CASE("local memory is never read-only, and makes no block of global memory written") {
  const Scratch scratch;
  // Row 2 of local memory is the number of the block at 0x100.
  scratch.write("kernel-1.traceg", kernel({load("0x100"), "0010 ffffffff 1 R4 LDL 1 R1 4 1 0x80 0 0", kExit},
                                          {"0010 ffffffff 0 STL 2 R1 R4 4 1 0x8 0 0", kExit}));
  AccelSimWorkload direct(scratch.write("kernelslist.g", "kernel-1.traceg\n"));
  CHECK(flags_of(direct, 0) == std::vector<int>{kReadOnly, kLocal});
}

}  // namespace
}  // namespace atl::test::read_only_oracle_test
