#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

namespace {

/// Lines 7 to 11 of the text; nvcc writes files behind all functions.
std::string with_source(const std::string& kernel, const std::string& file) {
  return kernel_text("",
                     ".loc 1 9 3\nadd.s32 %r1, %r2, %r3;\n"
                     ".loc 2 5 3, function_name $L__info_string0, inlined_at 1 10 4\n"
                     ".loc 2 2 3, function_name $L__info_string1+7, inlined_at 2 5 3\nret;",
                     kernel) +
         kernel_text("", "ret;", "plain_" + kernel) + ".file 1 \"/somewhere/" + file +
         "\"\n.file 2 \"part.cuh\", 123, 456\n";
}

}  // namespace

TEST_CASE("a line of PTX is told with the line of the source, where the compiler says which") {
  const Module m = parse_text(with_source("k", "k.cu"));
  const Function &k = function(m, "k"), &plain = function(m, "plain_k");
  CHECK(m.lines.place(5) == "test.ptx:5");
  CHECK(m.lines.place(k.code[0].line) == "k.cu:9, test.ptx:7");
  CHECK(m.lines.place(k.code[1].line) == "part.cuh:2 (inlined at k.cu:10), test.ptx:10");
  CHECK(m.lines.place(plain.code[0].line) == "test.ptx:" + std::to_string(plain.code[0].line));
  CHECK(m.lines.short_place(10) == "10");
}

TEST_CASE("lines of linked modules are those of their own texts and sources") {
  std::vector<Module> modules;
  for (const char* name : {"a", "b"}) modules.push_back(parse(kHeader + with_source(name, name + std::string(".cu")), name));
  const Module m = link(std::move(modules));
  const std::uint32_t first = function(m, "a").code[0].line, second = function(m, "b").code[0].line;
  CHECK(first != second);
  CHECK(m.lines.place(first) == "a.cu:9, a:7");
  CHECK(m.lines.place(second) == "b.cu:9, b:7");
  CHECK(m.lines.place(function(m, "b").code[1].line) == "part.cuh:2 (inlined at b.cu:10), b:10");
  CHECK(m.lines.short_place(second) == "b:7");
}

TEST_CASE("line tables that say nothing sensible do no harm") {
  for (const char* loc : {".loc", ".loc 1", ".loc 7 3 1", ".loc 1 0 0", ".loc 99999999999999999999 1 1", ".loc x y z",
                          ".loc 1 3 1, inlined_at", ".loc 1 3 1, function_name f, inlined_at 9 9"}) {
    CAPTURE(loc);
    const Module m =
        parse_text(kernel_text("", std::string(loc) + "\nret;") + ".file 1 \"k.cu\"\n.file 4294967295 \"x\"\n.file\n");
    const std::string place = m.lines.place(function(m, "k").code.at(0).line);
    CHECK((place == "test.ptx:7" || place == "k.cu:3, test.ptx:7"));
  }
}
