#include <H5Cpp.h>
#include <doctest/doctest.h>

#include <fstream>
#include <functional>
#include <iterator>

#include <fmt/format.h>

#include "core/engine/error.hpp"
#include "core/stats/hdf5_helpers.hpp"
#include "core/stats/hdf5_result_reader.hpp"
#include "core/stats/hdf5_result_writer.hpp"
#include "core/stats/metric.hpp"
#include "core/stats/summary.hpp"
#include "sample_result.hpp"

namespace atl::result_schema_test {
using test::sample_result;
using test::TempDir;

namespace {

/// Writes a good file, lets `change` spoil it, and gives the message with which it is refused.
std::string refusal_after(const std::function<void(H5::H5File&)>& change) {
  const TempDir dir;
  write_result(sample_result(2, 3), dir / "r.h5", false);
  {
    H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
    change(file);
  }
  try {
    read_result(dir / "r.h5", Unsealed::read);  // the change took the checksum away
  } catch (const InputError& e) {
    return e.what();
  }
  return "(no error)";
}

std::string refusal_without(const std::string& name) {
  return refusal_after([&](H5::H5File& file) { file.unlink(name); });
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an HDF5 file of another program is refused by its missing schema") {
  const TempDir dir;
  { const H5::H5File other(dir / "o.h5", H5F_ACC_TRUNC); }
  CHECK_THROWS_WITH_AS(read_result(dir / "o.h5", Unsealed::read), doctest::Contains("attribute schema of / is missing"),
                       InputError);
}

TEST_CASE("a newer schema version is refused with both versions") {
  const auto message = refusal_after([](H5::H5File& file) {
    const std::uint64_t version = 99;
    file.openGroup("/").openAttribute("schema_version").write(H5::PredType::NATIVE_UINT64, &version);
  });
  CHECK(contains(message, "schema version 99"));
  CHECK(contains(message, fmt::format("reads versions 3 to {}", hdf5::kSampledVersion)));
}

namespace {

/// Without what version 5 has on top of the one before.
void make_older(H5::H5File& file, std::uint64_t version) {
  file.openGroup("/").openAttribute("schema_version").write(H5::PredType::NATIVE_UINT64, &version);
  file.unlink("/structures");
  for (const char* name : {"requests", "queue_cycles", "miss_cycles"}) file.unlink(std::string("/slices/") + name);
}

}  // namespace

TEST_CASE("a file of schema version 4 is read without times of the slices' requests, and has no metric of them") {
  const TempDir dir;
  write_result(sample_result(2, 3), dir / "r.h5", false);
  const RunResult now = read_result(dir / "r.h5");  // sums of the sample's two chips of 16 slices
  CHECK(value_of(*find_metric("llc.queue_wait"), now) == doctest::Approx((16 * 3000 + 240.) / (16 * 1100 + 240)));
  CHECK(value_of(*find_metric("llc.miss_wait"), now) == doctest::Approx((16 * 90000 + 240.) / (16 * 1100 + 240)));
  {
    H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
    make_older(file, 4);
  }
  const RunResult old = read_result(dir / "r.h5", Unsealed::read);
  CHECK(old.chips[1].slice_miss_cycles.empty());
  CHECK(old.chips[1].slice_accesses == sample_result(2, 3).chips[1].slice_accesses);
  CHECK_FALSE(value_of(*find_metric("llc.queue_wait"), old).has_value());
  CHECK_FALSE(value_of(*find_metric("llc.miss_wait"), old).has_value());
}

TEST_CASE("a file of schema version 4 is read without structures") {
  const TempDir dir;
  write_result(sample_result(2, 3), dir / "r.h5", false);
  {
    H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
    make_older(file, 4);
  }
  const RunResult old = read_result(dir / "r.h5", Unsealed::read), whole = sample_result(2, 3);
  CHECK_FALSE(old.structures);
  CHECK((old.stack == whole.stack));
  CHECK(old.chips[1].totals.value == whole.chips[1].totals.value);
}

TEST_CASE("a counter that a file does not have reads as zero, over time and in total, and all others as they are") {
  for (const Counter lacking : {counter_table().front().id, Counter::llc_hits, counter_table().back().id}) {
    const std::string name(counter_table()[static_cast<std::size_t>(lacking)].name);
    CAPTURE(name);
    const TempDir dir;
    write_result(sample_result(2, 3), dir / "r.h5", false);
    {
      H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
      for (const char* group : {"/series/", "/totals/"}) file.unlink(group + name);
    }
    const RunResult old = read_result(dir / "r.h5", Unsealed::read);
    RunResult expected = sample_result(2, 3);
    REQUIRE(old.chips.size() == 2);
    REQUIRE(old.samples.size() == 3);
    for (std::size_t c = 0; c < 2; ++c) {
      expected.chips[c].totals[lacking] = 0;
      CHECK(old.chips[c].totals.value == expected.chips[c].totals.value);
      for (std::size_t s = 0; s < 3; ++s) {
        expected.samples[s].chips[c][lacking] = 0;
        CHECK(old.samples[s].chips[c].value == expected.samples[s].chips[c].value);
      }
    }
    CHECK(old.not_in_file == std::vector{lacking});
  }
}

TEST_CASE("a counter that this Atoll does not have is left out, and all others are read as they are") {
  const TempDir dir;
  write_result(sample_result(2, 3), dir / "r.h5", false);
  {
    H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
    const hsize_t dims[] = {3, 2};
    file.createDataSet("/series/llc.of_tomorrow", H5::PredType::STD_U64LE, H5::DataSpace(2, dims));
    file.createDataSet("/totals/llc.of_tomorrow", H5::PredType::STD_U64LE, H5::DataSpace(1, dims + 1));
  }
  const RunResult read = read_result(dir / "r.h5", Unsealed::read), written = sample_result(2, 3);
  CHECK(read.chips[1].totals.value == written.chips[1].totals.value);
  CHECK(read.samples[2].chips[1].value == written.samples[2].chips[1].value);
  CHECK(read.not_in_file.empty());
  CHECK_FALSE(contains(info_text(read), "llc.of_tomorrow"));
}

TEST_CASE("a use of a structure or in a kernel that is not there is refused") {
  for (const char* column : {"kernel", "structure"}) {
    const auto message = refusal_after([&](H5::H5File& file) {
      const std::uint64_t wrong[] = {0, 1, 99};
      file.openDataSet(fmt::format("/structures/use/{}", column)).write(wrong, H5::PredType::NATIVE_UINT64);
    });
    CHECK(contains(message, "row 2 of /structures/use"));
  }
}

TEST_CASE("a file of schema version 3 is read without a stack") {
  const TempDir dir;
  write_result(sample_result(2, 3), dir / "r.h5", false);
  {
    H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
    make_older(file, 3);
    file.unlink("/stack");
    for (const char* name : {"windows", "process_events", "wait_shares"}) file.openGroup("/provenance").removeAttr(name);
  }
  const RunResult old = read_result(dir / "r.h5", Unsealed::read);
  CHECK(old.stack.empty());
  CHECK(old.provenance.process_events.empty());
  CHECK(old.cycles == sample_result(2, 3).cycles);
}

TEST_CASE("the analysis package reads the version that is written") {
  std::ifstream file(ATOLL_SOURCE_DIR "/analysis/atoll_analysis/schema.py");
  const std::string module{std::istreambuf_iterator<char>(file), {}};
  CHECK(contains(module, fmt::format("SCHEMA = \"{}\"\n", hdf5::kSchema)));
  const std::string name = "READABLE_VERSIONS = (";
  const auto begin = module.find(name), end = module.find(')', begin);
  REQUIRE(begin != std::string::npos);
  REQUIRE(end != std::string::npos);
  const std::string versions = module.substr(begin + name.size(), end - begin - name.size()) + ",";
  CHECK(contains(" " + versions, fmt::format(" {},", hdf5::kSchemaVersion)));
  CHECK(contains(" " + versions, fmt::format(" {},", hdf5::kSampledVersion)));
}

TEST_CASE("a missing group or dataset is named") {
  CHECK(contains(refusal_without("/provenance"), "group /provenance is missing"));
  CHECK(contains(refusal_without("/latency"), "group /latency is missing"));
  CHECK(contains(refusal_without("/totals"), "group /totals is missing"));
  CHECK(contains(refusal_without("/series"), "group /series is missing"));
  // A counter that only one of the two groups has is no older layout but a damaged file.
  CHECK(contains(refusal_without("/series/llc.hits"), "dataset /series/llc.hits is missing; Atoll 0.1.0 wrote"));
  CHECK(contains(refusal_without("/totals/dram.reads"), "dataset /totals/dram.reads is missing"));
  CHECK(contains(refusal_without("/sm_sharing/shared_lines"), "dataset /sm_sharing/shared_lines is missing"));
  CHECK(contains(refusal_without("/sharing/windows/not_shared"), "dataset /sharing/windows/not_shared is missing"));
  CHECK(contains(refusal_without("/structures/homes"), "dataset /structures/homes is missing"));
  CHECK(contains(refusal_without("/structures/use/remote"), "dataset /structures/use/remote is missing"));
  CHECK(contains(refusal_without("/energy"), "group /energy is missing"));
  CHECK(contains(refusal_without("/energy_prices/factor"), "dataset /energy_prices/factor is missing"));
  CHECK(contains(refusal_without("/energy/sm_static"), "dataset /energy/sm_static is missing"));
  CHECK(contains(refusal_without("/kernels/ctas"), "dataset /kernels/ctas is missing"));
}

TEST_CASE("a dataset of other extents or of another type than the rest of the file is named") {
  const auto replaced = [](const H5::PredType& type, hsize_t rows) {
    return refusal_after([&](H5::H5File& file) {
      file.unlink("/kernels/started");
      file.createDataSet("/kernels/started", type, H5::DataSpace(1, &rows));
    });
  };
  CHECK(contains(replaced(H5::PredType::STD_U64LE, 7), "dataset /kernels/started has extents [7]"));
  CHECK(contains(replaced(H5::PredType::IEEE_F64LE, 2), "dataset /kernels/started holds another type"));
}

TEST_CASE("every counter is stored over time with its unit and doc") {
  const TempDir dir;
  write_result(sample_result(), dir / "r.h5", false);
  const H5::H5File file(dir / "r.h5", H5F_ACC_RDONLY);
  for (const auto& counter : counter_table()) {
    const auto set = file.openDataSet("/series/" + std::string(counter.name));
    for (const auto& [name, text] : {std::pair("unit", counter.unit), std::pair("doc", counter.doc)}) {
      std::string stored;
      const auto attribute = set.openAttribute(name);
      attribute.read(attribute.getStrType(), stored);
      CHECK(stored == text);
    }
  }
}

TEST_CASE("what an L2 adds is stored where there was one, absent otherwise, and read as zero then") {
  const TempDir dir;
  RunResult result = sample_result(2, 3);
  for (const bool present : {true, false}) {
    CAPTURE(present);
    if (!present) {
      for (ChipResult& chip : result.chips) {
        chip.latency[static_cast<std::size_t>(DataOrigin::l2)] = {};
        chip.energy[EnergyComponent::l2] = 0;
      }
      for (auto& kernel : result.stack)
        for (Stack& s : kernel) s[StackPart::l2] = 0;
      for (auto& row : result.structures->use)
        for (UseCounts& use : row.chips) use[static_cast<std::size_t>(Use::l2)] = 0;
    }
    const std::string path = dir / (present ? "with.h5" : "without.h5");
    write_result(result, path, false);
    {
      const H5::H5File file(path, H5F_ACC_RDONLY);
      for (const std::string group : {"latency", "energy", "stack", "structures/use"})
        CHECK(file.openGroup(group).nameExists("l2") == present);
    }
    const RunResult read = read_result(path);
    CHECK((read.stack == result.stack));
    CHECK((*read.structures == *result.structures));
    for (std::size_t c = 0; c < result.chips.size(); ++c) {
      CHECK((read.chips[c].latency == result.chips[c].latency));
      CHECK((read.chips[c].energy == result.chips[c].energy));
    }
  }
}

TEST_CASE("each component of energy is stored per chip in joules, under its name") {
  const TempDir dir;
  const auto result = sample_result();
  write_result(result, dir / "r.h5", false);
  const H5::H5File file(dir / "r.h5", H5F_ACC_RDONLY);
  for (const auto& component : energy_table()) {
    const auto set = file.openDataSet("/energy/" + std::string(component.name.substr(std::string("energy.").size())));
    CHECK(set.getTypeClass() == H5T_FLOAT);
    REQUIRE(set.getSpace().getSimpleExtentNpoints() == static_cast<hssize_t>(result.chips.size()));
    std::vector<double> joules(result.chips.size());
    set.read(joules.data(), H5::PredType::NATIVE_DOUBLE);
    for (std::size_t c = 0; c < joules.size(); ++c) CHECK(joules[c] == result.chips[c].energy[component.id]);
    std::string unit;
    set.openAttribute("unit").read(set.openAttribute("unit").getStrType(), unit);
    CHECK(unit == "J");
  }
}

}  // namespace atl::result_schema_test
