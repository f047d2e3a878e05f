#pragma once
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "inputs/ptx/exec.hpp"
#include "inputs/ptx/parser.hpp"

namespace atl::ptx {

/// A module on a device of its own, and memory that kernels may touch.
class Harness {
 public:
  explicit Harness(const std::string& text, const std::string& name = "test.ptx") : module_(parse(text, name)) {
    device.load(module_);
  }

  template <class T> std::uint64_t buffer(std::vector<T>& v, const std::string& name = "buffer") {
    const auto address = reinterpret_cast<std::uint64_t>(v.data());
    device.memory.add({address, v.size() * sizeof(T), name});
    return address;
  }

  LaunchSpec spec(const std::string& kernel, std::uint32_t grid, std::uint32_t block) const {
    LaunchSpec s;
    s.module = &module_, s.kernel = module_.find_function(kernel);
    s.grid = {grid, 1, 1}, s.block = {block, 1, 1};
    return s;
  }
  /// Puts each argument where the kernel's parameter lies.
  template <class... T> void set(LaunchSpec& s, T... value) const {
    const Function& f = module_.functions[s.kernel];
    s.params.assign(f.param_block, std::byte{0});
    std::size_t n = 0;
    ((std::memcpy(&s.params[f.params[n++].offset], &value, sizeof value)), ...);
  }
  template <class... T> LaunchStats run(const std::string& kernel, std::uint32_t grid, std::uint32_t block, T... value) {
    LaunchSpec s = spec(kernel, grid, block);
    set(s, value...);
    return execute(s, device);
  }
  const Module& module() const { return module_; }

  Device device;

 private:
  Module module_;
};

inline constexpr Schedule kSchedules[] = {Schedule::long_turns, Schedule::interleaved};

inline const std::string kHeader = ".version 9.0\n.target sm_90\n.address_size 64\n";

/// One thread per element: out[i] = body(a[i], b[i], c[i]). The body finds its operands in %a, %b, %c (of register type
/// `in`) and leaves the result in %d (of type `out`); elements in memory have the same types.
inline std::string elementwise(const std::string& out, const std::string& in, const std::string& body) {
  const auto bytes = [](const std::string& t) {
    return t.find("64") != std::string::npos ? "8" : t.find("16") != std::string::npos ? "2" : "4";
  };
  const std::string scale_in = bytes(in), scale_out = bytes(out);
  return kHeader + ".visible .entry k(.param .u64 po, .param .u64 pa, .param .u64 pb, .param .u64 pc)\n{\n" +
         ".reg .pred %p<8>; .reg .b16 %h<8>; .reg .b32 %r<16>; .reg .b64 %rd<16>; .reg .f32 %f<8>; .reg .f64 %fd<8>;\n" +
         ".reg ." + out + " %d; .reg ." + in + " %a, %b, %c;\n" +
         "ld.param.u64 %rd1,[po]; ld.param.u64 %rd2,[pa]; ld.param.u64 %rd3,[pb]; ld.param.u64 %rd4,[pc];\n" +
         "mov.u32 %r1,%tid.x; mov.u32 %r2,%ctaid.x; mov.u32 %r3,%ntid.x; mad.lo.s32 %r4,%r2,%r3,%r1;\n" +
         "mul.wide.s32 %rd5,%r4," + scale_in +
         "; add.s64 %rd6,%rd2,%rd5; add.s64 %rd7,%rd3,%rd5; add.s64 %rd8,%rd4,%rd5;\n" + "mul.wide.s32 %rd9,%r4," +
         scale_out + "; add.s64 %rd10,%rd1,%rd9;\n" + "ld.global." + in + " %a,[%rd6]; ld.global." + in +
         " %b,[%rd7]; ld.global." + in + " %c,[%rd8];\n" + body + "\nst.global." + out + " [%rd10],%d;\nret;\n}\n";
}

/// Runs elementwise() with bit patterns of type A and gives those of type D.
template <class D, class A>
std::vector<D> evaluate(const std::string& out, const std::string& in, const std::string& body, std::vector<A> a,
                        std::vector<A> b = {}, std::vector<A> c = {}) {
  Harness h(elementwise(out, in, body));
  b.resize(a.size()), c.resize(a.size());
  std::vector<D> d(a.size());
  const auto n = static_cast<std::uint32_t>(a.size());
  h.run("k", 1, n, h.buffer(d), h.buffer(a), h.buffer(b), h.buffer(c));
  return d;
}

/// What an execution that fails says.
template <class Run> std::string message(Run&& run) {
  try {
    run();
  } catch (const ExecutionError& e) {
    return e.what();
  }
  return "no error";
}

inline bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace atl::ptx
