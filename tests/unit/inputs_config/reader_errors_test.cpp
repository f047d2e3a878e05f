#include <doctest/doctest.h>

#include "inputs/config/suggest.hpp"
#include "support.hpp"

using namespace atl;
using namespace atl::test;

TEST_CASE("a mistyped key is answered with the file, the dotted key and the key that was meant") {
  CHECK(file_error(R"({"llc": {"wayz": 8}})") == "unknown key `llc.wayz`, did you mean `llc.ways`?");
  CHECK(file_error(R"({"llc.ways": 8})") == "`llc.ways` is written as a section here: {\"llc\": {\"ways\": ...}}");
  CHECK(set_error({"llc.wayz=8"}) == "--set: unknown key `llc.wayz`, did you mean `llc.ways`?");
}

TEST_CASE("the where of an error is the file as the user named it, or --set") {
  const TempFile file("mine.json", R"({"chip": 4})");
  try {
    read_system(file.path());
    FAIL("no error");
  } catch (const InputError& e) {
    CHECK(e.where() == file.path());
  }
  try {
    read_system("sac-4chip", {"chip=4"});
    FAIL("no error");
  } catch (const InputError& e) {
    CHECK(e.where() == "--set");
  }
}

TEST_CASE("a key in the wrong section is answered with the section it belongs to") {
  CHECK(file_error(R"({"l1": {"bypass_reads": 8}})") == "unknown key `l1.bypass_reads`, did you mean `llc.bypass_reads`?");
  CHECK(file_error(R"({"channels": 8})") == "unknown key `channels`, did you mean `dram.channels`?");
  CHECK(set_error({"lcc.ways=8"}) == "--set: unknown key `lcc`, did you mean `llc`?");
}

TEST_CASE("a key without its unit is answered with the whole key") {
  CHECK(set_error({"llc.latency=100"}) == "--set: unknown key `llc.latency`, did you mean `llc.latency_cycles`?");
}

TEST_CASE("a key that resembles none is answered with the keys of its section") {
  CHECK(file_error(R"({"coherence": {"qqqqqqqq": 1}})") ==
        "unknown key `coherence.qqqqqqqq`; known here: protocol, directory_entries, directory_ways, directory_replacement, "
        "directory_index, range_bytes, directory_latency_cycles, invalidation_queue, invalidate");
}

TEST_CASE("doc and base are keys of files, not of overrides") {
  CHECK(set_error({"base=rtx3070"}).starts_with("--set: unknown key `base`"));
  CHECK(file_error(R"({"doc": 4})") == "`doc` must be a text, not 4");
}

TEST_CASE("a value of the wrong type is answered with the key, what it must be and what it is") {
  CHECK(file_error(R"({"llc": {"ways": "many"}})") == "`llc.ways` must be a whole number, not \"many\"");
  CHECK(file_error(R"({"llc": {"ways": 1.5}})") == "`llc.ways` must be a whole number, not 1.5");
  CHECK(file_error(R"({"link": {"bandwidth_gbps": null}})") == "`link.bandwidth_gbps` must be a number, not null");
  CHECK(file_error(R"({"l1": {"sectored": 1}})") == "`l1.sectored` must be true or false, not 1");
  CHECK(file_error(R"({"name": 1})") == "`name` must be a text, not 1");
  CHECK(file_error(R"({"llc": 4})") == "section `llc` must be an object of keys, not 4");
  CHECK(file_error(R"({"chips": {"count": 4}})") == "`chips` must be a whole number, not {\"count\":4}");
  CHECK(file_error(R"([1])") == "the configuration must be an object of keys, not [1]");
}

TEST_CASE("a value out of range is answered with the range and its unit") {
  CHECK(set_error({"llc.ways=65"}) == "--set: `llc.ways` = 65 is out of range: 1 to 64");
  CHECK(set_error({"chips=-1"}) == "--set: `chips` = -1 is out of range: 1 to 64");
  CHECK(set_error({"link.latency_cycles=0"}) == "--set: `link.latency_cycles` = 0 is out of range: 1 to 1000000 cycles");
  CHECK(set_error({"link.bandwidth_gbps=0"}) == "--set: `link.bandwidth_gbps` = 0 is out of range: 0.01 to 1000000 GB/s");
  CHECK(set_error({"control.sample_cycles=1e11"}) ==
        "--set: `control.sample_cycles` = 100000000000.0 is out of range: 100 to 4294967295 cycles");
}

TEST_CASE("an unknown word of an enum is answered with the words") {
  CHECK(set_error({"link.topology=star"}) == "--set: `link.topology` = \"star\" is not one of: ring, full, switch, graph");
  CHECK(set_error({"dram.preset=gddr8"}) ==
        "--set: `dram.preset` = \"gddr8\" is not one of: gddr5, gddr5_titanx, gddr6, hbm2, hbm, hbm_selrep, hbm2e, hbm3, "
        "hbm3e, gddr6x, gddr7");
  CHECK(set_error({"link.topology=3"}) ==
        "--set: `link.topology` must be one of the words ring, full, switch, graph, not 3");
}

