#include <doctest/doctest.h>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/out_of_bounds.hpp"

using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;

TEST_CASE("a 32-bit address of shared memory wraps around when its offset is added") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 out) {
.reg .b32 %r<4>; .reg .b64 %rd<2>; .shared .align 4 .b32 s[4];
ld.param.u64 %rd1,[out]; mov.u32 %r1,s; add.s32 %r1,%r1,-8; mov.u32 %r2,7;
st.shared.u32 [%r1+12],%r2;
ld.shared.u32 %r3,[s+4];
st.global.u32 [%rd1],%r3;
ret; })");
  std::vector<std::uint32_t> out(1);
  h.run("k", 1, 1, h.buffer(out));
  CHECK(out[0] == 7);
}

TEST_CASE("an access out of bounds names address, allocation, kernel, thread and line") {
  const std::string text = kHeader + R"(.visible .entry scale(.param .u64 p)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,%tid.x; mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2;
  st.global.u32 [%rd3],%r1; ret;
})";
  Harness h(text, "scale.ptx");
  U32 v(64);
  const auto address = reinterpret_cast<std::uint64_t>(v.data());
  h.device.memory.add({address, 40 * 4, "allocation 3"});
  const std::string m = message([&] { h.run("scale", 1, 64, address); });
  CHECK(has(m, "kernel scale"));
  CHECK(has(m, "thread (40, 0, 0)"));
  CHECK(has(m, "scale.ptx:8"));
  CHECK(has(m, "right behind allocation 3 (160 bytes at"));
  CHECK(v[39] == 0);  // the instruction of this warp did nothing
  CHECK(v[31] == 31);
}

TEST_CASE("an access to freed memory, or far from all, is named as what it is") {
  Harness h(kHeader + R"(.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,1; st.global.u32 [%rd1],%r1; ret;
})");
  h.device.memory.add({0x200000000000, 512, "allocation 0"});
  h.device.memory.add({0x200000001000, 256, "allocation 1"});
  REQUIRE(h.device.memory.remove(0x200000001000));
  CHECK(has(message([&] { h.run("k", 1, 1, std::uint64_t{0x200000001040}); }),
            "it lies in allocation 1 (256 bytes at 0x200000001000), which has been freed"));
  h.device.memory.add({0x200000001000, 64, "allocation 2"});  // its memory goes to a smaller one
  CHECK(has(message([&] { h.run("k", 1, 1, std::uint64_t{0x200000001040}); }),
            "right behind allocation 2 (64 bytes at 0x200000001000); most GPUs survive that"));
  REQUIRE(h.device.memory.remove(0x200000001000));
  CHECK(has(message([&] { h.run("k", 1, 1, std::uint64_t{0x7FFF00000000}); }), "is it a pointer to host memory?"));
  CHECK(has(message([&] { h.run("k", 1, 1, std::uint64_t{16}); }), "as from a null pointer"));
  const std::string index = message([&] { h.run("k", 1, 1, 0x200000000000 + std::uint64_t{0xFFFFFFFF} * 4); });
  CHECK(has(index, "access of 4 bytes at 0x2003fffffffc out of bounds: no allocation is near"));
  CHECK(has(message([&] { h.run("k", 1, 1, 0x200000000000 + (std::uint64_t{1} << 29)); }), "bytes behind allocation 0"));
  CHECK(has(message([&] { h.run("k", 1, 1, std::uint64_t{0x200000000200}); }), "right behind allocation 0"));
}

TEST_CASE("what a block has freed is gone for the next one") {
  Harness h(kHeader + R"(.extern .func free(.param .b64 p);
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1,[p]; mov.u32 %r1,%ctaid.x; st.global.u32 [%rd1],%r1;
  setp.ne.u32 %p1,%r1,1; @%p1 bra DONE;
  { .param .b64 a; st.param.b64 [a+0],%rd1; call.uni free,(a); }
DONE: ret;
})");
  U32 v(64);
  const auto address = reinterpret_cast<std::uint64_t>(v.data());
  h.device.memory.add({address, 256, "allocation 2"});
  h.device.release = [&](std::uint64_t at) { h.device.memory.remove(at); };
  const std::string m = message([&] { h.run("k", 3, 1, address); });
  CHECK(has(m, "block (2, 0, 0)"));
  CHECK(has(m, "which has been freed"));
}

