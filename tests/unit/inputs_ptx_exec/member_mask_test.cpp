#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <functional>
#include <random>

#include "harness.hpp"
#include "inputs/ptx/access_check.hpp"

using namespace atl::ptx;
using U32 = std::vector<std::uint32_t>;

// What the PTX ISA says of instructions with a member mask, lane by lane: the lanes of the mask that have not exited, and
// no others, see each other.
namespace {

struct Lanes {
  U32 a = U32(32), mask = U32(32);
  std::uint32_t alive = ~0u;
  std::uint32_t members(unsigned lane) const { return mask[lane] & alive; }
};

struct Form {
  std::string ptx;  ///< %d from %a, with the mask in %b
  std::function<std::uint32_t(const Lanes&, unsigned)> model;
};

template <class F> std::uint32_t fold(const Lanes& x, unsigned lane, F f) {
  bool first = true;
  std::uint32_t r = 0;
  for (unsigned l = 0; l < 32; ++l)
    if ((x.members(lane) >> l & 1) != 0) r = first ? x.a[l] : f(r, x.a[l]), first = false;
  return r;
}
std::uint32_t ballot(const Lanes& x, unsigned lane) {
  std::uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l) bits |= (x.a[l] % 2) << l;
  return bits & x.members(lane);
}
std::uint32_t equals(const Lanes& x, unsigned lane) {
  std::uint32_t bits = 0;
  for (unsigned l = 0; l < 32; ++l) bits |= static_cast<std::uint32_t>(x.a[l] == x.a[lane]) << l;
  return bits & x.members(lane);
}
/// What a lane gets from `from`: of a member its value, of others its own, and nothing of those that have exited.
std::uint32_t asks(const Lanes& x, unsigned lane, unsigned from) {
  if ((x.members(lane) >> from & 1) != 0) return x.a[from];
  return (x.alive >> from & 1) != 0 ? x.a[lane] : 0;
}

const std::vector<Form>& forms() {
  const std::string odd = "and.b32 %r9,%a,1; setp.ne.u32 %p1,%r9,0; ", given = "selp.u32 %d,1,0,%p2;";
  static const std::vector<Form> all = {
      {odd + "vote.sync.ballot.b32 %d,%p1,%b;", ballot},
      {odd + "vote.sync.any.pred %p2,%p1,%b; " + given, [](const Lanes& x, unsigned l) { return ballot(x, l) != 0; }},
      {odd + "vote.sync.all.pred %p2,%p1,%b; " + given,
       [](const Lanes& x, unsigned l) { return ballot(x, l) == x.members(l); }},
      {odd + "vote.sync.all.pred %p2,!%p1,%b; " + given, [](const Lanes& x, unsigned l) { return ballot(x, l) == 0; }},
      {odd + "vote.sync.uni.pred %p2,%p1,%b; " + given,
       [](const Lanes& x, unsigned l) { return ballot(x, l) == 0 || ballot(x, l) == x.members(l); }},
      {"match.any.sync.b32 %d,%a,%b;", equals},
      {"cvt.u64.u32 %rd12,%a; shl.b64 %rd12,%rd12,35; match.any.sync.b64 %d,%rd12,%b;", equals},
      {"match.all.sync.b32 %d|%p2,%a,%b;",
       [](const Lanes& x, unsigned l) { return equals(x, l) == x.members(l) ? x.members(l) : 0; }},
      {"match.all.sync.b32 _|%p2,%a,%b; " + given, [](const Lanes& x, unsigned l) { return equals(x, l) == x.members(l); }},
      {"redux.sync.add.u32 %d,%a,%b;", [](const Lanes& x, unsigned l) { return fold(x, l, std::plus<>()); }},
      {"redux.sync.min.u32 %d,%a,%b;",
       [](const Lanes& x, unsigned l) { return fold(x, l, [](auto p, auto q) { return std::min(p, q); }); }},
      {"redux.sync.max.u32 %d,%a,%b;",
       [](const Lanes& x, unsigned l) { return fold(x, l, [](auto p, auto q) { return std::max(p, q); }); }},
      {"redux.sync.and.b32 %d,%a,%b;", [](const Lanes& x, unsigned l) { return fold(x, l, std::bit_and<>()); }},
      {"redux.sync.or.b32 %d,%a,%b;", [](const Lanes& x, unsigned l) { return fold(x, l, std::bit_or<>()); }},
      {"redux.sync.xor.b32 %d,%a,%b;", [](const Lanes& x, unsigned l) { return fold(x, l, std::bit_xor<>()); }},
      {"shfl.sync.idx.b32 %d,%a,%a,31,%b;", [](const Lanes& x, unsigned l) { return asks(x, l, x.a[l] % 32); }},
      {"shfl.sync.bfly.b32 %d,%a,5,31,%b;", [](const Lanes& x, unsigned l) { return asks(x, l, l ^ 5); }},
      {"shfl.sync.down.b32 %d,%a,7,31,%b;",
       [](const Lanes& x, unsigned l) { return l + 7 < 32 ? asks(x, l, l + 7) : x.a[l]; }},
      {"shfl.sync.up.b32 %d,%a,3,0,%b;", [](const Lanes& x, unsigned l) { return l >= 3 ? asks(x, l, l - 3) : x.a[l]; }},
      {"shfl.sync.down.b32 %d,%a,2,0x181F,%b;",
       [](const Lanes& x, unsigned l) { return l % 8 + 2 < 8 ? asks(x, l, l + 2) : x.a[l]; }},
  };
  return all;
}

