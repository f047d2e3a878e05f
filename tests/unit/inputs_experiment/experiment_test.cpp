#include "inputs/experiment/experiment.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "core/engine/error.hpp"

namespace atl {
namespace {

/// A folder with an experiment and two workloads.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "atoll-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
    std::filesystem::create_directory(path_ + "/w");
    write("w/a.json", R"({"kernels": [{"regions": [{"name": "r"}]}]})");
    write("w/stencil.json", R"({"kernels": [{"regions": [{"name": "r"}]}]})");
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ + "/" + name) << text;
    return path_ + "/" + name;
  }
  Experiment read(const std::string& text) const { return read_experiment(write("e.json", text)); }
  /// The message without the file name.
  std::string fault(const std::string& text) const {
    try {
      read(text);
    } catch (const InputError& e) {
      return std::string(e.what()).substr((*this / "e.json: ").size());
    }
    return "accepted";
  }

 private:
  std::string path_;
};

/// Two workloads and two variants, with `more` keys.
std::string two_by_two(const std::string& more = "", const std::string& first = R"("a", "path": "w/a.json")") {
  return R"({"system": "sac-4chip", "set": {"llc.ways": 8}, "workloads": [{"name": )" + first +
         R"(, "group": "G"}, {"name": "s", "path": "w/stencil.json"}],
            "variants": [{"name": "mem"}, {"name": "sm", "set": {"llc.organisation": "sm_side", "llc.ways": 32}}])" +
         more + "}";
}

std::vector<std::string> names(const Experiment& e) {
  std::vector<std::string> out;
  for (const Point& p : expand(e)) out.push_back(p.name);
  return out;
}

std::string config_value(const Experiment& e, std::size_t point, const char* pointer) {
  return nlohmann::json::parse(effective_config(e, expand(e)[point])).at(nlohmann::json::json_pointer(pointer)).dump();
}

TEST_CASE("points are all workloads on all variants, workload by workload") {
  const Folder f;
  CHECK(names(f.read(two_by_two())) == std::vector<std::string>{"a__mem", "a__sm", "s__mem", "s__sm"});
}

TEST_CASE("a variant's setting wins over the experiment's, and the scale is part of the configuration") {
  const Folder f;
  const Experiment e = f.read(two_by_two(R"(, "scale": 4)"));
  CHECK(config_value(e, 0, "/llc/ways") == "8");
  CHECK(config_value(e, 0, "/llc/organisation") == "\"memory_side\"");
  CHECK(config_value(e, 1, "/llc/ways") == "32");
  CHECK(config_value(e, 1, "/llc/organisation") == "\"sm_side\"");
  CHECK(config_value(e, 0, "/scale") == "4");
  const Experiment swept = f.read(two_by_two(R"(, "scale": 4, "sweeps": [{"key": "scale", "values": [1, 2]}])"));
  CHECK(config_value(swept, 0, "/scale") == "1");
  CHECK(config_value(swept, 1, "/scale") == "2");
}

TEST_CASE("an experiment's scale is that of all points, 1 too; without one it is the system's") {
  const Folder f;
  f.write("eighth.json", R"({"base": "sac-4chip", "scale": 8})");
  const auto scale = [&](const char* given) {
    const Experiment e = f.read(R"({"system": "eighth.json", )" + std::string(given) + R"("workloads": [{"name": "a",
      "path": "w/a.json"}], "variants": [{"name": "x"}]})");
    f.write("copy.json", to_json(e, f / ""));
    CHECK(config_value(read_experiment(f / "copy.json"), 0, "/scale") == config_value(e, 0, "/scale"));
    return config_value(e, 0, "/scale");
  };
  CHECK(scale("") == "8");
  CHECK(scale(R"("scale": 1, )") == "1");
  CHECK(scale(R"("scale": 2, )") == "2");
  CHECK(scale(R"("set": {"scale": 4}, )") == "4");
  CHECK(f.fault(R"({"system": "sac-4chip", "scale": 4, "set": {"scale": 8}, "workloads": [{"name": "a",
    "path": "w/a.json"}], "variants": [{"name": "x"}]})") == "`scale` and `set.scale` set one key; use one of them");
}

