#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <set>

#include "core/engine/error.hpp"
#include "inputs/sampling/sampling_plan.hpp"

using namespace atl;
using S = LaunchSignature;

namespace {

LaunchSignature signature(std::string kind, double instructions, double fresh = 0) {
  LaunchSignature s;
  s.kind = std::move(kind);
  s.amount.fill(1000);
  s.amount[S::instructions] = instructions;
  s.part[S::fresh] = fresh;
  return s;
}

using Clusters = std::vector<std::uint32_t>;

Clusters clusters(const std::vector<LaunchSignature>& launches) {
  LaunchClusters of;
  Clusters out;
  for (const LaunchSignature& s : launches) out.push_back(of.add(s));
  return out;
}

/// Kernels of four CTAs of one warp, which reads a line and computes; each launch as its row says.
class RowsWorkload : public Workload {
 public:
  struct Row {
    std::uint64_t first_line;
    std::uint16_t computes;
    bool writes = false;
    std::uint32_t threads = 32, registers = 0, shared_bytes = 0;
  };
  explicit RowsWorkload(std::vector<Row> rows) : rows_(std::move(rows)) {
    kernels_.resize(rows_.size());
    for (std::size_t k = 0; k < rows_.size(); ++k) {
      KernelInfo& info = kernels_[k];
      info.name = "k", info.grid[0] = 400, info.block[0] = rows_[k].threads;
      info.registers_per_thread = rows_[k].registers, info.shared_bytes = rows_[k].shared_bytes;
    }
  }
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    const Row& row = rows_[kernel];
    out.clear();
    out.ops.push_back({.issue = row.computes, .kind = OpKind::compute});
    out.ops.push_back({.kind = row.writes ? OpKind::store : OpKind::load, .accesses = 1});
    out.ops.push_back({.kind = OpKind::exit});
    out.accesses.push_back(Access::make((row.first_line + cta) * Access::kBlockBytes, 3));
    out.warps.push_back({0, 3});
  }

 private:
  std::vector<Row> rows_;
  std::vector<KernelInfo> kernels_;
};

/// Launches of one kernel; CTA c of launch k has `computes(k, c)` instructions, and as many CTAs as `grid(k)`.
class ComputesWorkload : public Workload {
 public:
  using Computes = std::function<std::uint16_t(std::size_t, std::uint64_t)>;
  ComputesWorkload(const std::vector<std::uint32_t>& grids, Computes computes)
      : kernels_(grids.size()), computes_(std::move(computes)) {
    for (std::size_t k = 0; k < grids.size(); ++k) kernels_[k].name = "k", kernels_[k].grid[0] = grids[k];
  }
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    out.clear();
    out.ops.push_back({.issue = computes_(kernel, cta), .kind = OpKind::compute});
    out.warps.push_back({0, 1});
  }

 private:
  std::vector<KernelInfo> kernels_;
  Computes computes_;
};

}  // namespace

TEST_CASE("launches of another name, block, registers or shared memory are of another cluster") {
  CHECK(clusters({signature("a", 1000), signature("b", 1000), signature("a", 1000)}) == Clusters{0, 1, 0});
  RowsWorkload w({{.first_line = 0, .computes = 7},
                  {.first_line = 0, .computes = 7},
                  {.first_line = 0, .computes = 7, .threads = 64},
                  {.first_line = 0, .computes = 7, .registers = 40},
                  {.first_line = 0, .computes = 7, .shared_bytes = 1024}});
  SignatureReader reader(w);
  std::vector<std::string> kinds;
  for (int i = 0; i < 5; ++i) kinds.push_back(reader.next().kind);
  CHECK(kinds[0] == kinds[1]);
  CHECK(std::set<std::string>(kinds.begin(), kinds.end()).size() == 4);
}

TEST_CASE("amounts may differ by a factor of 1.35 from the cluster's first launch, up and down") {
  CHECK(clusters({signature("a", 1000), signature("a", 1340), signature("a", 1360), signature("a", 745),
                  signature("a", 735)}) == Clusters{0, 0, 1, 0, 2});
}

TEST_CASE("a launch goes to the first cluster that it is like, not to the nearest") {
  CHECK(clusters({signature("a", 1000), signature("a", 1700), signature("a", 1330)}) == Clusters{0, 1, 0});
}

TEST_CASE("launches that find their data cold are not like those that have seen it") {
  CHECK(clusters({signature("a", 1000, 1), signature("a", 1000, 0), signature("a", 1000, 0.1)}) == Clusters{0, 1, 1});
}

