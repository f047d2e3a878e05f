#include <doctest/doctest.h>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"

using namespace atl::ptx;

namespace {

/// The races of one CTA with this body. It begins on line 7; %r1 is the thread, %r2 the warp, %r3 = 4 * thread, %r4 = 0.
std::vector<SharedRace> races(const std::string& body, std::uint32_t threads = 64) {
  Harness h(kHeader + ".visible .entry k() {\n.reg .pred %p<4>; .reg .b16 %h<4>; .reg .b32 %r<12>; .shared .b8 s[1024];\n" +
            "mov.u32 %r1,%tid.x; shr.u32 %r2,%r1,5; shl.b32 %r3,%r1,2; mov.u32 %r4,s; setp.eq.u32 %p1,%r2,0;\n" + body +
            "\nret; }");
  AccessCheck check;
  LaunchSpec s = h.spec("k", 1, threads);
  s.check = &check;
  execute(s, h.device);
  return check.races();
}
const std::string kReverse = "xor.b32 %r5,%r3,252;\n";  // 4 * (63 - thread): a word of the other warp

}  // namespace

TEST_CASE("warps that read what the other writes without a barrier race, with one they do not") {
  const auto found = races(kReverse + "st.shared.u32 [%r3],%r1;\nld.shared.u32 %r6,[%r5];");
  REQUIRE(found.size() == 2);
  CHECK(found[0].kernel == "k");
  CHECK(found[0].race.first.line == 8);  // the first warp runs first: the second reads what it has written
  CHECK(found[0].race.second.line == 9);
  CHECK(found[0].race.first.warp == 0);
  CHECK(found[0].race.second.warp == 1);
  CHECK(found[0].race.offset == 124);  // of lane 0 of the second warp
  CHECK(found[0].times == 32);
  CHECK(text_of(found[0]).find("kernel k, block (0, 0, 0): shared-memory race at byte 124: warp 0 writes (test.ptx:8), then "
                               "warp 1 reads (test.ptx:9)") == 0);
  CHECK(found[1].race.first.line == 9);  // and overwrites what it has read
  CHECK(found[1].race.second.line == 8);
  CHECK(found[1].race.offset == 128);
  CHECK_FALSE(found[1].race.first.writes);
  CHECK(races(kReverse + "st.shared.u32 [%r3],%r1;\nbar.sync 0;\nld.shared.u32 %r6,[%r5];").empty());
}

TEST_CASE("warps that write the same word without a barrier race, with one they do not") {
  const auto found = races("st.shared.u32 [%r4],%r1;");
  REQUIRE(found.size() == 1);
  CHECK(found[0].race.offset == 0);
  CHECK(found[0].race.first.writes);
  CHECK(races("@%p1 st.shared.u32 [%r4],%r1;\nbar.sync 0;\n@!%p1 st.shared.u32 [%r4],%r1;").empty());
}

TEST_CASE("warps that write one value do not race, those that write others do, whatever the width") {
  CHECK(races("mov.u32 %r6,7;\nst.shared.u32 [%r4],%r6;").empty());
  CHECK(races("st.shared.u32 [%r4],7;").empty());
  CHECK(races("mov.u32 %r6,7;\nst.shared.u8 [%r4],%r6;").empty());
  CHECK(races("cvt.u16.u32 %h1,%r2;\nst.shared.u16 [%r4],%h1;").size() == 1);
  CHECK(races("st.shared.u8 [%r4],%r2;").size() == 1);
  // One writes a word, the other its upper half: the same bytes there, or others.
  const std::string half = "@%p1 st.shared.u32 [%r4],65536;\n@!%p1 st.shared.u16 [%r4+2],";
  CHECK(races(half + "1;").empty());
  CHECK(races(half + "2;").size() == 1);
  CHECK(races("st.shared.u32 [%r4],7;\nld.shared.u32 %r6,[%r4];").size() == 1);  // reading what another writes is a race
  CHECK(races("st.shared.v2.u32 [%r4],{%r4,%r4};").size() == 1);                 // whose values are not looked at
}

