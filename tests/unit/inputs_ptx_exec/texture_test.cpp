#include <doctest/doctest.h>

#include <bit>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/record.hpp"

// Texels and elements of surfaces at and beyond the edge: values, and what of them is in the trace.
namespace atl::ptx::texture_test {
namespace {

constexpr std::uint64_t kHandle = 7;
constexpr unsigned kSide = 4;

struct Kept final : RecordOutput {
  void begin_kernel(const KernelInfo&) override {}
  void add_cta(const CtaProgram& c, const CtaColumns&) override { cta = c; }
  void end_kernel(std::uint64_t) override {}
  CtaProgram cta;
};

/// The accesses of each memory op of the kind.
std::vector<std::vector<Access>> accesses(const CtaProgram& cta, OpKind kind) {
  std::vector<std::vector<Access>> found;
  for (const atl::Op& op : cta.ops)
    if (op.kind == kind)
      found.emplace_back(cta.accesses.begin() + op.first_access, cta.accesses.begin() + op.first_access + op.accesses);
  return found;
}

/// Four rows of four numbers of 32 bits, each row in a block of its own, and 32 lanes that access them: lane n has the
/// coordinates %x = x[n], bytes of a surface, and %y = y[n], and leaves its result %d in out[n]. %h is the handle.
struct Lanes {
  explicit Lanes(const std::string& body)
      : h(kHeader + ".visible .entry k(.param .u64 px, .param .u64 py, .param .u64 po, .param .u64 ph)\n" +
          "{ .reg .b32 %r<4>, %x, %y, %d, %e<4>; .reg .f32 %f<4>; .reg .b64 %rd<8>, %h;\n" +
          "ld.param.u64 %rd1,[px]; ld.param.u64 %rd2,[py]; ld.param.u64 %rd3,[po]; ld.param.u64 %h,[ph];\n" +
          "mov.u32 %r1,%tid.x; mul.wide.u32 %rd4,%r1,4; add.u64 %rd5,%rd1,%rd4; add.u64 %rd6,%rd2,%rd4;\n" +
          "add.u64 %rd7,%rd3,%rd4; ld.global.u32 %x,[%rd5]; ld.global.u32 %y,[%rd6]; mov.u32 %d,%r1;\n" + body +
          "\nst.global.u32 [%rd7],%d; ret; }") {
    while (reinterpret_cast<std::uintptr_t>(texels) % Access::kBlockBytes != 0) ++texels;
    h.device.memory.add({reinterpret_cast<std::uint64_t>(texels), kSide * Access::kBlockBytes, "texels"});
    t.address = reinterpret_cast<std::uint64_t>(texels);
    t.width = t.height = kSide, t.pitch = Access::kBlockBytes, t.slice = kSide * t.pitch, t.type = Type::s32;
    for (unsigned n = 0; n < kSide * kSide; ++n) at(n % kSide, n / kSide) = 100 + n;
  }
  std::uint32_t& at(unsigned x, unsigned y) { return texels[y * Access::kBlockBytes / 4 + x]; }
  Access row(unsigned y) const { return Access::make(t.address + y * t.pitch, 1); }
  /// The first lane that `count` lanes are.
  CtaProgram run(unsigned count = 32, AccessCheck* check = nullptr) {
    h.device.textures[kHandle] = t, h.device.surfaces[kHandle] = t;
    Kept kept;
    Recorder recorder(kept);
    LaunchSpec s = h.spec("k", 1, count);
    s.check = check;
    h.set(s, h.buffer(x), h.buffer(y), h.buffer(out), kHandle);
    execute(s, h.device, &recorder);
    return kept.cta;
  }
  std::vector<std::uint32_t> storage = std::vector<std::uint32_t>((kSide + 1) * Access::kBlockBytes / 4);
  std::uint32_t* texels = storage.data();
  Harness h;
  Texture t;
  std::vector<std::uint32_t> x = std::vector<std::uint32_t>(32), y = x, out = x;
};

const std::string kStore = "sust.b.2d.b32.", kLoad = "suld.b.2d.b32.";
const std::string kTexel =
    "cvt.rn.f32.s32 %f1,%x; cvt.rn.f32.s32 %f2,%y; tex.2d.v4.s32.f32 {%d,%e1,%e2,%e3},[%h,{%f1,%f2}];";
/// Where %x counts eighths.
const std::string kFiltered =
    "cvt.rn.f32.s32 %f1,%x; mul.f32 %f1,%f1,0f3E000000; mov.f32 %f2,0f3F000000;"
    "tex.2d.v4.f32.f32 {%d,%e1,%e2,%e3},[%h,{%f1,%f2}];";
constexpr std::uint32_t kMinusThree = ~2u;

}  // namespace

TEST_CASE("a store to a surface with .clamp goes to the nearest element, one with .zero beyond the edge nowhere") {
  for (const bool clamps : {true, false}) {
    Lanes l(kStore + (clamps ? "clamp" : "zero") + " [%h,{%x,%y}],{%d};");
    l.x[0] = 4 * 9, l.y[0] = 1, l.x[1] = 4 * 2, l.y[1] = kMinusThree, l.x[2] = 4, l.y[2] = 2;
    const CtaProgram cta = l.run(3);
    CHECK(l.at(3, 1) == (clamps ? 0 : 107));
    CHECK(l.at(2, 0) == (clamps ? 1 : 102));
    CHECK(l.at(1, 2) == 2);
    const std::vector<Access> all = accesses(cta, OpKind::store).front();
    CHECK(all == (clamps ? std::vector{l.row(1), l.row(0), l.row(2)} : std::vector{l.row(2)}));
  }
}

TEST_CASE("--check hears of a store that .clamp brings to the nearest element") {
  Lanes l(kStore + "clamp [%h,{%x,%y}],{%d};");
  l.x[0] = 4 * 9;
  AccessCheck check;
  check.expect({{"surface", l.t.address, kSide * l.t.pitch, {1}}});
  CHECK_THROWS_AS(l.run(1, &check), ExecutionError);
}

TEST_CASE("elements of surfaces that lie in no memory are no accesses in the trace, and loads of them have their results") {
  for (const unsigned inside : {0u, 5u, 32u}) {
    Lanes l(kLoad + "zero {%d},[%h,{%x,%y}]; " + kStore + "zero [%h,{%x,%y}],{%d};");
    for (unsigned n = 0; n < 32; ++n) l.x[n] = 4 * (n % kSide), l.y[n] = n < inside ? 3 : 4000;
    const CtaProgram cta = l.run();
    for (unsigned n = 0; n < 32; ++n) CHECK(l.out[n] == (n < inside ? 112 + n % kSide : 0));
    const auto loads = accesses(cta, OpKind::load), stores = accesses(cta, OpKind::store);
    REQUIRE(loads.size() == (inside == 0 ? 2 : 3));  // of the coordinates, too
    REQUIRE(stores.size() == (inside == 0 ? 1 : 2));
    if (inside == 0) continue;
    CHECK(loads.back() == std::vector{l.row(3)});
    CHECK(stores.front() == std::vector{l.row(3)});
  }
}

TEST_CASE("the border of a texture of integers has integers, and is no access in the trace") {
  for (const bool is_signed : {true, false}) {
    Lanes l(kTexel);
    l.t.type = is_signed ? Type::s32 : Type::u32;
    l.t.mode[0] = l.t.mode[1] = Texture::Address::border;
    l.t.border[0] = std::bit_cast<float>(-7);
    for (unsigned n = 0; n < 32; ++n) l.x[n] = n % 2 == 0 ? kMinusThree : 1, l.y[n] = 2;
    const CtaProgram cta = l.run();
    for (unsigned n = 0; n < 32; ++n) CHECK(l.out[n] == (n % 2 == 0 ? static_cast<std::uint32_t>(-7) : 109));
    REQUIRE(accesses(cta, OpKind::load).size() == 3);
    CHECK(accesses(cta, OpKind::load).back() == std::vector{l.row(2)});
    for (std::uint32_t& x : l.x) x = kMinusThree;
    CHECK(accesses(l.run(), OpKind::load).size() == 2);
  }
}

TEST_CASE("beyond the edge a filter that mixes the border with a texel accesses that one") {
  Lanes l(kFiltered);
  l.t.type = Type::f32, l.t.linear = true;
  l.t.mode[0] = l.t.mode[1] = Texture::Address::border;
  l.at(3, 0) = std::bit_cast<std::uint32_t>(8.0F);
  l.x[0] = 8 * kSide + 2;  // a quarter of a texel beyond the last one
  const CtaProgram near = l.run(1);
  CHECK(std::bit_cast<float>(l.out[0]) == 2);
  REQUIRE(accesses(near, OpKind::load).size() == 3);
  CHECK(accesses(near, OpKind::load).back() == std::vector{l.row(0)});
  l.x[0] = 8 * kSide + 4;
  CHECK(accesses(l.run(1), OpKind::load).size() == 2);
  CHECK(l.out[0] == 0);
}

}  // namespace atl::ptx::texture_test
