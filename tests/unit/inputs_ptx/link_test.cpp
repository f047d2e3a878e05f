#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

namespace {

Module named(const std::string& name, const std::string& text) { return parse(kHeader + text, name); }

}  // namespace

TEST_CASE("external names find their definition in another module, and file-local names stay apart") {
  std::vector<Module> modules;
  modules.push_back(named("a", ".extern .func f();\n.extern .global .u32 shared_by_both;\n.global .u32 own = 1;\n" +
                                   kernel_text("",
                                               "call.uni f, ();\nst.global.u32 [shared_by_both], %r1;\n"
                                               "st.global.u32 [own], %r1;\nret;")));
  modules.push_back(named("b",
                          ".visible .global .u32 shared_by_both = 5;\n.global .u32 own = 2;\n"
                          ".visible .func f() { .reg .b32 %a; .shared .align 4 .b8 s[8]; ld.global.u32 %a, [own];\n"
                          "ld.shared.u32 %a, [s]; ret; }\n"));
  const Module m = link(std::move(modules));
  const Function &k = function(m, "k"), &f = function(m, "f");
  CHECK(f.defined);
  CHECK(&m.functions[k.calls.at(0).callee] == &f);
  CHECK(m.variables[k.code[1].src[0].index].init.at(0) == 5);
  CHECK(m.variables[k.code[2].src[0].index].init.at(0) == 1);
  CHECK(m.variables[f.code[0].src[0].index].init.at(0) == 2);
  CHECK(k.shared_bytes == 8);
}

TEST_CASE("of several weak definitions one remains, and a strong one wins") {
  std::vector<Module> modules;
  const auto text = [](const char* linkage, const char* body) {
    return std::string(linkage) + " .func f() { .reg .b32 %a; mov.u32 %a, " + body + "; ret; }\n";
  };
  modules.push_back(named("a", text(".weak", "1")));
  modules.push_back(named("b", text(".visible", "2")));
  modules.push_back(named("c", text(".weak", "3")));
  const Module m = link(std::move(modules));
  REQUIRE(m.functions.size() == 1);
  CHECK(m.functions[0].code[0].src[0].value == 2);
}

TEST_CASE("what is defined twice or never is named") {
  std::vector<Module> twice, never;
  for (const char* name : {"a", "b"}) twice.push_back(named(name, ".visible .global .u32 x = 5;\n"));
  CHECK_THROWS_WITH_AS(link(std::move(twice)), "b:4: 'x' is defined in another module too", atl::InputError);
  never.push_back(named("a", ".extern .global .u32 x;\n"));
  CHECK_THROWS_WITH_AS(link(std::move(never)), "a: no module defines the variable 'x'", atl::InputError);
}