TEST_CASE("a signature counts what 256 of 400 CTAs do, scaled to all, and follows lines from launch to launch") {
  RowsWorkload w({{0, 7}, {0, 7}, {100000, 7, true}, {0, 7}});
  SignatureReader reader(w);
  const LaunchSignature a = reader.next(), b = reader.next(), c = reader.next(), d = reader.next();
  CHECK(a.amount[S::ctas] == 400);
  CHECK(a.amount[S::instructions] == 400 * 9);
  CHECK(a.amount[S::loads] == 400);
  CHECK(a.amount[S::sectors] == 800);
  CHECK(c.amount[S::stores] == 400);
  CHECK(a.amount[S::lines] > 256 / SignatureReader::kLinesPerChosen / 2);
  CHECK(a.amount[S::lines] == b.amount[S::lines]);
  CHECK(c.amount[S::written] == c.amount[S::lines]);
  CHECK(a.amount[S::written] == 0);
  CHECK(a.part[S::fresh] == 1);
  CHECK(b.part[S::fresh] == 0);
  CHECK(b.part[S::recent] == 1);
  CHECK(c.part[S::fresh] == 1);
  CHECK(d.part[S::fresh] == 0);
  CHECK(d.part[S::recent] == 0);
}

TEST_CASE("the plan has the launches' instructions as work, and the last launch alone if it does more than its like") {
  RowsWorkload w({{0, 7}, {0, 7}, {0, 7}});
  const SamplingPlan plan = make_sampling_plan(w, {}, false), last = make_sampling_plan(w, {}, true);
  CHECK(plan.cluster == Clusters{0, 1, 1});  // the first is cold
  CHECK(plan.clusters == 2);
  CHECK(plan.work == std::vector<double>{3600, 3600, 3600});
  CHECK(last.cluster == Clusters{0, 1, 2});
  CHECK(last.clusters == 3);
}

TEST_CASE("launches that differ in CTAs whose places have a period are told apart") {
  for (const std::uint64_t period : {2u, 4u, 16u}) {
    ComputesWorkload w({1024, 1024, 1024, 1024}, [=](std::size_t k, std::uint64_t c) {
      return static_cast<std::uint16_t>(k == 2 && c % period == period - 1 ? 2000 : 100);
    });
    CHECK(make_sampling_plan(w, {}, false).cluster == Clusters{0, 0, 1, 0});
  }
}

TEST_CASE("work has an error where CTAs were not read, but for what launches of a grid have in common") {
  // One CTA in 8 of launch 2 has 10 % more. CTAs of launch 3 are a fifth longer each; launch 4 has a CTA more.
  ComputesWorkload w({1024, 1024, 1024, 1024, 1025}, [](std::size_t k, std::uint64_t c) {
    const std::uint64_t computes = 1000 + c * 7919 % 13 * 100;
    return static_cast<std::uint16_t>(k == 2 && c % 8 == 0 ? computes * 11 / 10 : k == 3 ? computes * 6 / 5 : computes);
  });
  const SamplingPlan plan = make_sampling_plan(w, {}, false);
  REQUIRE(plan.cluster == Clusters{0, 0, 0, 0, 0});
  const double least = 0.35 / 257 * std::sqrt(0.75);
  CHECK(plan.work_error[1] / plan.work[1] == doctest::Approx(least).epsilon(0.001));
  CHECK(plan.work_error[3] / plan.work[3] == doctest::Approx(least).epsilon(0.001));
  // sd sqrt(1/8 x 7/8) x 160 of 1600 in one CTA, of 256 of 1024.
  CHECK(plan.work_error[2] / plan.work[2] == doctest::Approx(0.1 * 0.33 / 16 * std::sqrt(0.75)).epsilon(0.3));
  // sd 374 of 1600, in both launches.
  CHECK(plan.work_error[4] / plan.work[4] == doctest::Approx(0.234 / 16 * std::sqrt(0.75 * 2)).epsilon(0.2));

  ComputesWorkload few({256, 256, 200},
                       [](std::size_t k, std::uint64_t c) { return static_cast<std::uint16_t>(1000 + (c + k) % 7 * 100); });
  CHECK(make_sampling_plan(few, {}, false).work_error == std::vector<double>{0, 0, 0});
}

TEST_CASE("--sample takes percentages, and names what it does not know") {
  CHECK_THROWS_WITH(SamplingOptions::parse("error=3%,error=5%", "--sample"), "--sample: `error` is given twice");
  const SamplingOptions o = SamplingOptions::parse("error=2.5%,confidence=99%");
  CHECK(o.error == doctest::Approx(0.025));
  CHECK(o.confidence == doctest::Approx(0.99));
  CHECK(o.text() == "error=2.5%,confidence=99%,early=yes,warm=yes");
  CHECK(SamplingOptions::parse("").text() == "error=3%,confidence=95%,early=yes,warm=yes");
  CHECK_THROWS_WITH_AS(SamplingOptions::parse("error=3"), doctest::Contains("`error` is a percentage from 0.1% to 50%"),
                       InputError);
  CHECK_THROWS_WITH_AS(SamplingOptions::parse("error=nan%"), doctest::Contains("not 'nan%'"), InputError);
  CHECK_THROWS_WITH_AS(SamplingOptions::parse("speed=3%"), doctest::Contains("knows no key `speed`"), InputError);
}
