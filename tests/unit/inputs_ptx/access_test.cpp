#include "inputs/ptx/access_analysis.hpp"

#include <algorithm>

#include "inputs/ptx/access_table.hpp"
#include "ptx_text.hpp"

using namespace atl::ptx;
using namespace atl::ptx::test;

namespace {

/// The fixture that nvcc made of pointers.cu: "in" and "in2" read, "out" and "out2" written.
struct Pointers {
  Module m = parse_fixture("pointers.ptx");
  std::vector<KernelAccess> all = analyse(m);

  const KernelAccess& of(const std::string& kernel) const {
    const std::uint32_t f = m.find_function(kernel);
    return *std::find_if(all.begin(), all.end(), [&](const KernelAccess& k) { return k.kernel == f; });
  }
  /// The kinds of the kernel's parameters, in order.
  std::string kinds(const std::string& kernel) const {
    std::string text;
    for (const DataObject& o : of(kernel).objects)
      if (o.parameter) text += std::string(text.empty() ? "" : " ") + name_of(o.kind);
    return text;
  }
  std::size_t marked(const std::string& kernel) const {
    const auto& loads = of(kernel).loads;
    return static_cast<std::size_t>(
        std::count_if(loads.begin(), loads.end(), [](const GlobalLoad& l) { return l.read_only; }));
  }
};

/// Kinds of the pointer parameters a and b (and c) of a kernel with this body; %rd1.. hold them, as global addresses.
std::string kinds_of(const std::string& body, const std::string& before = "") {
  Module m = parse_text(
      before + kernel_text(".param .u64 a, .param .u64 b, .param .u64 c",
                           "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nld.param.u64 %rd3, [c];\n" + body + "\nret;"));
  std::string text;
  for (const KernelAccess& k : analyse(m))
    for (const DataObject& o : k.objects)
      if (o.parameter) text += std::string(text.empty() ? "" : " ") + name_of(o.kind);
  return text;
}

}  // namespace

TEST_CASE("a pointer chosen by a condition reads, or writes, both") {
  const Pointers p;
  CHECK(p.kinds("chosen") == "read-only read-only written");
  CHECK(p.marked("chosen") == 1);
  CHECK(p.of("chosen").loads.at(0).objects == std::vector<std::uint32_t>{0, 1});
  CHECK(p.kinds("written_choice") == "written written read-only");
  CHECK(kinds_of("selp.b64 %rd4, %rd1, %rd2, %p1;\nst.global.u32 [%rd4], 0;\nld.global.u32 %r1, [%rd3];") ==
        "written written read-only");
}

TEST_CASE("a store through a pointer that was read from memory leaves nothing read-only") {
  const Pointers p;
  CHECK(p.kinds("from_memory") == "unknown unknown");
  CHECK(p.marked("from_memory") == 0);
  CHECK(p.of("from_memory").unknown_writes.size() == 1);
  CHECK(kinds_of("ld.global.u64 %rd4, [%rd1];\nld.global.u32 %r1, [%rd4];\nst.global.u32 [%rd2], 0;") ==
        "read-only written no access");  // a read through it does no harm
}

TEST_CASE("a function that is called, by name or through a pointer, writes for its caller") {
  const Pointers p;
  CHECK(p.kinds("through_a_call") == "read-only written");
  CHECK(p.marked("through_a_call") == 1);
  CHECK(p.kinds("through_a_pointer") == "read-only written");
  CHECK(p.kinds("structure_through_a_call") == "read-only written no access");
  const std::string call = "{ .param .b64 x; st.param.b64 [x+0], %rd1; call.uni unknown_function, (x); }";
  CHECK(kinds_of(call + "ld.global.u32 %r1, [%rd2];", ".extern .func unknown_function(.param .b64 x);\n") ==
        "no access unknown no access");
}

TEST_CASE("pointers in a structure are told apart") {
  const Pointers p;
  CHECK(p.kinds("structure") == "read-only written no access");
  CHECK(p.of("structure").objects.at(1).offset == 8);
}

TEST_CASE("pointers that move along in a loop, or change places, are followed") {
  const Pointers p;
  CHECK(p.kinds("loop") == "read-only written");
  CHECK(p.marked("loop") == 2);
  CHECK(p.kinds("swapped") == "written written");
  CHECK(kinds_of("mov.u64 %rd4, %rd1;\nL:\nst.global.u32 [%rd4], 0;\nmov.u64 %rd4, %rd5;\nmov.u64 %rd5, %rd2;\n@%p1 bra L;\n"
                 "ld.global.u32 %r1, [%rd3];") == "written written read-only");
}

TEST_CASE("aliases by arithmetic, generic addresses and bit operations lead to the same structure") {
  CHECK(kinds_of("cvta.to.global.u64 %rd4, %rd1;\nadd.s64 %rd5, %rd4, 64;\nand.b64 %rd6, %rd5, -16;\n"
                 "st.global.f32 [%rd6+4], %f1;\nld.u32 %r1, [%rd2];") == "written read-only no access");
  CHECK(kinds_of("mad.wide.s32 %rd4, %r1, 4, %rd1;\natom.global.add.u32 %r2, [%rd4], 1;\nred.add.f32 [%rd2], %f1;") ==
        "atomic atomic no access");
}