TEST_CASE("atomics do not race with each other, but with plain accesses") {
  CHECK(races("atom.shared.add.u32 %r6,[%r4],1;").empty());
  CHECK(races("atom.shared.add.u32 %r6,[%r4],1;\nbar.sync 0;\nld.shared.u32 %r7,[%r4];").empty());
  CHECK(races("atom.shared.add.u32 %r6,[%r4],1;\nld.shared.u32 %r7,[%r4];").size() == 1);
  CHECK(races("ld.volatile.shared.u32 %r7,[%r4];\nst.volatile.shared.u32 [%r4],%r1;").empty());
}

TEST_CASE("what is handed over by a fence and a flag does not race; without the fence, or by another flag, it does") {
  const auto hand_over = [](const std::string& fence, const std::string& raise, const std::string& look) {
    return races("@!%p1 bra WAIT;\nst.shared.u32 [%r4+4],%r1;\n" + fence + raise + "bra END;\nWAIT:\n" + look +
                 "ld.shared.u32 %r7,[%r4+4];\nEND:");
  };
  const std::string fence = "membar.cta;\n", raise = "atom.shared.exch.b32 %r6,[%r4],1;\n";
  const std::string look = "atom.shared.or.b32 %r6,[%r4],0;\n";
  CHECK(hand_over(fence, raise, look).empty());
  CHECK(hand_over(fence, "st.volatile.shared.u32 [%r4],1;\n", "ld.volatile.shared.u32 %r6,[%r4];\n").empty());
  CHECK(hand_over("", "st.release.cta.shared.u32 [%r4],1;\n", "ld.acquire.cta.shared.u32 %r6,[%r4];\n").empty());
  CHECK(hand_over("", raise, look).size() == 1);
  CHECK(hand_over(raise, fence, look).size() == 1);
  CHECK(hand_over(fence, raise, "").size() == 1);
  CHECK(hand_over(fence, raise, "atom.shared.or.b32 %r6,[%r4+8],0;\n").size() == 1);
  CHECK(hand_over(fence, raise, "red.shared.or.b32 [%r4],0;\n").size() == 1);  // it learns nothing
}

TEST_CASE("a hand-over goes through an atomic of a third warp") {
  const std::string body =
      "setp.eq.u32 %p2,%r2,1;\n@!%p1 bra NEXT;\nst.shared.u32 [%r4+4],%r1;\nmembar.cta;\natom.shared.add.u32 %r6,[%r4],1;\n"
      "NEXT:\n@%p2 atom.shared.add.u32 %r6,[%r4],1;\n@%p1 bra END;\n@%p2 bra END;\nld.volatile.shared.u32 %r6,[%r4];\n"
      "ld.shared.u32 %r7,[%r4+4];\nEND:";
  CHECK(races(body, 96).empty());
}

TEST_CASE("a plain load that begins a loop of compare-and-swaps does not race with them, however its address is written") {
  const std::string swap = "atom.shared.cas.b32 %r6,[%r5],%r7,%r1;";
  CHECK(races("ld.shared.u32 %r7,[s];\nmov.u32 %r5,s;\n" + swap).empty());
  CHECK(races("ld.shared.u32 %r7,[s+4];\nmov.u32 %r5,s; add.u32 %r5,%r5,4;\n" + swap).size() == 2);  // not understood
  CHECK(races("ld.shared.u32 %r8,[s];\nmov.u32 %r5,s; mov.u32 %r7,0;\n" + swap).size() == 2);
}

