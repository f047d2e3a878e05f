#include <doctest/doctest.h>

#include "core/engine/error.hpp"
#include "tests/unit/inputs_workload/footprint.hpp"

namespace atl {
namespace {

/// The message without the file name, which is checked here.
std::string fault(const std::string& text) {
  std::string path;
  try {
    test::open_text(text, &path);
  } catch (const InputError& e) {
    CHECK(e.where() == path);
    return std::string(e.what()).substr(path.size() + 2);
  }
  return "accepted";
}

std::string region_fault(const std::string& keys) { return fault(test::one_region("", keys)); }

TEST_CASE("a mistyped key names its place and the nearest one") {
  CHECK(region_fault(R"("size_kb": 1)") ==
        "unknown key `kernels[0].regions[0].size_kb`, did you mean `kernels[0].regions[0].size_kib`?");
  CHECK(fault(R"({"kernels": [{"cta": 1, "regions": [{"name": "r"}]}]})") ==
        "unknown key `kernels[0].cta`, did you mean `kernels[0].ctas`?");
  CHECK(fault(R"({"kernel": []})") == "unknown key `kernel`, did you mean `kernels`?");
}

TEST_CASE("wrong types, ranges and words are refused") {
  CHECK(region_fault(R"("weight": "x")") == "`kernels[0].regions[0].weight` must be a number, not \"x\"");
  CHECK(region_fault(R"("sectors": 5)") == "`kernels[0].regions[0].sectors` = 5 is out of range: 1 to 4");
  CHECK(region_fault(R"("kind": "shared")") ==
        "`kernels[0].regions[0].kind` = \"shared\" is not one of: private, false_shared, true_shared, "
        "page_interleaved");
  CHECK(fault(R"({"kernels": {}})") == "`kernels` must be a list with at least one entry, not {}");
  CHECK(fault(R"({"kernels": [7]})") == "`kernels[0]` must be an object, not 7");
  CHECK(fault("{}") == "`kernels` is missing");
  CHECK(fault(R"({"kernels": [{"regions": []}]})") == "`kernels[0].regions` must be a list with at least one entry, not []");
}

TEST_CASE("contradictions are refused") {
  CHECK(region_fault(R"("stride_bytes": 200)") == "`kernels[0].regions[0].stride_bytes` is not a multiple of 128");
  CHECK(region_fault(R"("near_reuse": 0.5)") ==
        "`kernels[0].regions[0].near_reuse` or far_reuse needs pattern stream or strided");
  CHECK(region_fault(R"("pattern": "stream", "near_reuse": 0.6, "far_reuse": 0.6)") ==
        "`kernels[0].regions[0].far_reuse` and near_reuse exceed 1 together");
  CHECK(region_fault(R"("pattern": "stream", "near_reuse": 0.6, "warp_reuse": 0.6)") ==
        "`kernels[0].regions[0].warp_reuse` exceeds 1 together with near_reuse and far_reuse");
  for (const std::string key : {"warp_reuse", "phase", "skew_lines"})
    CHECK(region_fault("\"" + key + "\": 1") == "`kernels[0].regions[0]." + key + "` needs pattern stream or strided");
  CHECK(region_fault(R"("sectors": 2, "partial_lines": 0.5)") ==
        "`kernels[0].regions[0].sectors` must be 4 beside partial_lines, which says itself what is touched");
  CHECK(region_fault(R"("hot_moves_every": 5)") == "`kernels[0].regions[0].hot_moves_every` needs pattern hot_set");
  CHECK(region_fault(R"("stride_bytes": 4096)") == "`kernels[0].regions[0].stride_bytes` needs pattern strided");
  for (const std::string key : {"hot_fraction", "hot_probability"})
    CHECK(region_fault("\"" + key + "\": 0.5") == "`kernels[0].regions[0]." + key + "` needs pattern hot_set");
  CHECK(fault(R"({"kernels": [{"groups": 64, "regions": [{"name": "r", "kind": "private", "size_kib": 7}]}]})") ==
        "`kernels[0].regions[0].size_kib` gives some group not even one line");
  CHECK(region_fault(R"("write_fraction": 0.6, "atomic_fraction": 0.6)") ==
        "`kernels[0].regions[0].atomic_fraction` and write_fraction exceed 1 together");
  CHECK(region_fault(R"("write_fraction": 0.1, "read_only": true)") ==
        "`kernels[0].regions[0].read_only` contradicts write_fraction or atomic_fraction");
  CHECK(fault(R"({"kernels": [{"regions": [{"name": "a"}, {"name": "b", "read_only": true},
                  {"name": "b", "write_fraction": 0.5}]}]})") ==
        "`kernels[0].regions[1].read_only` contradicts another entry of `b` in this kernel, which writes it");
  CHECK(region_fault(R"("weight": 0)") == "`kernels[0].regions`: all weights are 0");
  CHECK(fault(R"({"kernels": [{"regions": [{}]}]})") == "`kernels[0].regions[0].name` is missing");
  CHECK(
      fault(R"({"kernels": [{"regions": [{"name": "r", "size_kib": 8}]}, {"regions": [{"name": "r", "size_kib": 16}]}]})") ==
      "`kernels[1].regions[0].size_kib` = 16, but `kernels[0].regions[0]` gives the same region 8 KiB");
  CHECK(
      fault(
          R"({"kernels": [{"memory_instructions": 1e6, "warps_per_cta": 32, "regions": [{"name": "r", "accesses": 32}]}]})")
          .find("too large") != std::string::npos);
}

TEST_CASE("a file that is not there, or no JSON, is an input error") {
  CHECK_THROWS_AS(open_parametric("/nonexistent/w.json"), InputError);
  CHECK(fault("{\"kernels\": [").find("malformed JSON") == 0);
}

}  // namespace
}  // namespace atl
