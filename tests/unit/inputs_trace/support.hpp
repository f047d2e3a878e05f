#pragma once
#include <doctest/doctest.h>
#include <unistd.h>

#include <bit>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "core/engine/error.hpp"
#include "inputs/trace/accelsim_kernel.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::test {

/// A folder of its own for a test, removed with everything in it.
class Scratch {
 public:
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "atoll-trace-XXXXXX").string();
    if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
    folder_ = name;
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  Scratch(const Scratch&) = delete;
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name), std::ios::binary) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

/// 32-byte sectors that the CTA's loads, stores and atomics touch: what the L1s see.
inline std::uint64_t count_sectors(const CtaProgram& cta) {
  std::uint64_t total = 0;
  for (const WarpOps& warp : cta.warps)
    for (std::uint32_t i = 0; i < warp.count; ++i) {
      const Op& op = cta.ops[warp.first + i];
      for (unsigned a = 0; a < op.accesses; ++a) total += std::popcount(cta.accesses[op.first_access + a].sectors());
    }
  return total;
}

inline std::string read_all(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The header has 11 lines; a body that follows begins in line 12.
inline std::string header(const std::string& version = "5", const std::string& grid = "(1,1,1)",
                          const std::string& block = "(32,1,1)", bool lineinfo = false) {
  return "-kernel name = k\n-kernel id = 1\n-grid dim = " + grid + "\n-block dim = " + block +
         "\n-shmem = 512\n-nregs = 20\n-shmem base_addr = 0x00007f0001000000\n-accelsim tracer version = " + version +
         "\n-enable lineinfo = " + (lineinfo ? "1" : "0") +
         "\n-local mem base_addr = 0x00007f0003000000\n#traces format = ...\n";
}

inline std::string warp(unsigned number, const std::vector<std::string>& lines) {
  std::string text = "warp = " + std::to_string(number) + "\ninsts = " + std::to_string(lines.size()) + "\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// The first instruction of the first warp stands 4 lines below the first line of the block.
inline std::string thread_block(const std::string& id, const std::string& warps) {
  return "#BEGIN_TB\nthread block = " + id + "\n" + warps + "#END_TB\n";
}

inline std::string one_warp(const std::vector<std::string>& lines, const std::string& version = "5", bool lineinfo = false) {
  return header(version, "(1,1,1)", "(32,1,1)", lineinfo) + thread_block("0,0,0", warp(0, lines));
}

/// The program of the only CTA of a kernel text.
inline CtaProgram convert(const std::string& text) {
  const Scratch scratch;
  accelsim::KernelFile file(scratch.write("kernel-1.traceg", text));
  CtaProgram program, more;
  std::uint64_t cta = 0;
  const bool first = file.next_cta(cta, program), second = file.next_cta(cta, more);  // outside the macros: these may throw
  REQUIRE(first);
  CHECK_FALSE(second);
  return program;
}

template <typename F> std::string message_of(F f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

inline bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline bool same(const CtaProgram& a, const CtaProgram& b) {
  const auto equal = [](const auto& x, const auto& y) {
    return x.size() == y.size() && (x.empty() || std::memcmp(x.data(), y.data(), x.size() * sizeof x[0]) == 0);
  };
  return equal(a.ops, b.ops) && equal(a.accesses, b.accesses) && equal(a.warps, b.warps);
}

/// Equal in what the warps do, wherever their ops and accesses lie.
inline bool same_warps(const CtaProgram& a, const CtaProgram& b) {
  const auto written_out = [](const CtaProgram& cta) {
    CtaProgram out;
    for (const WarpOps& warp : cta.warps) {
      out.warps.push_back({static_cast<std::uint32_t>(out.ops.size()), warp.count});
      for (std::uint32_t i = 0; i < warp.count; ++i) {
        Op op = cta.ops[warp.first + i];
        const auto first = cta.accesses.begin() + op.first_access;
        op.first_access = static_cast<std::uint32_t>(out.accesses.size());
        out.accesses.insert(out.accesses.end(), first, first + op.accesses);
        out.ops.push_back(op);
      }
    }
    return out;
  };
  return same(written_out(a), written_out(b));
}

}  // namespace atl::test