TEST_CASE("a barrier for whole warps that some lanes of a warp do not reach together with the others is named") {
  const auto misuses = [](const std::string& body) {
    Harness h(kHeader + ".visible .entry k() {\n.reg .pred %p<4>; .reg .b32 %r<4>;\nmov.u32 %r1,%tid.x;\n" + body +
              "\nret; }");
    AccessCheck check;
    LaunchSpec s = h.spec("k", 1, 64);
    s.check = &check;
    execute(s, h.device);
    return check.misuses();
  };
  // By two ways to one instruction, at which all are.
  CHECK(misuses("setp.eq.u32 %p1,%r1,0; setp.eq.u32 %p2,%r1,99; @%p1 bra A; @%p2 bra END;\nX: bar.sync 0; bra END;\n"
                "A: mov.u32 %r2,1; @%p2 bra END; bra X;\nEND: mov.u32 %r2,0;")
            .empty());
  const auto some = [](const std::string& barrier) {  // 40 of 64 threads
    return "setp.ge.u32 %p1,%r1,40; @%p1 bra END;\n" + barrier + "\nEND: mov.u32 %r2,0;";
  };
  const auto found = misuses(some("bar.sync 0,64;\nbra END;") + "@%p1 bar.sync 0,64;");  // the others come another way
  REQUIRE(found.size() == 1);  // then the warp is two, each of which comes as a whole
  CHECK(found[0].kind == WarpMisuse::apart);
  CHECK(found[0].warp == 1);
  CHECK(found[0].lanes == 0xFFFFFF00u);
  CHECK(text_of(found[0]).find(": bar.sync: lanes (0xffffff00) of the warp are elsewhere") != std::string::npos);
  CHECK(misuses(some("barrier.sync.aligned 0,64;") + "@%p1 bar.sync 0,64;").size() == 1);
  CHECK(misuses(some("barrier.sync 0,64;") + "@%p1 barrier.sync 0,64;").empty());
  CHECK(misuses("bar.sync 0;").empty());
  CHECK(misuses("setp.ge.u32 %p1,%r1,40; @%p1 ret; bar.sync 0;").empty());  // who has exited is not elsewhere
  CHECK(misuses("setp.ge.u32 %p1,%r1,32; @%p1 bra END; bar.sync 1,32;\nEND:").empty());
}

TEST_CASE("lanes of one warp do not race") {
  CHECK(races("st.shared.u32 [%r4],%r1;\nld.shared.u32 %r6,[%r4];", 32).empty());
}

TEST_CASE("bytes of one word are different memory") {
  const std::string own = "st.shared.u8 [%r2],%r1;\n";  // byte 0 by the first warp, byte 1 by the second
  CHECK(races(own).empty());
  CHECK(races(own + "ld.shared.u8 %h1,[1];").size() == 1);
}

TEST_CASE("a generic address leads to the same memory") {
  const std::string generic = ".reg .b64 %rd<4>; cvta.shared.u64 %rd1,s; st.u32 [%rd1],%r1;";
  CHECK(races(generic).size() == 1);
}

TEST_CASE("a barrier of two warps orders what they do, and nothing of a third") {
  const std::string pass = "@%p1 st.shared.u32 [%r3],%r1;\n@!%p1 bra WAIT;\nbar.arrive 1,64;\nbra END;\nWAIT:\n";
  const std::string fetch = "ld.shared.u32 %r6,[%r4];\nEND:";
  CHECK(races(pass + "bar.sync 1,64;\n" + fetch).empty());
  const std::string third = "setp.eq.u32 %p2,%r2,2;\n@%p2 bra READ;\nbar.sync 1,64;\nREAD:\n";
  const auto found = races(pass + third + fetch, 96);
  REQUIRE(found.size() == 1);
  CHECK(found[0].race.second.warp == 2);
}

TEST_CASE("what a warp does behind its arrival is not ordered by the barrier") {
  const auto found = races(
      "@!%p1 bra WAIT;\nbar.arrive 1,64;\nst.shared.u32 [%r4],%r1;\nbra END;\nWAIT:\nbar.sync 1,64;\n"
      "ld.shared.u32 %r6,[%r4];\nEND:");
  CHECK(found.size() == 1);
}

TEST_CASE("a warp that has ended is behind the barrier that did not wait for it") {
  CHECK(races("@%p1 st.shared.u32 [%r3],%r1;\n@%p1 ret;\nbar.sync 0;\nld.shared.u32 %r6,[%r4];").empty());
}

TEST_CASE("a new CTA has new shared memory") {
  Harness h(kHeader + R"(.visible .entry k() {
.reg .b32 %r<4>; .shared .b32 s;
mov.u32 %r1,%tid.x; st.shared.u32 [s],%r1; ret; })");
  AccessCheck check;
  LaunchSpec s = h.spec("k", 4, 32);
  s.check = &check;
  execute(s, h.device);
  CHECK(check.races().empty());
}
