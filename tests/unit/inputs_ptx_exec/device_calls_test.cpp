#include <doctest/doctest.h>

#include "harness.hpp"
#include "inputs/ptx/device_queue.hpp"

// What kernels ask of the runtime on the device: printf, assert, launches, malloc and free.
using namespace atl::ptx;

TEST_CASE("kernels print what printf would, and assertions name file, line and function") {
  const std::string text = kHeader + R"(
.extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 format[16] = {37,100,32,37,53,46,49,102,32,37,115,37,37,10,0};
.global .align 1 .b8 word[4] = {111,107,33,0};
.visible .entry k()
{
  .local .align 8 .b8 depot[24]; .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<8>; .reg .f64 %fd<2>;
  mov.u32 %r1,%tid.x; st.local.u32 [depot],%r1; mov.f64 %fd1,0d3FF8000000000000; st.local.f64 [depot+8],%fd1;
  mov.u64 %rd1,word; cvta.global.u64 %rd2,%rd1; st.local.u64 [depot+16],%rd2;
  mov.u64 %rd3,depot; cvta.local.u64 %rd4,%rd3; mov.u64 %rd5,format; cvta.global.u64 %rd6,%rd5;
  { .param .b64 p0; st.param.b64 [p0],%rd6; .param .b64 p1; st.param.b64 [p1],%rd4; .param .b32 q; call.uni (q), vprintf, (p0, p1); ld.param.b32 %r2,[q]; }
  setp.ne.s32 %p,%r1,1; @%p ret;
  { .param .b64 a0; st.param.b64 [a0],%rd2; .param .b64 a1; st.param.b64 [a1],%rd2; .param .b32 a2; st.param.b32 [a2],77;
    .param .b64 a3; st.param.b64 [a3],%rd2; .param .b64 a4; st.param.b64 [a4],1; call.uni __assertfail, (a0,a1,a2,a3,a4); }
  ret;
})";
  Harness h(text);
  std::string printed;
  h.device.print = [&](std::string_view t) { printed += t; };
  CHECK(has(message([&] { h.run("k", 1, 2); }), "ok!:77: ok!: block: [0,0,0], thread: [1,0,0] Assertion `ok!` failed."));
  CHECK(printed == "0   1.5 ok!%\n1   1.5 ok!%\n");
}

TEST_CASE("each thread of a block that fails an assertion says so") {
  Harness h(kHeader + R"(
.extern .func __assertfail(.param .b64 m, .param .b64 f, .param .b32 l, .param .b64 n, .param .b64 s);
.global .align 1 .b8 word[2] = {120,0};
.visible .entry k()
{
  .reg .pred %p; .reg .b32 %r<4>; .reg .b64 %rd<4>;
  mov.u32 %r1,%tid.y; setp.eq.u32 %p,%r1,2; @%p ret;
  mov.u64 %rd1,word; cvta.global.u64 %rd2,%rd1;
  { .param .b64 a0; st.param.b64 [a0],%rd2; .param .b64 a1; st.param.b64 [a1],%rd2; .param .b32 a2; st.param.b32 [a2],7;
    .param .b64 a3; st.param.b64 [a3],%rd2; .param .b64 a4; st.param.b64 [a4],1; call.uni __assertfail, (a0,a1,a2,a3,a4); }
  ret;
})");
  LaunchSpec spec = h.spec("k", 2, 8);
  spec.block = {8, 5, 1};
  h.set(spec);
  std::string expected;
  for (const std::string y : {"0", "1", "3", "4"})
    for (unsigned x = 0; x < 8; ++x)
      expected += "x:7: x: block: [0,0,0], thread: [" + std::to_string(x) + "," + y + ",0] Assertion `x` failed.\n";
  CHECK(message([&] { execute(spec, h.device); }) + "\n" == expected);
}

TEST_CASE("a launch from the device is refused as what it is") {
  Harness h(kHeader + R"(.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2(.param .b64 f);
.visible .entry k(.param .u64 out) {
.reg .b64 %rd<2>;
mov.u64 %rd1,0;
{ .param .b64 p0; st.param.b64 [p0],%rd1; .param .b64 q; call.uni (q), __cudaCDP2GetParameterBufferV2, (p0); }
ret; })");
  CHECK(has(message([&] { h.run("k", 1, 1, std::uint64_t{0}); }), "dynamic parallelism is not supported"));
}

