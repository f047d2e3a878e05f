#include "inputs/ptx/cfg.hpp"
#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

TEST_CASE("a branch over a block reconverges at the label behind it") {
  const Function f = parse_body("@%p1 bra DONE;\nadd.s32 %r1, %r1, 1;\nDONE:\nmov.u32 %r2, 0;\nret;");
  CHECK(f.code[0].target == 2);
  CHECK(f.code[0].reconverge == 2);
}

TEST_CASE("an if with an else reconverges behind both") {
  const Function f = parse_body("@%p1 bra ELSE;\nmov.u32 %r1, 1;\nbra END;\nELSE:\nmov.u32 %r1, 2;\nEND:\nret;");
  CHECK(f.code[0].target == 3);
  CHECK(f.code[0].reconverge == 4);
  CHECK(f.code[2].reconverge == kNone);  // no guard, nothing to reconverge
}

TEST_CASE("a loop with a break reconverges where both ways out meet") {
  const Function f =
      parse_body("LOOP:\n@%p1 bra OUT;\nadd.s32 %r1, %r1, 1;\n@%p2 bra LOOP;\nmov.u32 %r2, 1;\nOUT:\nmov.u32 %r3, 1;\nret;");
  CHECK(f.code[0].reconverge == 4);
  CHECK(f.code[2].target == 0);
  CHECK(f.code[2].reconverge == 4);  // whoever goes round may leave by the break
}

TEST_CASE("an early return of some threads does not keep the others from meeting") {
  const Function f =
      parse_body("@%p1 bra A;\nmov.u32 %r1, 1;\nbra B;\nA:\n@%p2 ret;\n@%p3 bra B;\nret;\nB:\nbar.sync 0;\nret;");
  CHECK(f.code[0].reconverge == 6);
  CHECK(f.code[4].reconverge == 6);
}

TEST_CASE("a branch without a way to the end reconverges nowhere") {
  const Function f = parse_body("@%p1 bra A;\nL:\nbra L;\nA:\nret;");
  CHECK(f.code[0].reconverge == 2);  // whoever gets on, gets there
  const Function g = parse_body("L:\n@%p1 bra L;\ntrap;");
  CHECK(g.code[0].reconverge == 1);
}

TEST_CASE("a loop that all of it may leave by a failed assertion still meets on the way to its return") {
  const std::string fail = "FAIL:\ntrap;\n";
  // 0 to 4: round by round, some lanes work, all meet at 3, and any may fail; 5 returns.
  const std::string loop =
      "LOOP:\n@%p1 bra MEET;\nadd.s32 %r1, %r1, 1;\n@%p2 bra FAIL;\nMEET:\n@%p3 bra FAIL;\n@%p4 bra LOOP;\nret;\n";
  CHECK(parse_body(loop + fail).code[0].reconverge == 3);
  CHECK(parse_body(loop + "FAIL:\nbra MORE;\nMORE:\ntrap;\n").code[0].reconverge == 3);
  // A call that does not come back has no `ret` behind it; one that does has.
  const auto calling = [&](const std::string& end) {
    const std::string text = ".extern .func no_way_back();\n" + kernel_text("", loop + "FAIL:\nbra MORE;\nMORE:\n" + end);
    return function(parse_text(text), "k");
  };
  CHECK(calling("call.uni no_way_back;").gives_up_at_end);
  CHECK(calling("call.uni no_way_back;").code[0].reconverge == 3);
  CHECK_FALSE(calling("call.uni no_way_back; ret;").gives_up_at_end);
}

TEST_CASE("a branch table reconverges behind all its cases") {
  const Function f = parse_body(
      "table: .branchtargets A, B, A;\nbrx.idx %r1, table;\nA:\nmov.u32 %r1, 1;\nbra END;\nB:\nmov.u32 %r1, 2;\nEND:\nret;");
  REQUIRE(f.branch_tables.size() == 1);
  CHECK(f.branch_tables[0] == std::vector<std::uint32_t>{1, 3, 1});
  CHECK(f.code[0].reconverge == 4);
}

TEST_CASE("labels of inner scopes are their own, and a label at the end gets an instruction") {
  const Function f = parse_body("{ @%p1 bra L; mov.u32 %r1, 1; L: }\n{ @%p1 bra L; mov.u32 %r1, 2; L: }");
  CHECK(f.code[0].target == 2);
  CHECK(f.code[2].target == 4);
  REQUIRE(f.code.size() == 5);
  CHECK(f.code[4].op == Op::ret);
}
