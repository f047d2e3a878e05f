#include "core/control/llc_warming.hpp"

#include <doctest/doctest.h>

#include "inputs/config/reader.hpp"
#include "partition/page_placement.hpp"

using namespace atl;

namespace {

/// Launches of 64 CTAs of one warp; CTA c of launch k loads sector k of line first[k] + c.
class Lines : public Workload {
 public:
  explicit Lines(std::vector<std::uint64_t> first) : first_(std::move(first)), kernels_(first_.size()) {
    for (KernelInfo& k : kernels_) k.grid[0] = 64;
  }
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    out.clear();
    out.ops.resize(2);
    out.ops[0].kind = OpKind::load, out.ops[0].accesses = 1, out.ops[1].kind = OpKind::exit;
    out.accesses.push_back(Access::make((first_[kernel] + cta) * Access::kBlockBytes, 1u << kernel));
    out.warps.push_back({0, 2});
    ++loaded;
  }
  std::size_t loaded = 0;

 private:
  std::vector<std::uint64_t> first_;
  std::vector<KernelInfo> kernels_;
};

/// Pages of 4 KB, 32 lines: even ones at chip 0, odd ones at chip 1.
std::uint8_t by_page(PageAddr page) { return page.value % 2; }

std::vector<std::uint64_t> numbers(const std::vector<std::uint64_t>& packed) {
  std::vector<std::uint64_t> out;
  for (const std::uint64_t p : packed) out.push_back(p >> 8);
  return out;
}

}  // namespace

TEST_CASE("every chip gets the lines whose home it is, each once with all its sectors, the latest last") {
  const Machine machine(read_system("sac-4chip", {"chips=2", "partition.page_kib=4"}));
  Lines w({0, 32});  // lines 0 to 63, then 32 to 95: pages 0 and 1, then 1 and 2
  const auto lines = LlcWarming(machine, w).lines(0, 2, by_page);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].size() == 64);  // pages 0 and 2
  CHECK(lines[1].size() == 32);  // page 1
  const auto first = numbers(lines[0]);
  CHECK(std::all_of(first.begin(), first.begin() + 32, [](std::uint64_t n) { return n < 32; }));
  CHECK(std::all_of(first.begin() + 32, first.end(), [](std::uint64_t n) { return n >= 64; }));
  CHECK(std::all_of(lines[1].begin(), lines[1].end(), [](std::uint64_t p) { return (p & 0xF) == 3; }));  // of both launches
}

TEST_CASE("launches are read backwards, and no further than until all slices are full") {
  // 16 lines in all slices of a chip.
  const Machine machine(read_system(
      "sac-4chip", {"chips=2", "partition.page_kib=4", "llc.slices=4", "llc.size_kib=2", "llc.ways=4", "dram.channels=4"}));
  Lines w({0, 1000, 2000, 3008});  // the last one: lines 3008 to 3071, pages 94 and 95
  const auto lines = LlcWarming(machine, w).lines(0, 4, by_page);
  CHECK(lines[0].size() == 16);
  CHECK(lines[1].size() == 16);
  CHECK(numbers(lines[0]).back() == 3039);  // CTAs of chip 0 are 0 to 31
  CHECK(numbers(lines[1]).back() == 3071);
  CHECK(w.loaded == 32);
}

TEST_CASE("pages without a home, and launches before the first, are left out") {
  const Machine machine(read_system("sac-4chip", {"chips=2", "partition.page_kib=4"}));
  Lines w({0, 32});
  const auto some = LlcWarming(machine, w).lines(1, 2, [](PageAddr page) { return page.value == 1 ? 1 : kUnknownHome; });
  CHECK(some[0].empty());
  CHECK(some[1].size() == 32);
  CHECK(w.loaded == 64);
}

TEST_CASE("the LLC is warmed only where a line has one place and stays there") {
  const auto possible = [](const std::vector<std::string>& sets) {
    return LlcWarming::possible(read_system("sac-4chip", sets));
  };
  CHECK(possible({}));
  CHECK_FALSE(possible({"llc.replication=private"}));
  CHECK_FALSE(possible({"coherence.protocol=hmg", "llc.organisation=sm_side"}));
}