TEST_CASE("addresses of a row, of one place or of any kind are out of bounds where one lane's is") {
  // The lanes' addresses are p + first + stride * lane; the allocation has 4096 bytes.
  Harness h(kHeader + R"(.visible .entry k(.param .u64 p, .param .u32 first, .param .u32 stride, .param .u32 odd)
{
  .reg .b32 %r<6>; .reg .b64 %rd<4>; .reg .pred %p<2>;
  ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[first]; ld.param.u32 %r2,[stride]; ld.param.u32 %r5,[odd];
  mov.u32 %r3,%tid.x; mad.lo.u32 %r4,%r3,%r2,%r1;
  setp.eq.u32 %p1,%r3,17; @%p1 add.u32 %r4,%r4,%r5;
  cvt.s64.s32 %rd2,%r4; add.s64 %rd3,%rd1,%rd2;
  ld.global.u32 %r1,[%rd3]; st.global.u32 [%rd3],%r1; ret;
})");
  std::vector<std::uint32_t> v(3072);
  const auto address = reinterpret_cast<std::uint64_t>(&v[1024]);
  h.device.memory.add({address, 4096, "allocation 4"});
  for (const std::int32_t stride : {0, 4, -4, 8, 64})
    for (const std::int32_t odd : {0, 4, -4, 2048, -2048})
      for (const std::int32_t first : {-4, 0, 4, 124, 2048, 3968, 3972, 4092, 4096}) {
        bool inside = true;
        for (std::int32_t lane = 0; lane < 32; ++lane) {
          const std::int32_t at = first + stride * lane + (lane == 17 ? odd : 0);
          inside = inside && at >= 0 && at + 4 <= 4096;
        }
        CAPTURE(stride);
        CAPTURE(odd);
        CAPTURE(first);
        const auto run = [&] {
          h.run("k", 1, 32, address, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(stride),
                static_cast<std::uint32_t>(odd));
        };
        if (inside)
          CHECK_NOTHROW(run());
        else
          CHECK(has(message(run), "out of bounds"));
      }
}

TEST_CASE("misaligned accesses, traps and barriers that nobody completes are errors") {
  const auto fails = [](const std::string& body, std::uint32_t threads = 32) {
    Harness h(
        kHeader +
        ".visible .entry k(.param .u64 p) { .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u64 %rd1,[p];\n" +
        body + " ret; }");
    U32 v(64);
    return message([&] { h.run("k", 1, threads, h.buffer(v)); });
  };
  CHECK(has(fails("ld.global.u32 %r1,[%rd1+2];"), "misaligned"));
  CHECK(has(fails(".shared .b32 s[4]; mov.u32 %r1,6; ld.shared.u32 %r2,[%r1];"),
            "access of 4 bytes at offset 0x6 of shared memory is misaligned"));
  CHECK(has(fails(".shared .b32 s[4]; mov.u64 %rd2,s; cvta.shared.u64 %rd2,%rd2; ld.u32 %r2,[%rd2+2];"),
            "access of 4 bytes at offset 0x2 of shared memory is misaligned"));
  CHECK(has(fails(".local .align 8 .b8 mine[8]; ld.local.u32 %r2,[mine+1];"),
            "access of 4 bytes at offset 0x1 of local memory is misaligned"));
  CHECK(has(fails("trap;"), "trap"));
  CHECK(has(fails("mov.u32 %r1,0; ld.shared.u32 %r2,[%r1];"), "offset 0x0 of shared memory, which has 0 bytes"));
  CHECK(has(fails("bar.sync 1, 64;"), "barrier"));
  CHECK(has(fails("mov.u64 %rd2,0; ld.u32 %r1,[%rd2];"), "at 0x0 out of bounds"));
}