TEST_CASE("a workload's setting wins over the experiment's, and a variant's over both; another file keeps it") {
  const Folder f;
  std::filesystem::create_directory(f / "out");
  const Experiment e = f.read(two_by_two("", R"("a", "path": "w/a.json", "set": {"llc.ways": 4, "llc.size_kib": 2048})"));
  f.write("out/copy.json", to_json(e, f / "out"));
  for (const Experiment& one : {e, read_experiment(f / "out/copy.json")}) {
    CHECK(config_value(one, 0, "/llc/ways") == "4");
    CHECK(config_value(one, 0, "/llc/size_kib") == "2048");
    CHECK(config_value(one, 1, "/llc/ways") == "32");
    CHECK(config_value(one, 1, "/llc/size_kib") == "2048");
    CHECK(config_value(one, 2, "/llc/ways") == "8");
    CHECK(config_value(one, 2, "/llc/size_kib") == "4096");
  }
  CHECK(f.fault(two_by_two("", R"("a", "path": "w/a.json", "set": 3)"))
            .find("`workloads[0].set` must be an object of configuration keys and values") == 0);
}

TEST_CASE("a sweep's axis multiplies the variants, each with the baseline at its own place of the axis") {
  const Folder f;
  const Experiment e = f.read(two_by_two(R"(, "sweeps": [{"key": "link.bandwidth_gbps", "values": [48, 96.5]},
                                        {"key": "sm.scheduler", "values": ["gto"]}])"));
  REQUIRE(e.variants.size() == 4);
  CHECK(e.variants[3].name == "sm_bandwidth_gbps-96.5_scheduler-gto");
  CHECK(e.variants[3].baseline == "mem_bandwidth_gbps-96.5_scheduler-gto");
  CHECK(e.variants[2].baseline == e.variants[0].name);
  CHECK(config_value(e, 3, "/link/bandwidth_gbps") == "96.5");
}

TEST_CASE("axes that multiply to more variants than memory holds are refused") {
  const Folder folder;
  std::string axes;
  for (const char* key : {"chips", "sm.count", "sm.warps", "llc.slices", "dram.channels"})
    axes += fmt::format(R"({}{{"key": "{}", "values": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]}})", axes.empty() ? "" : ", ", key);
  CHECK(folder.fault(two_by_two(", \"sweeps\": [" + axes + "]")) == "`sweeps[3].values` makes more than 10000 variants");
}

TEST_CASE("a baseline may be one variant of all, or one step of the multiplication") {
  const Folder f;
  const std::string sweeps = R"("sweeps": [{"key": "link.bandwidth_gbps", "values": [48, 96]},
                                           {"key": "sm.scheduler", "values": ["gto", "lrr"]}])";
  for (const Variant& v : f.read(two_by_two(R"(, "baseline": "sm_bandwidth_gbps-48_scheduler-lrr", )" + sweeps)).variants)
    CHECK(v.baseline == "sm_bandwidth_gbps-48_scheduler-lrr");
  const Experiment e = f.read(two_by_two(R"(, "baseline": "sm_bandwidth_gbps-48", )" + sweeps));
  CHECK(e.variants[2].baseline == "sm_bandwidth_gbps-48_scheduler-gto");
  CHECK(e.variants[3].baseline == "sm_bandwidth_gbps-48_scheduler-lrr");
  CHECK(f.fault(two_by_two(R"(, "baseline": "sm_bandwidth_gbps-49", )" + sweeps)).find("did you mean") != std::string::npos);
}

