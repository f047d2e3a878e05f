#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <numeric>
#include <tuple>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/record.hpp"
#include "inputs/ptx/tensor_map.hpp"

using namespace atl::ptx;

// cp.async.bulk and its kin: values, the barriers that count their bytes, and what is in the trace.
namespace {

constexpr Schedule kEitherSchedule[] = {Schedule::long_turns, Schedule::interleaved};

/// One thread of each CTA of a cluster of two runs `body`, with `tile`, 256 bytes, and the mbarrier `bar`, for one arrival,
/// in its shared memory; both stand in all CTAs' before it begins. %in and %out are buffers. It ends when all have ended.
LaunchStats run_tiles(const std::string& body, std::vector<std::uint32_t>& in, std::vector<std::uint32_t>& out,
                      Schedule schedule = Schedule::long_turns, RecordSink* sink = nullptr) {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 pin, .param .u64 pout)
{ .reg .pred %p; .reg .b16 %h<4>; .reg .b32 %r<8>, %rank; .reg .b64 %rd<8>, %in, %out;
  .shared .align 128 .b32 tile[64]; .shared .align 8 .b64 bar;
  ld.param.u64 %in,[pin]; ld.param.u64 %out,[pout]; mov.u32 %rank,%cluster_ctarank; mbarrier.init.shared.b64 [bar],1;
  barrier.cluster.arrive; barrier.cluster.wait;
)" + body + "\nbarrier.cluster.arrive; barrier.cluster.wait; ret; }");
  LaunchSpec s = h.spec("k", 2, 1);
  s.cluster = {2, 1, 1}, s.schedule = schedule;
  h.set(s, h.buffer(in), h.buffer(out));
  return execute(s, h.device, sink);
}
const std::string kWaitHere = " W: mbarrier.try_wait.parity.shared::cta.b64 %p,[bar],0; @!%p bra W;";
const std::string kTileOut =
    " mul.wide.u32 %rd7,%rank,256; add.u64 %rd7,%out,%rd7;"
    " cp.async.bulk.global.shared::cta.bulk_group [%rd7],[tile],256; cp.async.bulk.commit_group;"
    " cp.async.bulk.wait_group.read 0;";
const std::string kTileIn = " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile],[%in],256,[bar];";
const std::string kExpectTile = " mbarrier.arrive.expect_tx.shared::cta.b64 %rd1,[bar],256;";

std::vector<std::uint32_t> numbers_from(std::size_t n, std::uint32_t first) {
  std::vector<std::uint32_t> v(n);
  std::iota(v.begin(), v.end(), first);
  return v;
}

}  // namespace

TEST_CASE("a bulk copy ends a phase with the bytes that were expected, before it or after") {
  for (const Schedule schedule : kEitherSchedule)
    for (const std::string& body : {kExpectTile + kTileIn, kTileIn + kExpectTile}) {
      std::vector<std::uint32_t> in = numbers_from(64, 7), out(128);
      run_tiles(body + kWaitHere + kTileOut, in, out, schedule);
      for (unsigned n = 0; n < 128; ++n) CHECK(out[n] == 7 + n % 64);
    }
}

TEST_CASE("fewer bytes than expected end no phase") {
  std::vector<std::uint32_t> in = numbers_from(64, 0), out(128);
  CHECK_THROWS_WITH_AS(
      run_tiles(" mbarrier.arrive.expect_tx.shared::cta.b64 %rd1,[bar],272;" + kTileIn + kWaitHere, in, out),
      doctest::Contains("polls"), ExecutionError);
}

TEST_CASE("a multicast reaches the CTAs of its mask, at the same offset, and counts at each one's barrier") {
  std::vector<std::uint32_t> in = numbers_from(64, 3), out(128);
  run_tiles(kExpectTile +
                " setp.ne.u32 %p,%rank,0; @%p bra W; mov.u16 %h1,3;"
                " cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
                "[tile],[%in],256,[bar],%h1;" +
                kWaitHere + kTileOut,
            in, out);
  for (unsigned n = 0; n < 128; ++n) CHECK(out[n] == 3 + n % 64);
}

