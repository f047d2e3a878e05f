#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <fstream>
#include <iterator>
#include <random>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_narrow.hpp"
#include "inputs/ptx/record.hpp"

using namespace atl::ptx;

// What nvcc makes of the headers for tensor cores and their neighbours (fixtures/tensor.cu), and single forms.
namespace {

std::string module_text(const std::string& file) {
  std::ifstream in(ATOLL_SOURCE_DIR "/tests/unit/inputs_ptx_exec/fixtures/" + file);
  REQUIRE(in.good());
  return {std::istreambuf_iterator<char>(in), {}};
}
constexpr const char* kArchitectures[] = {"tensor_80.ptx", "tensor_90.ptx"};

using Half = std::uint16_t;
Half half_of(double v) { return static_cast<Half>(lane::F16::round(v, lane::Round::rn)); }
Half brain_of(double v) { return static_cast<Half>(lane::Bf16::round(v, lane::Round::rn)); }

/// a (m x k, column by column) * b (k x n, row by row) + c (column by column).
template <class In, class Out, class Narrow>
void check_tile(const std::string& ptx, const char* kernel, unsigned m, unsigned n, unsigned k, Narrow narrow) {
  std::mt19937 random(m + k);
  std::vector<int> a(m * k), b(k * n);
  for (int& v : a) v = static_cast<int>(random() % 17) - 8;
  for (int& v : b) v = static_cast<int>(random() % 17) - 8;
  std::vector<In> da, db;
  for (const int v : a) da.push_back(narrow(v));
  for (const int v : b) db.push_back(narrow(v));
  std::vector<Out> c(m * n), expected(m * n);
  for (unsigned at = 0; at < m * n; ++at) c[at] = static_cast<Out>(at);
  for (unsigned row = 0; row < m; ++row)
    for (unsigned column = 0; column < n; ++column) {
      int sum = static_cast<int>(column * m + row);
      for (unsigned x = 0; x < k; ++x) sum += a[x * m + row] * b[x * n + column];
      expected[column * m + row] = static_cast<Out>(sum);
    }
  Harness h(ptx);
  h.run(kernel, 1, 32, h.buffer(da), h.buffer(db), h.buffer(c));
  CAPTURE(kernel);
  CHECK(c == expected);
}

struct KeptCtas final : RecordOutput {
  void begin_kernel(const atl::KernelInfo&) override {}
  void add_cta(const atl::CtaProgram& c, const atl::CtaColumns&) override { ctas.push_back(c); }
  void end_kernel(std::uint64_t) override {}
  std::vector<atl::CtaProgram> ctas;
};

}  // namespace

TEST_CASE("a product by wmma, with tiles copied asynchronously through shared memory, is that of the model") {
  for (const char* file : kArchitectures) {
    Harness h(module_text(file));
    std::mt19937 random(5);
    std::vector<Half> a(64 * 64), b(64 * 64);
    std::vector<float> c(64 * 64);
    for (Half& v : a) v = half_of(static_cast<int>(random() % 65) / 8.0 - 4);
    for (Half& v : b) v = half_of(static_cast<int>(random() % 65) / 8.0 - 4);
    KeptCtas kept;
    Recorder recorder(kept);
    AccessCheck check;
    LaunchSpec s = h.spec("gemm_half", 4, 32);
    s.grid = {4, 4, 1}, s.check = &check;
    h.set(s, h.buffer(a, "a"), h.buffer(b, "b"), h.buffer(c, "c"));
    execute(s, h.device, &recorder);
    for (unsigned row = 0; row < 64; ++row)
      for (unsigned column = 0; column < 64; ++column) {
        double sum = 0;
        for (unsigned k = 0; k < 64; ++k) sum += lane::F16::widen(a[row * 64 + k]) * lane::F16::widen(b[column * 64 + k]);
        CHECK(c[row * 64 + column] == 2 * sum);  // exact: eighths of small numbers
      }
    // Of each warp: four copies of 512 bytes, four loads of b of 512 bytes, one store of 1 KiB; a tile is loaded four times.
    CHECK(check.races().empty());
    REQUIRE(kept.ctas.size() == 16);
    std::map<atl::OpKind, unsigned> ops, sectors;
    for (const atl::Op& op : kept.ctas[0].ops) {
      ++ops[op.kind];
      if (op.kind != atl::OpKind::compute && op.kind != atl::OpKind::shared)
        for (unsigned n = 0; n < op.accesses; ++n)
          sectors[op.kind] += static_cast<unsigned>(std::popcount(kept.ctas[0].accesses[op.first_access + n].sectors()));
    }
    CHECK(ops[atl::OpKind::shared] == 4);
    CHECK(ops[atl::OpKind::store] == 1);
    CHECK(sectors[atl::OpKind::store] >= 32);
    CHECK(sectors[atl::OpKind::load] >= 4 * 16 + 4 * 16);
  }
}