TEST_CASE("vectors, narrow types and generic addresses reach all windows") {
  const std::string text = kHeader + R"(
.const .align 4 .u32 factor = 3;
.global .align 4 .b8 counter[4];
.visible .entry k(.param .u64 po, .param .u64 pi)
{
  .local .align 16 .b8 depot[32]; .shared .align 16 .b8 s[128];
  .reg .b16 %h<8>; .reg .b32 %r<20>; .reg .b64 %rd<20>;
  ld.param.u64 %rd1,[po]; ld.param.u64 %rd2,[pi]; mov.u32 %r1,%tid.x;
  ld.global.v4.u8 {%h1,%h2,%h3,%h4},[%rd2]; cvt.u32.u16 %r2,%h4;
  ld.global.s8 %r3,[%rd2+1];
  mov.u64 %rd3,depot; cvta.local.u64 %rd4,%rd3; or.b64 %rd5,%rd4,16; st.v2.u32 [%rd5],{%r1,%r2}; ld.local.u32 %r4,[depot+20];
  mov.u64 %rd6,s; cvta.shared.u64 %rd7,%rd6; mul.wide.u32 %rd8,%r1,4; add.s64 %rd9,%rd7,%rd8; st.u32 [%rd9],%r3; ld.shared.u32 %r5,[s];
  ld.const.u32 %r6,[factor]; mov.u64 %rd10,counter; cvta.global.u64 %rd11,%rd10; atom.add.u32 %r7,[%rd11],%r6; ld.global.u32 %r8,[counter];
  isspacep.shared %p1,%rd9; selp.u32 %r9,1,0,%p1;
  mov.b64 %rd12,{%r4,%r9}; mov.b64 {%r10,%r11},%rd12;
  mul.wide.u32 %rd13,%r1,16; add.s64 %rd14,%rd1,%rd13; st.global.v4.u32 [%rd14],{%r10,%r5,%r8,%r11}; ret;
})";
  std::string with_predicate = text;
  with_predicate.replace(with_predicate.find(".reg .b16"), 0, ".reg .pred %p<3>; ");
  Harness h(with_predicate);
  U32 out(128);
  std::vector<std::uint8_t> in{1, 0xFE, 3, 200};
  h.run("k", 1, 32, h.buffer(out), h.buffer(in));
  for (unsigned t = 0; t < 32; ++t) {
    CHECK(out[4 * t] == 200);
    CHECK(out[4 * t + 1] == 0xFFFFFFFE);
    CHECK(out[4 * t + 2] == 96);
    CHECK(out[4 * t + 3] == 1);
  }
}

TEST_CASE("the initial bytes of a variable end with its initialiser and its last address") {
  const Module m = parse(kHeader +
                             ".global .align 8 .b8 zero[1073741824]; .global .align 4 .u32 first[8] = {1, 2};\n"
                             ".global .align 8 .u64 far[8] = {0, 0, zero};\n",
                         "test.ptx");
  const auto bytes = [&](const char* name) { return initial_bytes(m, m.variables[m.find_variable(name)], {7, 8, 9}); };
  CHECK(bytes("zero").empty());
  CHECK(bytes("first") == std::vector<std::uint8_t>{1, 0, 0, 0, 2, 0, 0, 0});
  CHECK(bytes("far").size() == 24);
  CHECK(bytes("far")[16] == 7);
}

TEST_CASE("constant memory is in no other space, and parameters are in global memory as well") {
  Harness h(kHeader + R"(
.const .align 4 .b32 before = 1; .const .align 4 .b8 table[12]; .global .align 4 .b32 beside = 3;
.visible .entry k(.param .u64 po)
{
  .shared .align 4 .b8 s[16]; .local .align 4 .b8 mine[16];
  .reg .pred %p<4>; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; mov.b64 %rd2,po; cvta.param.u64 %rd2,%rd2;
  setp.eq.u32 %p1,%r1,1; @%p1 mov.u64 %rd2,table; @%p1 cvta.const.u64 %rd2,%rd2; @%p1 add.s64 %rd2,%rd2,11;
  setp.eq.u32 %p1,%r1,2; @%p1 mov.u64 %rd2,beside; @%p1 cvta.global.u64 %rd2,%rd2;
  setp.eq.u32 %p1,%r1,3; @%p1 mov.u64 %rd2,s; @%p1 cvta.shared.u64 %rd2,%rd2;
  setp.eq.u32 %p1,%r1,4; @%p1 mov.u64 %rd2,mine; @%p1 cvta.local.u64 %rd2,%rd2;
  isspacep.global %p2,%rd2; selp.u32 %r2,1,0,%p2;
  isspacep.const %p2,%rd2; @%p2 add.u32 %r2,%r2,2;
  isspacep.param %p2,%rd2; @%p2 add.u32 %r2,%r2,4;
  isspacep.shared %p2,%rd2; @%p2 add.u32 %r2,%r2,8;
  isspacep.local %p2,%rd2; @%p2 add.u32 %r2,%r2,16;
  mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd1,%rd3; st.global.u32 [%rd4],%r2; ret;
})");
  U32 out(5);
  h.run("k", 1, 5, h.buffer(out));
  CHECK(out == U32{5, 2, 1, 8, 16});
}