TEST_CASE("copies and stores into the shared memory of another CTA count at its barrier") {
  // Each CTA sends its tile's first words to the other.
  std::vector<std::uint32_t> in = numbers_from(64, 5), out(128);
  const std::string other =
      " sub.u32 %r1,1,%rank; mov.u32 %r2,tile; mapa.shared::cluster.u32 %r3,%r2,%r1;"
      " mov.u32 %r4,bar; mapa.shared::cluster.u32 %r5,%r4,%r1;";
  run_tiles(other +
                " mbarrier.arrive.expect_tx.shared::cta.b64 %rd1,[bar],28; st.shared.u32 [tile+32],%rank;"
                " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%r3+16],[tile+32],16,[%r5];"
                " st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u32 [%r3],{%rank,7},[%r5];"
                " red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r3+4],5,[%r5];" +
                kWaitHere + kTileOut,
            in, out);
  for (unsigned cta = 0; cta < 2; ++cta) {
    CHECK(out[cta * 64] == 1 - cta);
    CHECK(out[cta * 64 + 1] == 12);
    CHECK(out[cta * 64 + 4] == 1 - cta);
  }
}

TEST_CASE("bulk reductions combine element by element") {
  std::vector<std::uint32_t> in = numbers_from(64, 10), out(128, 100);
  const std::string to = " cp.reduce.async.bulk.global.shared::cta.bulk_group.";
  run_tiles(kExpectTile + kTileIn + kWaitHere + to + "add.u32 [%out],[tile],256;" + to + "max.u32 [%out+256],[tile],128;",
            in, out);
  for (unsigned n = 0; n < 64; ++n) CHECK(out[n] == 100 + 2 * (10 + n));
  for (unsigned n = 0; n < 64; ++n) CHECK(out[64 + n] == 100);  // 10 to 41 are less
}

TEST_CASE("bulk sums of f32 flush subnormals, as those of single elements in global memory do") {
  std::vector<std::uint32_t> in(64, 0x00400000), out(128);
  in[1] = 0x80C00000, out[1] = 0x00800000, out[2] = 0x3F800000;
  run_tiles(
      kExpectTile + kTileIn + kWaitHere + " cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%out],[tile],256;",
      in, out);
  CHECK(out[0] == 0);
  CHECK(out[1] == 0x80C00000);  // added twice: -0 after the first time
  CHECK(out[2] == 0x3F800000);
}

TEST_CASE("what is not aligned, out of bounds or no form is told") {
  std::vector<std::uint32_t> in(64), out(128);
  const auto fails = [&](const std::string& body, const char* why) {
    CHECK_THROWS_WITH(run_tiles(body, in, out), doctest::Contains(why));
  };
  fails(" cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile],[%in],24,[bar];", "not aligned to 16");
  fails(" cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile],[%in+4],16,[bar];", "not aligned to 16");
  fails(" cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile],[%in+16],256,[bar];", "out of bounds");
  fails(" cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile+128],[%in],256,[bar];", "shared memory");
  fails(" cp.async.bulk.global.shared::cta.bulk_group.cp_mask [%out],[tile],256;", "cp_mask");
  fails(" cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [tile],[%in,{%r1}],[bar];", "tensor");
}

TEST_CASE("the trace has the blocks of bulk copies, past the L1, and waits for loads at the mbarrier") {
  struct Kept final : RecordOutput {
    void begin_kernel(const atl::KernelInfo&) override {}
    void add_cta(const atl::CtaProgram& c, const atl::CtaColumns&) override { ctas.push_back(c); }
    void end_kernel(std::uint64_t) override {}
    std::vector<atl::CtaProgram> ctas;
  } kept;
  Recorder recorder(kept);
  std::vector<std::uint32_t> in = numbers_from(96, 0), out(128);
  run_tiles(kExpectTile + kTileIn + kWaitHere + kTileOut + " cp.async.bulk.prefetch.L2.global [%in],128;", in, out,
            Schedule::long_turns, &recorder);
  REQUIRE(kept.ctas.size() == 2);
  const atl::CtaProgram& cta = kept.ctas[1];
  const atl::Op *load = nullptr, *store = nullptr, *waits = nullptr, *prefetch = nullptr;
  for (const atl::Op& op : cta.ops) {
    if (op.kind == atl::OpKind::load) (load == nullptr ? load : prefetch) = &op;
    if (op.kind == atl::OpKind::store) store = &op;
    if (load != nullptr && op.wait == 1u << load->slot && waits == nullptr) waits = &op;
  }
  REQUIRE(load != nullptr);
  REQUIRE(store != nullptr);
  REQUIRE(waits != nullptr);
  REQUIRE(prefetch != nullptr);
  CHECK(load->flags == atl::kBypassL1);
  CHECK(waits->kind == atl::OpKind::shared);
  const auto sectors = [&](const atl::Op& op) {
    unsigned sum = 0;
    for (unsigned a = 0; a < op.accesses; ++a)
      sum += static_cast<unsigned>(std::popcount(cta.accesses[op.first_access + a].sectors()));
    return sum;
  };
  // 256 bytes are 8 sectors, or 9 where they begin within one; 128 are half of that.
  CHECK((sectors(*load) == 8 || sectors(*load) == 9));
  CHECK((sectors(*store) == 8 || sectors(*store) == 9));
  CHECK((sectors(*prefetch) == 4 || sectors(*prefetch) == 5));
}