TEST_CASE("tiles of bytes, bf16, tf32 and double are those of the model") {
  for (const char* file : kArchitectures) {
    const std::string ptx = module_text(file);
    check_tile<std::int8_t, std::int32_t>(ptx, "tile_bytes", 32, 8, 16, [](int v) { return static_cast<std::int8_t>(v); });
    check_tile<Half, float>(ptx, "tile_brain", 8, 32, 16, [](int v) { return brain_of(v); });
    check_tile<float, float>(ptx, "tile_tf32", 16, 16, 8, [](int v) { return static_cast<float>(v); });
    check_tile<double, double>(ptx, "tile_double", 8, 8, 4, [](int v) { return static_cast<double>(v); });
  }
}

TEST_CASE("the analysis sees what wmma loads and stores, so that only what is never stored is read-only") {
  Harness h(module_text("tensor_80.ptx"));
  std::vector<double> a(32), b(32), c(64);
  AccessCheck check;
  LaunchSpec s = h.spec("tile_double", 1, 32);
  s.check = &check;
  h.set(s, h.buffer(a, "a"), h.buffer(b, "b"), h.buffer(c, "c"));
  CHECK_NOTHROW(execute(s, h.device));
  CHECK(check.counts().loads > 0);
  CHECK(check.counts().marked == 0);  // this module was not analysed
}

TEST_CASE("eight-bit floats are rounded to the nearest, saturate, and come back") {
  for (const char* file : kArchitectures) {
    CAPTURE(file);
    Harness h(module_text(file));
    // Values, and what e4m3 and e5m2 make of them.
    const std::vector<float> in = {0,       1,  -1, 0.3F, 448,    500,   1e9F, -1e9F, 0.001953125F,
                                   0.0009F, 17, 19, 3.3F, -57344, 60000, 2.5F};
    const std::vector<float> e4m3 = {0, 1,  -1, 0.3125F, 448,  448, 448, -448, 0.001953125F,
                                     0, 16, 20, 3.25F,   -448, 448, 2.5F};
    const std::vector<float> e5m2 = {0,  1,  -1,   0.3125F, 448,   512, 57344, -57344, 0.001953125F, 0.00085449219F,
                                     16, 20, 3.5F, -57344,  57344, 2.5F};
    std::vector<float> out(4 * in.size() / 2), source = in;
    std::vector<std::uint16_t> bits(in.size());
    h.run("tiny", 1, 8, h.buffer(source), h.buffer(out), h.buffer(bits));
    for (unsigned n = 0; n < in.size(); ++n) {
      CAPTURE(in[n]);
      CHECK(out[n / 2 * 4 + n % 2] == e4m3[n]);
      CHECK(out[n / 2 * 4 + 2 + n % 2] == doctest::Approx(e5m2[n]).epsilon(1e-6));
    }
    CHECK(bits[0] == 0x3800);  // 1 in the upper byte
  }
}

TEST_CASE("video instructions of one value compute with a sign and 32 bits, clamp, and add") {
  using V = std::vector<std::uint32_t>;
  const auto one = [](const std::string& form, std::uint32_t a, std::uint32_t b, std::uint32_t c = 0) {
    const std::string third = form.ends_with(".add") ? ",%c;" : ";";
    return evaluate<std::uint32_t, std::uint32_t>("u32", "u32", form + " %d,%a,%b" + third, V{a}, V{b}, V{c})[0];
  };
  const std::uint32_t five = 0u - 5;
  CHECK(one("vshr.u32.u32.u32.clamp.add", 0x80FF7F01, 8, 1000) == 0x80FF7F + 1000);
  CHECK(one("vshr.u32.u32.u32.clamp.add", 0x80FF7F01, 40, 1000) == 1000);
  CHECK(one("vshr.s32.s32.u32.clamp", 0x80000000, 40) == 0xFFFFFFFF);
  CHECK(one("vshr.u32.u32.u32.wrap", 0x80FF7F01, 40) == 0x80FF7F);
  CHECK(one("vshl.u32.u32.u32.clamp.add", 3, 4, 5) == 53);
  CHECK(one("vshl.u32.u32.u32.clamp", 3, 32) == 0);
  CHECK(one("vadd.u32.u32.u32.add", 1, 2, 0xFFFFFFFF) == 2);
  CHECK(one("vadd.u32.u32.u32.sat", 0xFFFFFFFF, 2) == 0xFFFFFFFF);
  CHECK(one("vadd.s32.s32.u32.sat", 0x7FFFFFFF, 0xFFFFFFFF) == 0x7FFFFFFF);
  CHECK(one("vsub.s32.u32.u32", 1, 2) == 0xFFFFFFFF);
  CHECK(one("vsub.u32.u32.u32.sat", 1, 2) == 0);
  CHECK(one("vabsdiff.u32.s32.s32", five, 7) == 12);
  CHECK(one("vmin.s32.s32.u32", five, 7) == five);
  CHECK(one("vmax.s32.s32.u32", five, 7) == 7);
  CHECK(one("vset.u32.u32.lt", five, 7) == 0);
  CHECK(one("vset.s32.s32.lt.add", five, 7, 3) == 4);
}

