#include <H5Cpp.h>

#include "inputs/workload/selection.hpp"
#include "inputs/workload/workload_files.hpp"

#include "inputs/trace/accelsim_workload.hpp"
#include "inputs/trace/trace_workload.hpp"
#include "support.hpp"

namespace atl::test::selection_test {
namespace {

std::vector<std::size_t> chosen(const std::string& kernels, const std::vector<std::string>& names) {
  const WorkloadSelection s(kernels, "");
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (s.has_kernel(k, names[k])) out.push_back(k);
  return out;
}

TEST_CASE("kernels are chosen by number from 0, by range, and by name with wildcards, mangled or not; any of these") {
  const std::vector<std::string> names = {"_Z6conv2dPfS_", "gemm",        "_ZN12_GLOBAL__N_14convEi",
                                          "convert",       "_Z1kIfEvPT_", "gemm"};
  using List = std::vector<std::size_t>;
  CHECK(chosen("", names) == List{0, 1, 2, 3, 4, 5});
  CHECK(chosen("3", names) == List{3});
  CHECK(chosen("1-2,4-99", names) == List{1, 2, 4, 5});
  CHECK(chosen("name=gemm", names) == List{1, 5});
  CHECK(chosen("name=conv*", names) == List{0, 2, 3});
  CHECK(chosen("name=k<*>,0", names) == List{0, 4});
  CHECK(chosen("name=_Z6*", names) == List{0});
}

TEST_CASE("kernels are chosen by template arguments with brackets and commas, and a name of C is no type") {
  const std::vector<std::string> names = {"_Z6kernelIL4Mode1ELb1ELj4EEvPi", "_Z6kernelIL4Mode2ELb1ELj4EEvPi", "f"};
  using List = std::vector<std::size_t>;
  CHECK(chosen("name=kernel<*>", names) == List{0, 1});
  CHECK(chosen("name=kernel<(Mode)2, true, 4u>,name=f", names) == List{1, 2});
  CHECK(chosen("name=kernel", names) == List{0, 1});
  CHECK(chosen("name=float", names).empty());
}

TEST_CASE("chosen CTAs are counted and found, whatever the order and overlap of ranges, up to the grid's end") {
  const WorkloadSelection s("", "10-12,2,11-13,0");
  CHECK(s.count(100) == 6);
  CHECK(s.count(12) == 4);
  CHECK(s.count(1) == 1);
  std::vector<std::uint64_t> all;
  for (std::uint64_t n = 0; n < s.count(100); ++n) all.push_back(s.nth(n));
  CHECK(all == std::vector<std::uint64_t>{0, 2, 10, 11, 12, 13});
  CHECK(WorkloadSelection().count(7) == 7);
  CHECK(WorkloadSelection().nth(5) == 5);
}

TEST_CASE("what is no number, range or name is refused with the option and the item") {
  for (const char* bad : {"3-", "x", "5-3", "1,,2", "1,", "-1", "name", "18446744073709551616"}) {
    CAPTURE(bad);
    CHECK(message_of([&] { WorkloadSelection(bad, ""); }).starts_with("--kernels: "));
    CHECK(message_of([&] { WorkloadSelection("", bad); }).starts_with("--ctas: "));
  }
  CHECK(contains(message_of([] { WorkloadSelection("", "5-3"); }), "found '5-3'"));
}

const std::string kExit = "0ff0 ffffffff 0 EXIT 0 0 0";

/// A kernel of four CTAs; CTA c loads from block c.
std::string kernel(const std::string& name) {
  std::string text = header("5", "(2,2,1)");
  text.replace(text.find("= k\n") + 2, 1, name);
  for (const std::string id : {"0,0,0", "1,0,0", "0,1,0", "1,1,0"}) {
    const unsigned cta = (id[0] - '0') + 2u * (id[2] - '0');
    text += thread_block(
        id, warp(0, {"0010 ffffffff 1 R4 LDG.E 1 R2 4 1 0x" + std::to_string(1000 + 80 * cta) + " 4 0", kExit}));
  }
  return text;
}

TEST_CASE("a part of a workload is the same whether it is chosen when it is run or when it is imported") {
  const Scratch scratch;
  scratch.write("kernel-1.traceg", kernel("a"));
  scratch.write("kernel-2.traceg", kernel("b"));
  scratch.write("kernel-3.traceg", kernel("c"));
  const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\nkernel-2.traceg\nkernel-3.traceg\n");
  ImportOptions options;
  options.selection = {"1-9", "1,3-7"};
  const std::string text = "kernels 1-9: 2 of 3; CTAs 1,3-7 of each kernel";
  CHECK(import_accel_sim(list, scratch.path("part.h5"), options) == text);
  std::uint64_t first = 0;
  H5::H5File(scratch.path("part.h5"), H5F_ACC_RDONLY)
      .openGroup("/kernels/000001")
      .openAttribute("first_cta")
      .read(H5::PredType::NATIVE_UINT64, &first);
  CHECK(first == 1);
  AccelSimWorkload whole(list);
  TraceWorkload imported(scratch.path("part.h5"));
  const auto run = select(std::make_unique<AccelSimWorkload>(list), options.selection);
  for (Workload* w : {run.get(), static_cast<Workload*>(&imported)}) {
    CHECK(w->selection() == text);
    REQUIRE(w->kernels().size() == 2);
    CHECK(w->kernels()[0].name == "b");
    CHECK(w->kernels()[0].ctas() == 2);
    CHECK(w->kernels()[0].launched_ctas == 4);
    for (std::size_t k = 0; k < 2; ++k)
      for (const std::uint64_t cta : {0, 1}) {
        CtaProgram mine, original;
        w->load_cta(k, cta, mine);
        whole.load_cta(k + 1, cta == 0 ? 1 : 3, original);
        CHECK(same_warps(mine, original));
      }
  }
  const auto twice = select(select(std::make_unique<AccelSimWorkload>(list), options.selection), {"0", ""});
  CHECK(twice->selection() == text + "; of that kernels 0: 1 of 2");
  CHECK(workload_digest(list) != workload_digest(list, "1", ""));
  CHECK(workload_digest(list, "1", "") != workload_digest(list, "", "1"));
}

TEST_CASE("a choice of nothing is refused") {
  const Scratch scratch;
  scratch.write("kernel-1.traceg", kernel("a"));
  const std::string list = scratch.write("kernelslist.g", "kernel-1.traceg\n");
  ImportOptions options;
  options.selection = {"name=b*", ""};
  CHECK(contains(message_of([&] { import_accel_sim(list, scratch.path("o.h5"), options); }),
                 "--kernels: `name=b*` chooses none of the workload's 1 kernels"));
  CHECK(contains(message_of([&] {
                   select(std::make_unique<AccelSimWorkload>(list), {"", "4-" + std::string("9")});
                 }),
                 "--ctas: no kernel has a CTA 4"));
}

}  // namespace
}  // namespace atl::test::selection_test