TEST_CASE("what the CUDA headers make of bulk copies leaves the right values, in either schedule, and no race is seen") {
  std::ifstream file(ATOLL_SOURCE_DIR "/tests/unit/inputs_ptx_exec/fixtures/cluster_90.ptx");
  REQUIRE(file.good());
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const char* kernel : {"through_shared", "by_memcpy_async"})
    for (const Schedule schedule : kEitherSchedule) {
      Harness h(text);
      std::vector<std::uint32_t> in = numbers_from(1536, 11), out(1536);
      AccessCheck check;
      LaunchSpec s = h.spec(kernel, 3, 128);
      s.schedule = schedule, s.check = &check;
      h.set(s, h.buffer(in), h.buffer(out));
      execute(s, h.device);
      CHECK(out == numbers_from(1536, 12));
      CHECK(check.races().empty());
    }
}

namespace {

/// A thread copies the box at (x, y) of a tensor into shared memory, and from there to `out`; returns the CTA's trace.
atl::CtaProgram run_box(const TensorMap& map, int x, int y, std::vector<std::uint32_t>& in,
                        std::vector<std::uint32_t>& out) {
  Harness h(kHeader + R"(
.visible .entry k(.param .align 64 .b8 map[128], .param .u64 pout, .param .u32 px, .param .u32 py)
{ .reg .pred %p; .reg .b32 %r<8>; .reg .b64 %rd<8>;
  .shared .align 128 .b32 tile[64]; .shared .align 8 .b64 bar;
  ld.param.u64 %rd2,[pout]; ld.param.u32 %r1,[px]; ld.param.u32 %r2,[py]; mbarrier.init.shared.b64 [bar],1;
  mov.b64 %rd3,map; cvta.param.u64 %rd4,%rd3;
  mbarrier.arrive.expect_tx.shared::cta.b64 %rd1,[bar],256;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [tile],[%rd4,{%r1,%r2}],[bar];)" +
            kWaitHere +
            R"(
  cp.async.bulk.global.shared::cta.bulk_group [%rd2],[tile],256;
  ret; })");
  struct Kept final : RecordOutput {
    void begin_kernel(const atl::KernelInfo&) override {}
    void add_cta(const atl::CtaProgram& c, const atl::CtaColumns&) override { cta = c; }
    void end_kernel(std::uint64_t) override {}
    atl::CtaProgram cta;
  } kept;
  Recorder recorder(kept);
  LaunchSpec s = h.spec("k", 1, 1);
  h.buffer(in);
  h.set(s, map, h.buffer(out), x, y);
  execute(s, h.device, &recorder);
  return kept.cta;
}

}  // namespace

TEST_CASE(
    "a box of a tensor is copied row by row, zero where it is out of bounds, and the trace has the rows that are not") {
  std::vector<std::uint32_t> in = numbers_from(32 * 13, 100), out(64);
  const std::uint32_t* storage = in.data();  // rows of 128 bytes, each in a block of its own
  while (reinterpret_cast<std::uintptr_t>(storage) % 128 != 0) ++storage;
  TensorMap map;
  map.type = Type::u32, map.dimensions = 2, map.address = reinterpret_cast<std::uint64_t>(storage);
  map.size = {20, 12, 1, 1, 1}, map.stride = {128, 0, 0, 0}, map.box = {8, 8, 1, 1, 1};
  for (const auto& [x, y, rows] : {std::tuple{4, 2, 8u}, {-4, -3, 5u}, {16, 8, 4u}, {20, 0, 0u}}) {
    std::ranges::fill(out, 7);
    const atl::CtaProgram cta = run_box(map, x, y, in, out);
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c) {
        const bool inside = x + c >= 0 && x + c < 20 && y + r >= 0 && y + r < 12;
        CHECK(out[static_cast<std::size_t>(8 * r + c)] == (inside ? storage[(y + r) * 32 + x + c] : 0));
      }
    unsigned blocks = 0, sectors = 0;
    for (const atl::Op& op : cta.ops)
      if (op.kind == atl::OpKind::load)
        for (unsigned a = 0; a < op.accesses; ++a, ++blocks)
          sectors += static_cast<unsigned>(std::popcount(cta.accesses[op.first_access + a].sectors()));
    CHECK(blocks == rows);
    // Eight elements from the fifth on lie in two sectors of 32 bytes; from the first or the 17th on there are four, in one.
    CHECK(sectors == rows * (x == 4 ? 2 : 1));
  }
}