TEST_CASE("combinations that are excepted are left out") {
  const Folder f;
  const auto sweeps = [](const std::string& except) {
    return two_by_two(R"(, "sweeps": [{"key": "sm.scheduler", "values": ["gto", "lrr"]}], "except": )" + except);
  };
  const Experiment one = f.read(sweeps(R"([{"llc.organisation": "sm_side", "sm.scheduler": "lrr"}])"));
  REQUIRE(one.variants.size() == 3);
  CHECK(one.variants[2].name == "sm_scheduler-gto");
  const Experiment two = f.read(sweeps(R"([{"llc.organisation": "sm_side", "sm.scheduler": ["gto", "lrr"]}])"));
  REQUIRE(two.variants.size() == 2);
  CHECK(two.variants[1].name == "mem_scheduler-lrr");
  CHECK(f.fault(sweeps(R"([{"llc.organisation": "static"}])")) ==
        "`except[0]`: no variant sets `llc.organisation` to \"static\": name keys that variants or sweeps set, and their "
        "values");
  CHECK(f.fault(sweeps(R"([{"llc.organisation": ["sm_side", "static"], "sm.scheduler": "lrr"}])")).find("\"static\"") !=
        std::string::npos);
  CHECK(f.fault(sweeps(R"([{"sm.scheduler": ["gto", "lrr"]}])")) == "`except` leaves no variant");
  CHECK(f.fault(sweeps(R"([{"llc.organisation": "sm_side", "sm.scheduler": "lrr"}], "baseline": "sm")")) ==
        "`except` leaves out sm_scheduler-lrr, the baseline of mem_scheduler-lrr");
  CHECK(f.fault(sweeps(R"([{"sm.scheduler": null}])")).find("`except[0].sm.scheduler` must be") == 0);
}

TEST_CASE("numbers are excepted by value, however they are written, and each has to be one of a variant's") {
  const Folder f;
  const std::string axis = R"(, "sweeps": [{"key": "link.bandwidth_gbps", "values": [48, 96, 192]}])";
  const auto sweeps = [&](const std::string& except) { return two_by_two(axis + R"(, "except": )" + except); };
  const std::size_t all = f.read(two_by_two(axis)).variants.size();
  CHECK(f.read(sweeps(R"([{"link.bandwidth_gbps": 48}])")).variants.size() == all - all / 3);
  CHECK(f.read(sweeps(R"([{"link.bandwidth_gbps": [48, 96.0]}])")).variants.size() == all - 2 * (all / 3));
  CHECK(f.fault(sweeps(R"([{"link.bandwidth_gbps": [48, 97]}])")) ==
        "`except[0]`: no variant sets `link.bandwidth_gbps` to 97: name keys that variants or sweeps set, and their values");
}

TEST_CASE("a group that would forge rows of a table is refused") {
  const Folder f;
  CHECK(f.fault(two_by_two("", R"("a", "path": "w/a.json", "group": "x\ny"}, {"name": "b", "path": "w/a.json")")) ==
        "`workloads[0].group` has signs that do not print");
}

TEST_CASE("written into another folder and read back, an experiment has the same points") {
  const Folder f;
  std::filesystem::create_directory(f / "out");
  const Experiment e = f.read(two_by_two(R"(, "scale": 2, "ranks": 3, "baseline": "sm",
      "sweeps": [{"key": "link.topology", "values": ["ring", "full"]}],
      "reference": {"source": "F", "speedup": {"sm_topology-ring": {"a": 2}}, "mean": {"sm_topology-full": {"ALL": 1.5}}})"));
  f.write("out/copy.json", to_json(e, f / "out"));
  const Experiment back = read_experiment(f / "out/copy.json");
  CHECK(names(back) == names(e));
  CHECK(back.ranks == 3);
  CHECK(back.reference.source == "F");
  CHECK(back.reference.speedup == e.reference.speedup);
  CHECK(back.reference.mean == e.reference.mean);
  for (std::size_t i = 0; i < expand(e).size(); ++i) {
    check_point(back, expand(back)[i]);
    CHECK(effective_config(back, expand(back)[i]) == effective_config(e, expand(e)[i]));
    CHECK(expand(back)[i].variant->baseline == expand(e)[i].variant->baseline);
    CHECK(expand(back)[i].workload->group == expand(e)[i].workload->group);
  }
}

TEST_CASE("unknown keys name the nearest one") {
  const Folder f;
  CHECK(f.fault(two_by_two(R"(, "baselin": "sm")")) == "unknown key `baselin`, did you mean `baseline`?");
  CHECK(f.fault(R"({"system": "sac-4chip", "workloads": [{"name": "a", "pth": "x"}]})") ==
        "unknown key `workloads[0].pth`, did you mean `workloads[0].path`?");
}

TEST_CASE("a word may name a workload that comes with Atoll, unless there is a file beside") {
  const Folder f;
  f.write("stream", "");
  f.write("e.json", R"({"system": "sac-4chip", "variants": [{"name": "mem"}], "workloads": [
    {"name": "m", "path": "mixed"}, {"name": "s", "path": "stream"}, {"name": "x", "path": "mxied"},
    {"name": "f", "path": "w/mixed"}]})");
  const auto shipped = [](const std::string& name) {
    return name == "mixed" || name == "stream" || name == "w/mixed" ? "/shipped/" + name + ".json" : "";
  };
  const auto paths = [&](const Experiment& e) {
    std::vector<std::string> out;
    for (const ExperimentWorkload& w : e.workloads) out.push_back(w.path);
    return out;
  };
  CHECK(paths(read_experiment(f / "e.json", shipped)) ==
        std::vector<std::string>{"/shipped/mixed.json", f / "stream", f / "mxied", f / "w/mixed"});
  CHECK(paths(read_experiment(f / "e.json")).front() == f / "mixed");
}