TEST_CASE("a launch from the device is noted with its parameters, in order, and the tail's place") {
  const std::string call = R"(
{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 q;
  st.param.b64 [f],%rd1; st.param.b32 [g],%r1; st.param.b32 [g+4],2; st.param.b32 [g+8],1;
  st.param.b32 [b],32; st.param.b32 [b+4],1; st.param.b32 [b+8],1; st.param.b32 [s],64;
  call.uni (q), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %rd2,[q]; }
st.u64 [%rd2],%rd3; st.u32 [%rd2+8],%r1;
{ .param .b64 p; .param .b64 t; .param .b32 q; st.param.b64 [p],%rd2; st.param.b64 [t],%rd4;
  call.uni (q), __cudaCDP2LaunchDeviceV2, (p, t); })";
  Harness h(kHeader + R"(
.extern .func (.param .b64 q) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 q) __cudaCDP2LaunchDeviceV2(.param .b64 p, .param .b64 t);
.visible .entry child(.param .u64 out, .param .u32 n) { ret; }
.visible .entry k(.param .u64 out) {
.reg .b64 %rd<5>; .reg .b32 %r<3>;
ld.param.u64 %rd3,[out];
mov.u64 %rd1,child;
mov.u64 %rd4,3; mov.u32 %r1,5;)" +
            call + "mov.u64 %rd4,0; mov.u32 %r1,6;" + call + "ret; }");
  DeviceQueue queue;
  std::vector<std::array<std::uint32_t, 3>> asked;
  queue.check = [&](const DeviceWork& w) { return asked.push_back(w.grid), 0u; };
  h.device.queue = &queue;
  std::vector<std::uint32_t> out(1);
  const std::uint64_t at = h.buffer(out);
  h.run("k", 1, 1, at);
  CHECK(asked == std::vector<std::array<std::uint32_t, 3>>{{5, 2, 1}, {6, 2, 1}});
  REQUIRE(queue.work.size() == 2);
  CHECK(queue.buffers.empty());
  for (const std::uint32_t n : {0u, 1u}) {
    const DeviceWork& w = queue.work[n];
    CHECK(w.kernel == h.module().find_function("child"));
    CHECK(w.tail == (n == 0));
    CHECK(w.grid == std::array<std::uint32_t, 3>{5 + n, 2, 1});
    CHECK(w.block == std::array<std::uint32_t, 3>{32, 1, 1});
    CHECK(w.dynamic_shared == 64);
    REQUIRE(w.params.size() == 12);
    CHECK(std::memcmp(w.params.data(), &at, 8) == 0);
    const std::uint32_t number = 5 + n;
    CHECK(std::memcmp(w.params.data() + 8, &number, 4) == 0);
  }
}

TEST_CASE("a launch from the device that the host would refuse is the thread's error, which is told once") {
  Harness h(kHeader + R"(
.extern .func (.param .b64 q) __cudaCDP2GetParameterBufferV2(.param .b64 f, .param .align 4 .b8 g[12], .param .align 4 .b8 b[12], .param .b32 s);
.extern .func (.param .b32 q) __cudaCDP2GetLastError();
.visible .entry child() { ret; }
.visible .entry k(.param .u64 out) {
.reg .b64 %rd<4>; .reg .b32 %r<4>;
ld.param.u64 %rd3,[out]; mov.u64 %rd1,child;
{ .param .b64 f; .param .align 4 .b8 g[12]; .param .align 4 .b8 b[12]; .param .b32 s; .param .b64 q;
  st.param.b64 [f],%rd1; st.param.b32 [g],1; st.param.b32 [g+4],1; st.param.b32 [g+8],1;
  st.param.b32 [b],64; st.param.b32 [b+4],1; st.param.b32 [b+8],1; st.param.b32 [s],0;
  call.uni (q), __cudaCDP2GetParameterBufferV2, (f, g, b, s); ld.param.b64 %rd2,[q]; }
{ .param .b32 q; call.uni (q), __cudaCDP2GetLastError, (); ld.param.b32 %r1,[q]; }
{ .param .b32 q; call.uni (q), __cudaCDP2GetLastError, (); ld.param.b32 %r2,[q]; }
st.global.u64 [%rd3],%rd2; st.global.u32 [%rd3+8],%r1; st.global.u32 [%rd3+12],%r2; ret; })");
  DeviceQueue queue;
  queue.check = [](const DeviceWork& w) { return w.block[0] > 32 ? 1u : 0u; };
  h.device.queue = &queue;
  std::vector<std::uint32_t> out(4, 9);
  h.run("k", 1, 1, h.buffer(out));
  CHECK(out == std::vector<std::uint32_t>{0, 0, 1, 0});
  CHECK(queue.work.empty());
  CHECK(queue.buffers.empty());
}

TEST_CASE("memory of the heap is freed once, by the address that malloc returned") {
  const auto text = [](const std::string& frees) {
    return kHeader + ".extern .func (.param .b64 got) malloc (.param .b64 size);\n.extern .func free (.param .b64 back);\n" +
           ".visible .entry k() { .reg .b64 %rd<4>;\n"
           "{ .param .b64 size; .param .b64 got; st.param.b64 [size],64; call.uni (got), malloc, (size); ld.param.b64 "
           "%rd1,[got]; }\n" +
           frees + "ret; }";
  };
  const auto freed = [](const std::string& address) {
    return "{ .param .b64 back; st.param.b64 [back]," + address + "; call.uni free, (back); }\n";
  };
  const auto said = [&](const std::string& frees) {
    Harness h(text(frees));
    return message([&] { h.run("k", 1, 1); });
  };
  CHECK(said(freed("%rd1") + freed("0")) == "no error");
  CHECK(has(said(freed("%rd1") + freed("%rd1")), ", which has been freed"));
  CHECK(has(said("add.s64 %rd2,%rd1,16;\n" + freed("%rd2")), ", which malloc has not returned"));
  CHECK(has(said(freed("4096")), "thread (0, 0, 0), test.ptx:8: free of 0x1000, which malloc has not returned"));
}