/// A partition of the warp at random into up to `groups` sets, and small values.
Lanes random_lanes(std::mt19937& random, unsigned groups) {
  Lanes x;
  U32 set(32), group(32);
  for (unsigned l = 0; l < 32; ++l) {
    group[l] = random() % groups;
    set[group[l]] |= 1u << l;
    x.a[l] = groups > 4 && random() % 2 != 0 ? group[l] : random() % 6;
  }
  for (unsigned l = 0; l < 32; ++l) x.mask[l] = set[group[l]];
  return x;
}
U32 expected(const Form& f, const Lanes& x) {
  U32 d(32);
  for (unsigned l = 0; l < 32; ++l) d[l] = f.model(x, l);
  return d;
}
/// As `body` of elementwise(), for targets from sm_75 (sm_80 for redux).
U32 run(const std::string& target, const std::string& body, const Lanes& x, const U32& c = U32(32)) {
  std::string text = elementwise("u32", "u32", body);
  text.replace(text.find("sm_90"), 5, target);
  Harness h(text);
  U32 d(32), a = x.a, mask = x.mask, other = c;
  h.run("k", 1, 32, h.buffer(d), h.buffer(a), h.buffer(mask), h.buffer(other));
  return d;
}

}  // namespace

TEST_CASE("lanes of a converged warp see those that their member mask names") {
  std::mt19937 random(1);
  for (const Form& f : forms()) {
    CAPTURE(f.ptx);
    for (const std::string target : {"sm_75", "sm_80", "sm_90"})
      for (const unsigned groups : {1, 2, 3, 9, 32}) {
        const Lanes x = random_lanes(random, groups);
        CHECK(run(target, f.ptx, x) == expected(f, x));
      }
  }
}

TEST_CASE("lanes on different branches wait for each other, whatever way each comes") {
  std::mt19937 random(2);
  for (const Form& f : forms()) {
    CAPTURE(f.ptx);
    for (const unsigned groups : {1, 2, 5}) {
      const Lanes x = random_lanes(random, groups);
      U32 way(32);
      for (std::uint32_t& w : way) w = random() % 3;
      // Three ways to three copies of the instruction; behind them all lanes are together again.
      const std::string body = "setp.eq.u32 %p5,%c,0; @%p5 bra ZERO; setp.eq.u32 %p6,%c,1; @%p6 bra ONE;\n" + f.ptx +
                               "\nbra MEET;\nZERO: " + f.ptx + "\nbra MEET;\nONE: mov.u32 %r7,%c; " + f.ptx +
                               "\nMEET: activemask.b32 %r8; setp.ne.u32 %p7,%r8,-1; @%p7 trap;";
      CHECK(run("sm_90", body, x, way) == expected(f, x));
    }
  }
}