TEST_CASE("names given twice, and names that no file can have, are refused") {
  const Folder f;
  CHECK(f.fault(two_by_two("", R"("s", "path": "w/a.json")")) == "`workloads[1].name` = \"s\" is given twice");
  CHECK(f.fault(two_by_two("", R"("a/b", "path": "w/a.json")")).find("`workloads[0].name` = \"a/b\" cannot be") == 0);
  // With "a_" and "_sm" two points could have one file.
  for (const char* name : {"a__b", "a_", "_a"}) {
    const std::string fault = f.fault(two_by_two("", fmt::format(R"("{}", "path": "w/a.json")", name)));
    CHECK(fault.find("cannot be part of a file name") != std::string::npos);
  }
}

TEST_CASE("values of an axis that no file name can have, or that are given twice, are named where they were written") {
  const Folder f;
  CHECK(f.fault(two_by_two(R"(, "sweeps": [{"key": "llc.slices", "values": [4, 4]}])")) == "`sweeps[0].values` has 4 twice");
  CHECK(f.fault(two_by_two(R"(, "sweeps": [{"key": "llc.slices", "values": [4, 8, 4.0]}])")) ==
        "`sweeps[0].values` has 4.0 twice");
  CHECK(f.fault(two_by_two(
            R"(, "sweeps": [{"key": "chips", "values": [2]}, {"key": "link.edges", "values": ["0-1", "0-1 1-2"]}])")) ==
        "`sweeps[1].values`: \"0-1 1-2\" cannot be part of a file name, and the names of an axis's variants have its "
        "values: give `variants`, each with a `name` of your own and `link.edges` in its `set`, instead");
  CHECK(f.fault(two_by_two(R"(, "sweeps": [{"key": "llc.a b", "values": [4]}])")) ==
        "`sweeps[0].key` = \"llc.a b\" is no configuration key");
  CHECK(f.fault(R"({"system": "sac-4chip", "workloads": [{"name": "a", "path": "x"}], "variants": [{"name": "a b"}],
                    "sweeps": [{"key": "chips", "values": [2, 4]}]})")
            .starts_with("`variants[0].name` = \"a b\" cannot be part of a file name"));
}

TEST_CASE("an axis over a key that a variant or another axis sets is refused: one of them would be lost") {
  const Folder f;
  CHECK(
      f.fault(two_by_two(R"(, "sweeps": [{"key": "llc.ways", "values": [4, 8]}])")) ==
      "`sweeps[0].key` = `llc.ways` is set by variant `sm` already: every value of the axis would take its place; leave it "
      "out of one of them");
  CHECK(f.fault(two_by_two(R"(, "sweeps": [{"key": "chips", "values": [2]}, {"key": "chips", "values": [4]}])"))
            .starts_with("`sweeps[1].key` = `chips` is set by variant `mem_chips-2` already"));
}