TEST_CASE("video instructions work on the bytes and halves of a word") {
  for (const char* file : kArchitectures) {
    Harness h(module_text(file));
    std::mt19937 random(3);
    std::vector<std::uint32_t> a(32), b(32), out(128);
    for (unsigned n = 0; n < 32; ++n) a[n] = random(), b[n] = random();
    h.run("bytes", 1, 32, h.buffer(a), h.buffer(b), h.buffer(out));
    for (unsigned n = 0; n < 32; ++n) {
      std::uint32_t differences = 0, sum = 0, halves = 0, most = 0;
      for (unsigned at = 0; at < 32; at += 8) {
        const int x = a[n] >> at & 0xFF, y = b[n] >> at & 0xFF;
        differences |= static_cast<std::uint32_t>(std::abs(x - y)) << at, sum += static_cast<std::uint32_t>(std::abs(x - y));
        most |= static_cast<std::uint32_t>(
                    static_cast<std::uint8_t>(std::max(static_cast<std::int8_t>(x), static_cast<std::int8_t>(y))))
                << at;
      }
      for (unsigned at = 0; at < 32; at += 16)
        halves |= std::min((a[n] >> at & 0xFFFF) + (b[n] >> at & 0xFFFF), 0xFFFFu) << at;
      CHECK(out[4 * n] == differences);
      CHECK(out[4 * n + 1] == sum);
      CHECK(out[4 * n + 2] == halves);
      CHECK(out[4 * n + 3] == most);
    }
  }
  using V = std::vector<std::uint32_t>;
  const auto one = [](const std::string& form) {
    return evaluate<std::uint32_t, std::uint32_t>("u32", "u32", form + " %d,%a,%b,%c;", V{0x80FF7F01}, V{0x01017FFF},
                                                  V{1000})[0];
  };
  CHECK(one("vadd4.u32.u32.u32") == 0x8100FE00);
  CHECK(one("vadd4.s32.s32.s32.sat") == 0x81007F00);
  CHECK(one("vadd4.u32.u32.u32.sat") == 0x81FFFEFF);
  CHECK(one("vsub4.u32.u32.u32.sat") == 0x7FFE0000);
  CHECK(one("vmin2.s32.s32.s32") == 0x80FF7F01);
  CHECK(one("vmax4.u32.u32.u32") == 0x80FF7FFF);
  CHECK(one("vavrg4.u32.u32.u32") == 0x41807F80);
  CHECK(one("vavrg4.s32.s32.s32") == 0xC0007F00);  // -127 / 2 is -64
  CHECK(one("vset4.u32.u32.gt") == 0x01010000);
  CHECK(one("vset4.u32.u32.ge.add") == 1003);
  CHECK(one("vabsdiff2.s32.s32.s32.add") == 1000 + 0x8002 + 0x00FE);
}

TEST_CASE("two warps hand over data at mbarriers, in either schedule, and no race is seen") {
  for (const Schedule schedule : {Schedule::long_turns, Schedule::interleaved}) {
    Harness h(module_text("tensor_90.ptx"));  // sm_80 has no wait by parity
    std::vector<std::int32_t> in(128), out(128);
    for (int n = 0; n < 128; ++n) in[static_cast<unsigned>(n)] = 7 * n;
    AccessCheck check;
    LaunchSpec s = h.spec("pipeline", 1, 64);
    s.schedule = schedule, s.check = &check;
    h.set(s, h.buffer(in), h.buffer(out));
    execute(s, h.device);
    for (unsigned n = 0; n < 128; ++n) CHECK(out[n] == in[n / 32 * 32 + 31 - n % 32]);
    CHECK(check.races().empty());
  }
}

TEST_CASE("arrivals beyond those that an mbarrier was made for, and waits for ever, are told") {
  const auto run = [](const std::string& body) {
    Harness h(kHeader + ".visible .entry k()\n{ .reg .pred %p; .reg .b64 %rd<4>; .shared .align 8 .b64 bar;\n" + body +
              "\nret; }");
    LaunchSpec s = h.spec("k", 1, 1);
    execute(s, h.device);
  };
  CHECK_NOTHROW(
      run("mbarrier.init.shared.b64 [bar],2; mbarrier.arrive.shared.b64 %rd1,[bar]; mbarrier.arrive.shared.b64 %rd2,[bar];"
          "W: mbarrier.test_wait.shared.b64 %p,[bar],%rd2; @!%p bra W;"));
  CHECK_THROWS_WITH_AS(run("mbarrier.init.shared.b64 [bar],1; mbarrier.arrive.shared.b64 %rd1,[bar],2;"),
                       doctest::Contains("more arrivals"), ExecutionError);
  CHECK_THROWS_WITH_AS(run("mbarrier.init.shared.b64 [bar],2; mbarrier.arrive.shared.b64 %rd1,[bar];"
                           "W: mbarrier.try_wait.parity.shared::cta.b64 %p,[bar],0; @!%p bra W;"),
                       doctest::Contains("polls"), ExecutionError);
}