TEST_CASE("pointers survive local and shared memory") {
  const Pointers p;
  CHECK(p.kinds("spilled") == "read-only read-only written");
  CHECK(p.marked("spilled") == 1);
  CHECK(kinds_of(".shared .align 8 .b8 s[64];\nst.shared.u64 [s], %rd1;\nld.shared.u64 %rd4, [s+8];\n"
                 "st.global.u32 [%rd4], 0;\nld.global.u32 %r1, [%rd2];") == "written read-only no access");
  CHECK(kinds_of(".local .align 8 .b8 d[16];\nmov.u64 %rd9, d;\nst.local.u64 [%rd9], %rd1;\nst.local.u64 [%rd9+8], %rd2;\n"
                 "ld.local.u64 %rd4, [%rd9+8];\nst.global.u32 [%rd4], 0;\nld.global.u32 %r1, [%rd1];") ==
        "read-only written no access");
}

TEST_CASE("a pointer put together of pieces from memory may be any") {
  CHECK(kinds_of("ld.global.v2.u32 {%r1, %r2}, [%rd1];\nmov.b64 %rd4, {%r1, %r2};\nst.global.u32 [%rd4], 0;") ==
        "unknown no access no access");
  CHECK(kinds_of("ld.global.v2.u32 {%r1, %r2}, [%rd1];\ncvt.u64.u32 %rd4, %r1;\ncvt.u64.u32 %rd5, %r2;\n"
                 "shl.b64 %rd5, %rd5, 32;\nor.b64 %rd4, %rd4, %rd5;\nst.global.u32 [%rd4], 0;") ==
        "unknown no access no access");
  CHECK(kinds_of(".local .align 8 .b8 d[8];\nld.global.v2.u32 {%r1, %r2}, [%rd1];\nst.local.v2.u32 [d], {%r1, %r2};\n"
                 "ld.local.u64 %rd4, [d];\nst.global.u32 [%rd4], 0;") == "unknown no access no access");
}

TEST_CASE("an index from memory does not make its structure a target") {
  const Pointers p;
  CHECK(p.kinds("index_from_memory") == "read-only read-only written");
  CHECK(p.kinds("counted") == "read-only atomic");
}

TEST_CASE("volatile loads, and loads of what a number points to, stay unmarked") {
  Module m = parse_text(kernel_text(".param .u64 a",
                                    "ld.param.u64 %rd1, [a];\nld.volatile.global.u32 %r1, [%rd1];\n"
                                    "ld.global.u32 %r1, [64];\nld.global.u32 %r1, [%rd1];\nret;"));
  analyse(m);
  const auto& code = m.functions[0].code;
  CHECK_FALSE(code[1].read_only);
  CHECK_FALSE(code[2].read_only);
  CHECK(code[3].read_only);
}

TEST_CASE("a load in a shared function is marked only if all kernels agree") {
  const std::string get =
      ".func get(.param .b64 x) { .reg .b64 %a; .reg .b32 %v; ld.param.b64 %a, [x]; ld.global.u32 %v, [%a]; ret; }\n";
  const std::string call = "ld.param.u64 %rd1, [a];\n{ .param .b64 x; st.param.b64 [x], %rd1; call.uni get, (x); }\n";
  Module one = parse_text(get + kernel_text(".param .u64 a", call));
  analyse(one);
  CHECK(function(one, "get").code[1].read_only);
  Module two = parse_text(get + kernel_text(".param .u64 a", call) +
                          kernel_text(".param .u64 a", call + "st.global.u32 [%rd1], 0;", "writer"));
  const auto all = analyse(two);
  CHECK_FALSE(function(two, "get").code[1].read_only);
  CHECK(all.at(0).loads.at(0).read_only);
  CHECK_FALSE(all.at(1).loads.at(0).read_only);
}

TEST_CASE("two parameters in one allocation are read-only only if neither is written") {
  const Pointers p;
  const KernelAccess& k = p.of("chosen");  // in, in2, out
  CHECK(read_only_at_launch(k, {1, 2, 3}) == std::vector<bool>{true});
  CHECK(read_only_at_launch(k, {1, 1, 3}) == std::vector<bool>{true});
  CHECK(read_only_at_launch(k, {1, 3, 3}) == std::vector<bool>{false});
  CHECK(read_only_at_launch(p.of("from_memory"), {1, 2}) == std::vector<bool>{false, false});
}

TEST_CASE("the table names each structure with its kind and lines") {
  Module m = parse_text(".global .u32 seen;\n" +
                        kernel_text(".param .u64 k_param_0, .param .u32 n, .param .u64 k_param_2",
                                    "ld.param.u64 %rd1, [k_param_0];\nld.param.u64 %rd2, [k_param_2];\n"
                                    "ld.global.u32 %r1, [%rd1];\nst.global.u32 [%rd2], %r1;\nst.global.u32 [%rd2+4], %r1;\n"
                                    "atom.global.add.u32 %r2, [seen], 1;\nret;"));
  CHECK(access_table(m, analyse(m).at(0)) ==
        "kernel k (line 5, about 16 registers)\n"
        "  parameter  param_0    read-only  read 9\n"
        "  parameter  param_2    written    write 10 11\n"
        "  variable   seen       atomic     atomic 12\n"
        "  1 of 1 global loads are read-only\n");
}