TEST_CASE("a baseline or a reference that names nothing is refused with what there is") {
  const Folder f;
  CHECK(f.fault(two_by_two(R"(, "baseline": "men")")) ==
        "`baseline` names \"men\", which is none of: mem, sm (did you mean `mem`?)");
  CHECK(f.fault(two_by_two(R"(, "reference": {"speedup": {"sm": {"b": 2}}})")).find("`reference.speedup.sm` names \"b\"") ==
        0);
  CHECK(f.fault(two_by_two(R"(, "reference": {"mean": {"sm": {"H": 2}}})")) ==
        "`reference.mean.sm` names \"H\", which is none of: ALL, G (did you mean `G`?)");
  CHECK(f.fault(two_by_two(R"(, "reference": {"mean": {"sm": {"G": "2"}}})")) ==
        "`reference.mean.sm.G` must be a number, not \"2\"");
}

TEST_CASE("what is missing is named") {
  const Folder f;
  CHECK(f.fault("{}") == "`system` is missing: give a preset (`atoll list`) or a JSON file");
  CHECK(f.fault(R"({"system": "x"})") == "`workloads` is missing");
  CHECK(f.fault(R"({"system": "x", "workloads": [{"name": "a", "path": "p"}]})") == "`variants` is missing");
  CHECK(f.fault(R"({"system": "x", "workloads": [{"name": "a"}]})") == "`workloads[0].path` is missing");
  CHECK(f.fault(two_by_two(R"(, "sweeps": [{"values": [1]}])")) == "`sweeps[0].key` is missing");
}

TEST_CASE("a point without its workload or with a wrong setting is refused by name, when it is to be run") {
  const Folder f;
  const Experiment lost = f.read(two_by_two("", R"("a", "path": "w/stencyl.json")"));
  CHECK_THROWS_WITH_AS(check_point(lost, expand(lost)[0]),
                       ("a__mem: there is no workload " + f / "w/stencyl.json" + ", did you mean `stencil.json`?").c_str(),
                       InputError);
  CHECK_NOTHROW(check_point(lost, expand(lost)[2]));
  const Experiment wrong = f.read(two_by_two(R"(, "sweeps": [{"key": "llc.wayz", "values": [4]}])"));
  CHECK_THROWS_WITH_AS(check_point(wrong, expand(wrong)[0]),
                       "a__mem_wayz-4: --set: unknown key `llc.wayz`, did you mean `llc.ways`?", InputError);
}

TEST_CASE("the experiments that come with Atoll can be read, and SAC's and REC's have all figures of their papers" *
          doctest::test_suite("stress")) {
  const std::string folder = ATOLL_SOURCE_DIR "/inputs/experiments/";
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const Experiment e = read_experiment(file.path());
    for (const Point& p : expand(e)) {
      const bool recorded = p.workload->path.find("/results/") != std::string::npos;  // on the spot, not committed
      CHECK_NOTHROW_MESSAGE(recorded ? void(effective_config(e, p)) : check_point(e, p), file.path().string());
    }
  }
  const Experiment sac = read_experiment(folder + "sac.json");
  CHECK(expand(sac).size() == 16 * 6);
  REQUIRE(sac.reference.speedup.size() == 4);
  for (const auto& [variant, figures] : sac.reference.speedup) CHECK_MESSAGE(figures.size() == 16, variant);
  for (const auto& [variant, figures] : sac.reference.mean) CHECK_MESSAGE(figures.size() == 3, variant);
  const auto without_figures = [](const std::string& name) { return name == "rec.json" ? 2u : 0u; };  // VGG16, ResNet18
  for (const auto& [name, published] : {std::pair{"rec.json", 9u}, {"rec_products.json", 3u}}) {
    const Experiment rec = read_experiment(folder + name);
    CHECK(expand(rec).size() == (published + without_figures(name)) * 8);
    REQUIRE(rec.reference.speedup.size() == 6);
    for (const auto& [variant, figures] : rec.reference.speedup) CHECK_MESSAGE(figures.size() == published, variant);
  }
}

}  // namespace
}  // namespace atl
