#include "inputs/workload/device_steps.hpp"

#include <doctest/doctest.h>

#include "core/engine/error.hpp"

using namespace atl;

namespace {

/// CTAs whose only access says which launch and which of its CTAs they are.
class Launches : public Workload {
 public:
  explicit Launches(std::vector<KernelInfo> kernels, std::uint32_t devices = 3)
      : kernels_(std::move(kernels)), devices_(devices) {}
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    out.clear();
    out.accesses.push_back(Access::make(128 * (100 * kernel + cta), 1));
  }
  DeviceMemories devices() const override { return {devices_, 1ull << 45, 1ull << 38}; }

 private:
  std::vector<KernelInfo> kernels_;
  std::uint32_t devices_;
};

KernelInfo launch(const char* name, std::uint32_t ctas, std::uint32_t device, std::uint64_t step) {
  KernelInfo info;
  info.name = name, info.grid[0] = ctas, info.block[0] = 64 * (device + 1), info.shared_bytes = 10 * device;
  info.place = {device, step};
  return info;
}

std::uint64_t access_of(Workload& w, std::size_t kernel, std::uint64_t cta) {
  CtaProgram program;
  w.load_cta(kernel, cta, program);
  return program.accesses[0].block();
}

}  // namespace

TEST_CASE("kernels that run together are named each once, also where one name is a part of another") {
  const auto joined = join_steps(
      std::make_unique<Launches>(std::vector{launch("add_2", 1, 0, 1), launch("add", 1, 1, 1), launch("add_2", 1, 2, 1)}),
      "t.h5");
  CHECK(joined->kernels()[0].name == "add_2 + add");
}

TEST_CASE("launches of one step are one kernel with a part for each device, and steps follow each other") {
  // Device 1 was given its second launch before device 0 got its first.
  const auto joined = join_steps(std::make_unique<Launches>(std::vector{launch("b", 3, 1, 5), launch("b", 2, 1, 7),
                                                                        launch("a", 4, 0, 5), launch("c", 1, 2, 9)}),
                                 "t.h5");
  const auto& kernels = joined->kernels();
  REQUIRE(kernels.size() == 3);
  CHECK(kernels[0].name == "a + b");
  CHECK(kernels[0].ctas() == 7);
  REQUIRE(kernels[0].parts.size() == 2);
  CHECK(kernels[0].parts[0].device == 0);
  CHECK(kernels[0].parts[1].device == 1);
  CHECK(kernels[0].parts[1].first == 4);
  CHECK(kernels[0].parts[1].ctas == 3);
  CHECK(kernels[0].parts[1].warps == 4);
  CHECK(kernels[0].parts[1].shared_bytes == 10);
  CHECK(access_of(*joined, 0, 3) == 203);
  CHECK(access_of(*joined, 0, 4) == 0);
  CHECK(access_of(*joined, 0, 6) == 2);
  CHECK(kernels[1].name == "b");
  CHECK(access_of(*joined, 1, 1) == 101);
  CHECK(kernels[2].parts[0].device == 2);
}

TEST_CASE("the same kernel on several devices keeps its name") {
  const auto joined =
      join_steps(std::make_unique<Launches>(std::vector{launch("halo", 4, 0, 1), launch("halo", 4, 1, 1)}), "t.h5");
  CHECK(joined->kernels()[0].name == "halo");
}

TEST_CASE("two launches of one device in one step cannot be") {
  CHECK_THROWS_WITH_AS(
      join_steps(std::make_unique<Launches>(std::vector{launch("a", 1, 1, 3), launch("b", 1, 1, 3)}), "t.h5"),
      "t.h5: launches 0 (a) and 1 (b) are of one device and of one step, 3", InputError);
}

TEST_CASE("a workload of one device stays as it is") {
  auto one = std::make_unique<Launches>(std::vector{launch("a", 1, 0, 0), launch("b", 1, 0, 0)}, 0);
  const Workload* before = one.get();
  CHECK(join_steps(std::move(one), "t.h5").get() == before);
}
