#include "policies/llc/eab.hpp"

#include <doctest/doctest.h>

#include <array>
#include <limits>
#include <string>

using namespace atl;

namespace {

/// SAC Fig. 10: LLC responses by origin, memory-side (normalised to 1) and SM-side in the same units.
struct Benchmark {
  const char* name;
  double local_llc, remote_llc, local_memory, remote_memory;
  double sm_llc, sm_local_memory, sm_remote_memory;
  bool prefers_sm;  ///< the published choice
};
constexpr std::array<Benchmark, 16> kFigure10{{
    {"RN", .44, .53, .00, .02, 1.68, .15, .16, true},
    {"AN", .30, .49, .08, .11, 1.28, .16, .23, true},
    {"SN", .27, .70, .00, .01, 2.48, .03, .06, true},
    {"CFD", .43, .27, .18, .10, 1.03, .38, .24, true},
    {"BFS", .36, .47, .07, .08, .79, .22, .28, true},
    {"3DC", .33, .33, .17, .15, .32, .38, .35, true},
    {"BS", .01, .07, .24, .66, .08, .26, .69, true},
    {"BT", .25, .61, .04, .08, .93, .17, .39, true},
    {"SRAD", .18, .01, .72, .07, .04, .61, .04, false},
    {"GEMM", .66, .21, .10, .01, .26, .34, .11, false},
    {"LUD", .26, .10, .45, .17, .06, .48, .17, false},
    {"STEN", .26, .10, .46, .16, .12, .46, .16, false},
    {"3MM", .86, .12, .00, .01, .53, .26, .01, false},
    {"BP", .44, .05, .48, .01, .41, .44, .04, false},
    {"DWT", .10, .00, .83, .05, .03, .82, .05, false},
    {"NN", .33, .07, .48, .10, .16, .55, .11, false},
}};

EabInputs inputs(const Benchmark& b) {
  const double mem = b.local_llc + b.remote_llc + b.local_memory + b.remote_memory;
  const double sm = b.sm_llc + b.sm_local_memory + b.sm_remote_memory;
  return {.b_intra = 16000,
          .b_inter = 768,
          .b_llc = 16000,
          .b_mem = 1750,
          .r_local = (b.local_llc + b.local_memory) / mem,
          .memory_side = {(b.local_llc + b.remote_llc) / mem, 1},
          .sm_side = {b.sm_llc / sm, 1}};
}

bool chooses_sm(const EabInputs& in) { return eab_sm_side(in).total() > 1.05 * eab_memory_side(in).total(); }

}  // namespace

TEST_CASE("on Fig. 10's locality and hit rates EAB makes the published choice for 15 of 16, all but 3DC") {
  for (const Benchmark& b : kFigure10) {
    CAPTURE(b.name);
    CHECK(chooses_sm(inputs(b)) == (b.prefers_sm && std::string(b.name) != "3DC"));
  }
}

TEST_CASE("3DC's published choice follows once its slices are less evenly used memory-side than SM-side") {
  // Even slices give SM-side 0.91 of memory-side's bandwidth: half the requests miss, and memory caps both alike.
  EabInputs in = inputs(kFigure10[5]);
  CHECK(eab_sm_side(in).total() / eab_memory_side(in).total() == doctest::Approx(0.91).epsilon(0.01));
  in.memory_side.lsu = 0.75;
  CHECK(chooses_sm(in));
}

TEST_CASE("every term of EAB on numbers worked out by hand") {
  const EabInputs in{.b_intra = 1000,
                     .b_inter = 100,
                     .b_llc = 800,
                     .b_mem = 200,
                     .r_local = 0.25,
                     .memory_side = {0.5, 0.5},
                     .sm_side = {0.75, 1.0}};
  const Eab m = eab_memory_side(in), s = eab_sm_side(in);
  CHECK(m.local.sm_llc == 1000);
  CHECK(m.local.llc_hit == 50);  // 800 x 0.5 x 0.5 x 0.25
  CHECK(m.local.llc_miss == 50);
  CHECK(m.local.llc_mem == std::numeric_limits<double>::infinity());
  CHECK(m.local.mem == 50);  // 200 x 0.25
  CHECK(m.local.value() == 100);
  CHECK(m.remote.sm_llc == 100);   // the links cap hits and misses alike
  CHECK(m.remote.value() == 100);  // of 150 + min(150, 150)
  CHECK(s.local.sm_llc == 250);
  CHECK(s.local.llc_hit == 150);  // 800 x 0.75 x 0.25
  CHECK(s.local.value() == 200);  // 150 + min(50, 50)
  CHECK(s.remote.sm_llc == 750);
  CHECK(s.remote.llc_mem == 100);  // the links cap misses only
  CHECK(s.remote.value() == 550);  // 450 + min(150, 100, 150)
  CHECK(m.total() == 200);
  CHECK(s.total() == 750);
}
