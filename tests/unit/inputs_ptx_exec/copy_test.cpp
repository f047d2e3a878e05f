#include <doctest/doctest.h>

#include <numeric>
#include <utility>

#include "harness.hpp"
#include "inputs/ptx/out_of_bounds.hpp"
#include "inputs/ptx/record.hpp"

using namespace atl;
using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;

// cp.async that reads less than it writes: values, bounds and the trace.
namespace {

/// Each thread copies 16 bytes to shared memory as `copy` says, of which `%r4` (or `%p1`, where that is not 0) is its number
/// in `how`, from its pointer in `from`, and stores what is there.
std::string copy_kernel(const std::string& copy) {
  return kHeader + R"(.visible .entry k(.param .u64 from, .param .u64 how, .param .u64 out)
{
  .shared .align 16 .b8 s[1024]; .reg .b32 %r<12>; .reg .b64 %rd<12>; .reg .pred %p<2>;
  ld.param.u64 %rd1,[from]; ld.param.u64 %rd2,[how]; ld.param.u64 %rd3,[out];
  mov.u32 %r1,%tid.x; mul.wide.u32 %rd4,%r1,8; add.s64 %rd5,%rd1,%rd4; mul.wide.u32 %rd6,%r1,4; add.s64 %rd7,%rd2,%rd6;
  ld.global.u64 %rd8,[%rd5]; ld.global.u32 %r4,[%rd7]; setp.ne.u32 %p1,%r4,0;
  shl.b32 %r2,%r1,4; mov.u32 %r3,s; add.s32 %r5,%r3,%r2;
  mov.u32 %r6,-1; st.shared.v4.u32 [%r5],{%r6,%r6,%r6,%r6};
  )" + copy +
         R"(
  cp.async.wait_all;
  ld.shared.v4.u32 {%r7,%r8,%r9,%r10},[%r5];
  mul.wide.u32 %rd9,%r1,16; add.s64 %rd10,%rd3,%rd9; st.global.v4.u32 [%rd10],{%r7,%r8,%r9,%r10};
  ret;
})";
}
const std::string kSizedCopy = "cp.async.cg.shared.global [%r5],[%rd8],16,%r4;";

struct CopySource {
  std::uint64_t offset;  ///< in the buffer; ~0: a null pointer
  std::uint32_t how;
};
constexpr std::uint64_t kNullPointer = ~std::uint64_t{0};

struct LastCta final : RecordOutput {
  void begin_kernel(const KernelInfo&) override {}
  void add_cta(const CtaProgram& c, const CtaColumns&) override { cta = c; }
  void end_kernel(std::uint64_t) override {}
  CtaProgram cta;
};

/// 72 bytes that kernels may read, 1000, 1001... by words.
struct CopyRun {
  explicit CopyRun(const std::string& copy) : h(copy_kernel(copy)), memory(1024) {
    base = (reinterpret_cast<std::uint64_t>(memory.data()) + 1023) / 1024 * 1024;
    std::iota(reinterpret_cast<std::uint32_t*>(base), reinterpret_cast<std::uint32_t*>(base) + 18, 1000u);
    h.device.memory.add({base, 72, "tile"});
  }
  U32 run(const std::vector<CopySource>& lanes, OutOfBounds* outside = nullptr, RecordOutput* kept = nullptr) {
    std::vector<std::uint64_t> from;
    U32 how, out(4 * lanes.size());
    for (const CopySource& s : lanes) from.push_back(s.offset == kNullPointer ? 0 : base + s.offset), how.push_back(s.how);
    LaunchSpec spec = h.spec("k", 1, static_cast<std::uint32_t>(lanes.size()));
    h.set(spec, h.buffer(from), h.buffer(how), h.buffer(out));
    spec.outside = outside;
    if (kept != nullptr) {
      Recorder recorder(*kept);
      execute(spec, h.device, &recorder);
    } else {
      execute(spec, h.device);
    }
    for (const auto* v :
         {static_cast<const void*>(from.data()), static_cast<const void*>(how.data()), static_cast<const void*>(out.data())})
      h.device.memory.remove(reinterpret_cast<std::uint64_t>(v));
    return out;
  }
  Harness h;
  std::vector<std::uint32_t> memory;
  std::uint64_t base = 0;
};

using Loads = std::vector<std::vector<Access>>;

/// The loads of global memory past the L1, as their accesses.
Loads copies_of(const CtaProgram& cta) {
  Loads found;
  for (const atl::Op& op : cta.ops)
    if (op.kind == OpKind::load && (op.flags & kBypassL1) != 0)
      found.emplace_back(cta.accesses.begin() + op.first_access, cta.accesses.begin() + op.first_access + op.accesses);
  return found;
}

}  // namespace