TEST_CASE("policies of the L2 change nothing, of a range as well") {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 p)
{
  .reg .b32 %r<2>; .reg .b64 %rd<4>; ld.param.u64 %rd1,[p];
  createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %rd2,[%rd1],1024,2048;
  createpolicy.range.L2::evict_last.b64 %rd3,[%rd1],4,4;
  ld.global.L2::cache_hint.u32 %r1,[%rd1],%rd2; st.global.u32 [%rd1+4],%r1; ret;
})");
  U32 v{7, 0};
  h.run("k", 1, 1, h.buffer(v));
  CHECK(v[1] == 7);
}

TEST_CASE("hints of where lines are kept change nothing, and pointers are printed as the host prints them") {
  const auto text = [](const std::string& pointer) {
    return kHeader + R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.global .align 1 .b8 format[16] = {91,37,49,50,112,124,37,45,56,112,93,0};
.global .align 128 .b8 line[128];
.visible .entry k()
{
  .local .align 8 .b8 depot[16]; .reg .b32 %r<4>; .reg .b64 %rd<8>;
  mov.u64 %rd1,line; cvta.global.u64 %rd2,%rd1;
  applypriority.global.L2::evict_normal [%rd1],128; applypriority.L2::evict_normal [%rd2],128;
  mov.u64 %rd1,)" +
           pointer + R"(; st.local.u64 [depot],%rd1; st.local.u64 [depot+8],%rd1;
  mov.u64 %rd3,depot; cvta.local.u64 %rd4,%rd3; mov.u64 %rd5,format; cvta.global.u64 %rd6,%rd5;
  { .param .b64 p0; st.param.b64 [p0],%rd6; .param .b64 p1; st.param.b64 [p1],%rd4; .param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r2,[q]; }
  ret;
})";
  };
  for (const auto& [pointer, expected] : {std::pair{"43981", "[      0xabcd|0xabcd  ]"}, {"0", "[       (nil)|(nil)   ]"}}) {
    Harness h(text(pointer));
    std::string printed;
    h.device.print = [&](std::string_view t) { printed += t; };
    h.run("k", 1, 1);
    CHECK(printed == expected);
  }
}

TEST_CASE("textures are read by texel or by place, with clamped and filtered coordinates") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 po, .param .u64 pt)
{
  .reg .b32 %r<4>; .reg .b64 %rd<6>; .reg .f32 %f<12>;
  ld.param.u64 %rd1,[po]; ld.param.u64 %rd2,[pt]; mov.u32 %r1,%tid.x;
  tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4},[%rd2,{%r1}];
  cvt.rn.f32.u32 %f5,%r1; mov.f32 %f6,0f3F000000; tex.2d.v4.f32.f32 {%f7,%f8,%f9,%f10},[%rd2,{%f5,%f6}]; add.f32 %f11,%f1,%f7;
  mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd1,%rd3; st.global.f32 [%rd4],%f11; ret;
})";
  Harness h(text);
  std::vector<float> texels{10, 20, 30, 40}, out(6);
  Texture t;
  t.address = h.buffer(texels), t.width = 4, t.pitch = 16, t.linear = true;
  h.device.textures[5] = t;
  h.run("k", 1, 6, h.buffer(out), std::uint64_t{5});
  CHECK(out == std::vector<float>{10 + 10, 20 + 15, 30 + 25, 40 + 35, 40 + 40, 40 + 40});
}