TEST_CASE("lanes that have exited are not waited for, and give zero to those that ask them") {
  std::mt19937 random(3);
  for (const Form& f : forms()) {
    CAPTURE(f.ptx);
    Lanes x = random_lanes(random, 2);
    U32 gone(32);
    for (unsigned l = 0; l < 32; ++l)
      if (random() % 4 == 0) gone[l] = 1, x.alive &= ~(1u << l);
    const U32 d = run("sm_90", "setp.ne.u32 %p5,%c,0; @%p5 exit;\n" + f.ptx, x, gone);
    const U32 model = expected(f, x);
    for (unsigned l = 0; l < 32; ++l)
      if (gone[l] == 0) CHECK(d[l] == model[l]);
  }
}

TEST_CASE("lanes that exit while others wait for them let these go on") {
  std::mt19937 random(4);
  for (const Form& f : forms()) {
    CAPTURE(f.ptx);
    Lanes x = random_lanes(random, 1);
    U32 gone(32);
    for (unsigned l = 0; l < 32; ++l)
      if (random() % 4 == 0) gone[l] = 1, x.alive &= ~(1u << l);
    // The lanes that stay are at the instruction first.
    const U32 d = run("sm_90", "setp.eq.u32 %p5,%c,0; @%p5 bra STAY; ret; STAY: " + f.ptx, x, gone);
    const U32 model = expected(f, x);
    for (unsigned l = 0; l < 32; ++l)
      if (gone[l] == 0) CHECK(d[l] == model[l]);
  }
}

TEST_CASE("lanes that go to the ret where all end are gone: they miss nobody's votes, and nobody waits for them") {
  const auto body = [](const std::string& last) {
    return kHeader + R"(
.visible .entry k(.param .u64 po)
{
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; setp.gt.u32 %p1,%r1,19; @%p1 bra END;
  vote.sync.ballot.b32 %r2,1,-1; shfl.sync.idx.b32 %r3,%r1,25,31,-1; add.u32 %r2,%r2,%r3; bar.sync 0;
  mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r2;
  END: )" + last +
           "; }";
  };
  for (const std::string last : {"ret", "exit"}) {
    Harness h(body(last));
    U32 out(32, 7);
    LaunchSpec spec = h.spec("k", 1, 32);
    h.set(spec, h.buffer(out));
    AccessCheck check;
    spec.check = &check;
    const LaunchStats stats = execute(spec, h.device);
    for (unsigned l = 0; l < 32; ++l) CHECK(out[l] == (l < 20 ? 0xFFFFFu : 7u));
    CHECK(stats.missed_meetings == 0);
    for (const WarpMisuse& misuse : check.misuses())
      CHECK(misuse.kind != WarpMisuse::missed);  // one asks a lane that is gone
    CHECK(stats.warp_instructions == 12);
    CHECK(stats.thread_instructions == 32 * 4 + 12 + 20 * 7);  // ret among those of all; 12 take the branch
  }
}

TEST_CASE("parts of a warp that a barrier split meet at the next instruction that names them all") {
  std::mt19937 random(5);
  for (const Form& f : forms()) {
    CAPTURE(f.ptx);
    const Lanes x = random_lanes(random, 2);
    U32 way(32);
    for (std::uint32_t& w : way) w = random() % 2;
    const std::string body = "setp.eq.u32 %p5,%c,0; @%p5 bra ZERO; bar.sync 0; bra MEET; ZERO: bar.sync 0; MEET:\n" + f.ptx +
                             "\nbar.warp.sync -1; activemask.b32 %r8; setp.ne.u32 %p7,%r8,-1; @%p7 trap;";
    CHECK(run("sm_90", body, x, way) == expected(f, x));
  }
}

TEST_CASE("lanes hand data over in shared memory across bar.warp.sync on different branches") {
  // The even lanes wait first; the odd ones fill their cells later.
  Lanes x;
  for (unsigned l = 0; l < 32; ++l) x.a[l] = l, x.mask[l] = ~0u;
  const std::string body = R"(
    .shared .align 4 .b8 s[128]; mov.u32 %r5,s; shl.b32 %r6,%a,2; add.u32 %r7,%r5,%r6; and.b32 %r9,%a,1;
    setp.ne.u32 %p1,%r9,0; mov.u32 %d,%a; @!%p1 bra EVEN;
    mad.lo.u32 %r10,%a,3,100; st.shared.u32 [%r7],%r10; bar.warp.sync %b; bra MEET;
    EVEN: bar.warp.sync %b; ld.shared.u32 %d,[%r7+4];
    MEET: )";
  U32 model(32);
  for (unsigned l = 0; l < 32; ++l) model[l] = l % 2 != 0 ? l : 100 + 3 * (l + 1);
  CHECK(run("sm_90", body, x) == model);
}