TEST_CASE("cp.async copies as many bytes as it is told and fills the rest with zeros") {
  CopyRun c(kSizedCopy);
  CHECK(c.run({{0, 16}, {16, 12}, {32, 4}, {0, 0}}) ==
        U32{1000, 1001, 1002, 1003, 1004, 1005, 1006, 0, 1008, 0, 0, 0, 0, 0, 0, 0});
  CHECK(c.run({{0, 7}}) == U32{1000, 1001 & 0xFFFFFF, 0, 0});
  CHECK(CopyRun("cp.async.ca.shared.global [%r5],[%rd8],8,4;").run({{0, 0}}) == U32{1000, 0, ~0u, ~0u});
  const std::string hinted = "cp.async.cg.shared.global.L2::cache_hint.L2::128B [%r5],[%rd8],16";
  CHECK(CopyRun(hinted + ",%rd1;").run({{0, 0}}) == U32{1000, 1001, 1002, 1003});
  CHECK(CopyRun(hinted + ",%r4,%rd1;").run({{0, 8}}) == U32{1000, 1001, 0, 0});
  CHECK(CopyRun("cp.async.ca.shared.global [%r5],[%rd8],4,0;").run({{kNullPointer, 0}}) == U32{0, ~0u, ~0u, ~0u});
}

TEST_CASE("what cp.async does not read may lie anywhere") {
  CopyRun c(kSizedCopy);
  CHECK(c.run({{64, 8}, {80, 0}, {kNullPointer, 0}}) == U32{1016, 1017, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  CHECK_THROWS_WITH_AS(c.run({{64, 8}, {64, 9}}), doctest::Contains("access of 9 bytes"), ExecutionError);
  CHECK_THROWS_WITH_AS(c.run({{64, 8}, {kNullPointer, 1}}), doctest::Contains("as from a null pointer"), ExecutionError);
  CHECK_THROWS_WITH_AS(c.run({{8, 8}}), doctest::Contains("misaligned"), ExecutionError);
}

TEST_CASE("with accesses out of bounds tolerated, lanes of cp.async that are within keep their bytes") {
  CopyRun c(kSizedCopy);
  OutOfBounds outside;
  CHECK(c.run({{64, 8}, {80, 16}, {0, 16}}, &outside) == U32{1016, 1017, 0, 0, 0, 0, 0, 0, 1000, 1001, 1002, 1003});
}

TEST_CASE("cp.async whose predicate says to ignore the source writes zeros") {
  CHECK(CopyRun("cp.async.cg.shared.global [%r5],[%rd8],16,%p1;").run({{0, 0}, {kNullPointer, 1}}) ==
        U32{1000, 1001, 1002, 1003, 0, 0, 0, 0});
  CHECK(CopyRun("cp.async.ca.shared.global [%r5],[%rd8],8,!%p1;").run({{8, 1}, {kNullPointer, 0}}) ==
        U32{1002, 1003, ~0u, ~0u, 0, 0, ~0u, ~0u});
}

TEST_CASE("the trace has what cp.async reads: nothing of lanes that read nothing, and no load where none does") {
  CopyRun c(kSizedCopy);
  LastCta kept;
  c.run({{0, 16}, {16, 4}, {32, 0}, {64, 8}, {kNullPointer, 0}}, nullptr, &kept);
  CHECK(copies_of(kept.cta) == Loads{{Access::make(c.base, 0b101)}});
  c.run({{32, 0}, {kNullPointer, 0}}, nullptr, &kept);
  CHECK(copies_of(kept.cta).empty());
}

TEST_CASE("a wait for groups leaves copies alone that no group holds, and a wait for all does not") {
  const auto waits = [](const std::string& wait) {
    LastCta kept;
    CopyRun c(kSizedCopy + " cp.async.commit_group; " + kSizedCopy + wait + " st.shared.u32 [%r5],%r6;");
    c.run({{0, 16}}, nullptr, &kept);
    std::vector<std::uint8_t> copies;
    for (const atl::Op& op : kept.cta.ops) {
      if (op.kind == OpKind::load && (op.flags & kBypassL1) != 0) copies.push_back(op.slot);
      if (copies.size() < 2 || op.wait == 0) continue;
      return std::pair{(op.wait >> copies[0] & 1) != 0, (op.wait >> copies[1] & 1) != 0};
    }
    return std::pair{false, false};
  };
  CHECK(waits(" cp.async.wait_group 0;") == std::pair{true, false});
  CHECK(waits(" cp.async.wait_all;") == std::pair{true, true});
}

TEST_CASE("warps whose copies read something, or nothing, leave traces of their own though they execute the same") {
  CopyRun c(kSizedCopy);
  const std::vector<std::pair<bool, bool>> kWarps{{true, false}, {false, true}, {true, true}};
  for (const auto& [first, second] : kWarps) {
    std::vector<CopySource> lanes(32, first ? CopySource{0, 16} : CopySource{kNullPointer, 0});
    lanes.insert(lanes.end(), 32, second ? CopySource{32, 16} : CopySource{kNullPointer, 0});
    LastCta kept;
    c.run(lanes, nullptr, &kept);
    Loads expected;
    if (first) expected.push_back({Access::make(c.base, 0b1)});
    if (second) expected.push_back({Access::make(c.base, 0b10)});
    CHECK(copies_of(kept.cta) == expected);
  }
}