TEST_CASE("texels and elements of surfaces beyond the memory that they were made from are out of bounds as loads are") {
  const std::string text = kHeader + R"(
.visible .entry fetch(.param .u64 po, .param .u64 pt)
{
  .reg .b32 %r<3>; .reg .b64 %rd<5>; .reg .f32 %f<5>;
  ld.param.u64 %rd1,[po]; ld.param.u64 %rd2,[pt]; mov.u32 %r1,%tid.x;
  tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4},[%rd2,{%r1}];
  mul.wide.u32 %rd3,%r1,4; add.s64 %rd4,%rd1,%rd3; st.global.f32 [%rd4],%f1; ret;
}
.visible .entry store(.param .u64 ps)
{
  .reg .b32 %r<4>; .reg .b64 %rd<2>;
  ld.param.u64 %rd1,[ps]; mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,2; sust.b.1d.b32.trap [%rd1,{%r2}],{%r1}; ret;
})";
  Harness h(text);
  std::vector<float> texels{10, 20, 30, 40}, out(6, 7);
  Texture t;
  t.address = h.buffer(texels), t.width = 1u << 20, t.pitch = 4u << 20;
  h.device.textures[5] = h.device.surfaces[5] = t;
  h.run("fetch", 1, 4, h.buffer(out), std::uint64_t{5});
  CHECK(out == std::vector<float>{10, 20, 30, 40, 7, 7});
  for (const char* kernel : {"fetch", "store"}) {
    LaunchSpec spec = h.spec(kernel, 1, 5);
    kernel[0] == 'f' ? h.set(spec, reinterpret_cast<std::uint64_t>(out.data()), std::uint64_t{5})
                     : h.set(spec, std::uint64_t{5});
    const std::string said = message([&] { execute(spec, h.device); });
    CHECK(has(said, "thread (4, 0, 0)"));
    CHECK(has(said, "out of bounds: right behind buffer (16 bytes at "));
    OutOfBounds outside;
    AccessCheck check;
    spec.outside = &outside, spec.check = &check;
    execute(spec, h.device);
    REQUIRE(outside.sites().size() == 1);
    CHECK(outside.sites()[0].count == 1);  // though the check asks, too, where the access lies
  }
  CHECK(out[4] == 0);
  CHECK(texels[3] != 40);  // stored to, within
  h.device.memory.remove(t.address);
  CHECK(has(message([&] { h.run("store", 1, 1, std::uint64_t{5}); }), "which has been freed"));
}

TEST_CASE("surfaces are read and written by byte, and trap beyond their edge") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 ps)
{
  .reg .b32 %r<6>; .reg .b64 %rd<3>;
  ld.param.u64 %rd1,[ps]; mov.u32 %r1,%tid.x; shl.b32 %r2,%r1,2; mov.u32 %r3,1; mov.u32 %r5,0;
  suld.b.2d.b32.trap {%r4},[%rd1,{%r2,%r5}]; add.s32 %r4,%r4,1; sust.b.2d.b32.trap [%rd1,{%r2,%r3}],{%r4}; ret;
})";
  Harness h(text);
  U32 data{1, 2, 3, 4, 0, 0, 0, 0};
  Texture s;
  s.address = h.buffer(data), s.width = 4, s.height = 2, s.pitch = 16, s.type = Type::u32;
  h.device.surfaces[9] = s;
  h.run("k", 1, 4, std::uint64_t{9});
  CHECK(data == U32{1, 2, 3, 4, 2, 3, 4, 5});
  CHECK(has(message([&] { h.run("k", 1, 5, std::uint64_t{9}); }), "thread (4, 0, 0)"));
}

TEST_CASE("reserved shared memory lies apart from the kernel's own, and there only if the kernel names it") {
  const auto text = [](const std::string& where) {
    return kHeader + R"(.visible .entry k(.param .u64 out) {
.reg .b32 %r<6>; .reg .b64 %rd<2>; .shared .align 4 .b32 s[2];
ld.param.u64 %rd1,[out]; mov.u32 %r1,)" +
           where + R"(; mov.u32 %r2,7; mov.u32 %r3,9;
st.shared.u32 [s+4],%r3;
st.shared.u32 [%r1+284],%r2;
ld.shared.u32 %r4,[%r1+284];
ld.shared.u32 %r5,[s+4];
st.global.u32 [%rd1],%r4;
st.global.u32 [%rd1+4],%r5;
ret; })";
  };
  U32 out(2);
  Harness reserved(text("%reserved_smem_offset_1"));
  reserved.run("k", 1, 1, reserved.buffer(out));
  CHECK(out == U32{7, 9});
  Harness own(text("s"));
  CHECK(has(message([&] { own.run("k", 1, 1, own.buffer(out)); }), "shared memory"));
}