TEST_CASE("a mask that names lanes which never come does not hang: those that are there meet, and it is counted") {
  const std::string text = kHeader + R"(
.visible .entry k(.param .u64 po)
{
  .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; mov.u32 %r2,0; setp.gt.u32 %p1,%r1,7; @%p1 bra MEET;
  vote.sync.ballot.b32 %r2,1,-1;
  MEET: bar.sync 0; mul.wide.u32 %rd2,%r1,4; add.s64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r2; ret;
})";
  Harness h(text);
  U32 out(32, 7);
  const LaunchStats stats = h.run("k", 1, 32, h.buffer(out));
  for (unsigned l = 0; l < 32; ++l) CHECK(out[l] == (l < 8 ? 0xFFu : 0u));
  CHECK(stats.missed_meetings == 1);
}

TEST_CASE("a lane that is not in its own mask is named as that") {
  Harness h(kHeader + R"(
.visible .entry k(.param .u64 po)
{
  .reg .b32 %r<4>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1,[po]; mov.u32 %r1,%lanemask_lt; vote.sync.ballot.b32 %r2,1,%r1; mov.u32 %r3,%tid.x;
  mul.wide.u32 %rd2,%r3,4; add.s64 %rd3,%rd1,%rd2; st.global.u32 [%rd3],%r2; ret;
})");
  U32 out(32);
  LaunchSpec spec = h.spec("k", 1, 32);
  h.set(spec, h.buffer(out));
  AccessCheck check;
  spec.check = &check;
  execute(spec, h.device);
  REQUIRE(check.misuses().size() == 1);
  CHECK(check.misuses()[0].kind == WarpMisuse::outside);
  CHECK(text_of(check.misuses()[0]).find("lanes (0x1) are not in their own member mask") != std::string::npos);
}

TEST_CASE("votes of lanes that their own mask does not name are not counted for those that it names") {
  const auto first = [](const std::string& body) {
    Harness h(kHeader + ".visible .entry k(.param .u64 po)\n{\n.reg .pred %p<4>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n" +
              "ld.param.u64 %rd1,[po]; mov.u32 %r1,%tid.x; setp.eq.u32 %p1,%r1,5; setp.lt.u32 %p2,%r1,8;\n" + body +
              "\nsetp.ne.u32 %p3,%r1,0; @%p3 bra END; st.global.u32 [%rd1],%r2; END: ret; }");
    U32 out(1);
    h.run("k", 1, 32, h.buffer(out));
    return out[0];
  };
  CHECK(first("vote.sync.ballot.b32 %r2,1,0x15555555;") == 0x15555555);
  CHECK(first("vote.sync.any.pred %p1,%p1,0x55; selp.u32 %r2,1,0,%p1;") == 0);  // 5 is not named
  CHECK(first("vote.sync.all.pred %p2,%p2,0xff; selp.u32 %r2,1,0,%p2;") == 1);
  CHECK(first("redux.sync.add.u32 %r2,1,0xff;") == 8);
  CHECK(first("match.any.sync.b32 %r2,7,0xff;") == 0xff);
}

TEST_CASE("a loop that each lane leaves at its own time keeps the groups of its mask apart") {
  std::mt19937 random(6);
  Lanes x = random_lanes(random, 2);
  // %a rounds; in each, the lanes of the group that are still there vote for those that are (by a mask of their own).
  const std::string body = R"(
    mov.u32 %r5,0; mov.u32 %d,0;
    LOOP: setp.gt.u32 %p1,%r5,%a; vote.sync.ballot.b32 %r6,!%p1,%b; popc.b32 %r7,%r6; add.u32 %d,%d,%r7;
    add.u32 %r5,%r5,1; setp.le.u32 %p2,%r5,6; @%p2 bra LOOP;)";
  U32 model(32);
  for (unsigned l = 0; l < 32; ++l)
    for (unsigned n = 0; n <= 6; ++n)
      for (unsigned m = 0; m < 32; ++m) model[l] += (x.mask[l] >> m & 1) != 0 && n <= x.a[m];
  CHECK(run("sm_90", body, x) == model);
}