TEST_CASE("malformed JSON is answered with line and column") {
  CHECK(file_error("{\n  \"chips\": 4,\n  \"llc\": }\n").starts_with("malformed JSON at line 3, column 10: "));
  CHECK(file_error("}").starts_with("malformed JSON at line 1, column 1: "));
  CHECK(file_error("{\"chips\": 4\n").starts_with("malformed JSON at line 2, column 1: "));
  CHECK(file_error("").starts_with("malformed JSON at line 1, column 1: "));
  CHECK(file_error("{\"chips\": 1e999}").starts_with("malformed JSON: number overflow"));
}

TEST_CASE("a key given twice in one object is an error, not a silent choice") {
  CHECK(file_error(R"({"llc": {"ways": 8, "ways": 16}})") == "key `ways` is given twice in one object");
  CHECK(file_error(R"({"llc": {"ways": 8}, "l1": {"ways": 4}})") != "key `ways` is given twice in one object");
}

TEST_CASE("a system that is neither preset nor file is answered with the nearest preset") {
  CHECK(error_of([] { read_system("sac-4chips"); }) ==
        "sac-4chips: neither a preset nor a file, did you mean `sac-4chip`? "
        "(presets: a100, b200, colab-gpu, h100-sxm, h200, mi250x, mi300x, qv100, rec-4gpu, rtx2060, rtx3070, sac-4chip, "
        "selrep-gpu, "
        "titanx)");
  CHECK(file_error(R"({"base": "rtx3080"})") ==
        "`base` = \"rtx3080\" is neither a preset nor a file, did you mean `rtx3070`? "
        "(presets: a100, b200, colab-gpu, h100-sxm, h200, mi250x, mi300x, qv100, rec-4gpu, rtx2060, rtx3070, sac-4chip, "
        "selrep-gpu, "
        "titanx)");
}

TEST_CASE("a base that leads back to its own file is an error, and so is none") {
  CHECK(file_error(R"({"base": "mine.json"})").starts_with("its `base` leads back to itself"));
  CHECK(file_error(R"({"base": ""})").starts_with("`base` = \"\" is neither a preset nor a file"));
  CHECK(file_error(R"({"base": "."})").find("is a folder; give the name of a file") != std::string::npos);
  const TempFile a("a.json", R"({"base": "b.json"})");
  const auto folder = std::filesystem::path(a.path()).parent_path();
  std::ofstream(folder / "b.json") << R"({"base": "./a.json"})";
  CHECK(error_of([&] { read_system(a.path()); }).find("b.json: its `base` leads back to ") != std::string::npos);
}

TEST_CASE("a folder in place of a file is an error that names it") {
  const std::string folder = std::filesystem::temp_directory_path().string();
  CHECK(error_of([&] { read_system(folder); }) == folder + ": is a folder; give the name of a file");
}

TEST_CASE("an override without key or value is answered with the form") {
  CHECK(set_error({"llc.ways"}) == "--set: `llc.ways` is not of the form key.path=value");
  CHECK(set_error({"=8"}) == "--set: `=8` is not of the form key.path=value");
  CHECK(set_error({"llc=8", "llc.ways=8"}) == "--set: `llc` is given both as a value and as a section");
}

TEST_CASE("the edit distance counts insertions, deletions and replacements") {
  CHECK(edit_distance("", "ways") == 4);
  CHECK(edit_distance("ways", "ways") == 0);
  CHECK(edit_distance("wayz", "ways") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
}

TEST_CASE("an override that is not UTF-8 is refused, whichever side of = it is wrong on") {
  CHECK(set_error({"name=a\xff"}) == "--set: `name=a\xff` is not a text in UTF-8");
  CHECK(set_error({"\xff=a"}) == "--set: `\xff=a` is not a text in UTF-8");
}

TEST_CASE("nesting that would overflow the stack is refused: lists in a file, values and keys of an override") {
  const auto lists = [](int levels) {
    return std::string(static_cast<std::size_t>(levels), '[') + std::string(levels, ']');
  };
  CHECK(file_error("{\"chips\": " + lists(100'000) + "}") == "more than 64 levels of objects and lists");
  CHECK(set_error({"chips=" + lists(100'000)}) == "--set: more than 64 levels of objects and lists");
  CHECK(set_error({"chips=" + lists(3)}) == "--set: `chips` must be a whole number, not [[[]]]");
  std::string key = "chips";
  for (int i = 0; i < 100'000; ++i) key += ".x";
  CHECK(set_error({key + "=1"}) == "--set: `" + key.substr(0, 40) + "...` has more parts than any key");
}
