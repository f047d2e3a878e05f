#include <H5Cpp.h>
#include <doctest/doctest.h>
#include <sys/resource.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <thread>

#include "core/engine/error.hpp"
#include "core/engine/hdf5_memory.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/hdf5_result_reader.hpp"
#include "core/stats/hdf5_result_writer.hpp"
#include "sample_result.hpp"
#include "tests/unit/bit_flips.hpp"

using namespace atl;
using test::sample_result;
using test::TempDir;
namespace fs = std::filesystem;

namespace {

void check_same(const SamplingResult& a, const SamplingResult& b) {
  CHECK(a.error == b.error);
  CHECK(a.confidence == b.confidence);
  CHECK(a.work == b.work);
  CHECK(a.simulated_work == b.simulated_work);
  REQUIRE(a.figures.size() == b.figures.size());
  for (std::size_t i = 0; i < a.figures.size(); ++i) {
    CHECK(a.figures[i].name == b.figures[i].name);
    CHECK(a.figures[i].value == b.figures[i].value);
    CHECK(a.figures[i].half_width == b.figures[i].half_width);
  }
  REQUIRE(a.launches.size() == b.launches.size());
  for (std::size_t i = 0; i < a.launches.size(); ++i) {
    CHECK(a.launches[i].cluster == b.launches[i].cluster);
    CHECK(a.launches[i].simulated == b.launches[i].simulated);
    CHECK(a.launches[i].cycles == b.launches[i].cycles);
    CHECK(a.launches[i].half_width == b.launches[i].half_width);
  }
}

void check_same(const RunResult& a, const RunResult& b) {
  const auto &p = a.provenance, &q = b.provenance;
  CHECK(p.version == q.version);
  CHECK(p.git_commit == q.git_commit);
  CHECK(p.command == q.command);
  CHECK(p.system == q.system);
  CHECK(p.workload == q.workload);
  CHECK(p.workload_digest == q.workload_digest);
  CHECK(p.started_at == q.started_at);
  CHECK((p.effective_config == q.effective_config));
  CHECK((p.hosts == q.hosts));
  CHECK(p.host_seconds == q.host_seconds);
  CHECK(p.link_bytes_per_cycle == q.link_bytes_per_cycle);
  CHECK(p.links_of_chips == q.links_of_chips);
  CHECK((p.llc_chips == q.llc_chips));
  CHECK(p.windows == q.windows);
  CHECK((p.process_events == q.process_events));
  CHECK((p.wait_shares == q.wait_shares));
  CHECK(p.moves == q.moves);
  CHECK(p.events == q.events);
  CHECK(a.cycles == b.cycles);
  CHECK(a.complete == b.complete);
  CHECK(a.digest == b.digest);
  CHECK(a.sharing.has_value() == b.sharing.has_value());
  CHECK((a.sharing == b.sharing));
  CHECK((a.stack == b.stack));
  CHECK((a.sm_sharing == b.sm_sharing));
  CHECK((a.structures == b.structures));
  REQUIRE(a.sampling.has_value() == b.sampling.has_value());
  CHECK(p.sampling == q.sampling);
  if (a.sampling) check_same(*a.sampling, *b.sampling);
  REQUIRE(a.kernels.size() == b.kernels.size());
  for (std::size_t k = 0; k < a.kernels.size(); ++k) {
    const auto &x = a.kernels[k], &y = b.kernels[k];
    CHECK(x.name == y.name);
    CHECK(x.ctas == y.ctas);
    CHECK(x.launched == y.launched);
    CHECK(x.started == y.started);
    CHECK(x.finished == y.finished);
  }
  REQUIRE(a.decisions.size() == b.decisions.size());
  for (std::size_t d = 0; d < a.decisions.size(); ++d) {
    CHECK(a.decisions[d].kernel == b.decisions[d].kernel);
    CHECK(a.decisions[d].cycle == b.decisions[d].cycle);
    CHECK(a.decisions[d].choice == b.decisions[d].choice);
    CHECK((a.decisions[d].values == b.decisions[d].values));  // the sample's are in alphabetic order, as files list them
  }
  REQUIRE(a.samples.size() == b.samples.size());
  for (std::size_t s = 0; s < a.samples.size(); ++s) {
    CHECK(a.samples[s].end == b.samples[s].end);
    REQUIRE(a.samples[s].chips.size() == b.samples[s].chips.size());
    for (std::size_t c = 0; c < a.samples[s].chips.size(); ++c) {
      CHECK((a.samples[s].chips[c].value == b.samples[s].chips[c].value));
    }
  }
  REQUIRE(a.chips.size() == b.chips.size());
  for (std::size_t c = 0; c < a.chips.size(); ++c) {
    const auto &x = a.chips[c], &y = b.chips[c];
    CHECK((x.totals.value == y.totals.value));
    CHECK((x.slice_accesses == y.slice_accesses));
    CHECK((x.slice_hits == y.slice_hits));
    CHECK((x.slice_requests == y.slice_requests));
    CHECK((x.slice_queue_cycles == y.slice_queue_cycles));
    CHECK((x.slice_miss_cycles == y.slice_miss_cycles));
    CHECK((x.channel_reads == y.channel_reads));
    CHECK((x.channel_writes == y.channel_writes));
    CHECK((x.latency == y.latency));
    CHECK((x.energy == y.energy));
  }
  CHECK((a.energy_prices == b.energy_prices));
}

/// The message of the InputError that reading `path` ends in.
std::string reading_fails_with(const std::string& path, Unsealed unsealed = Unsealed::refused) {
  try {
    read_result(path, unsealed);
  } catch (const InputError& e) {
    CHECK(e.where() == path);
    return e.what();
  }
  return "(no error)";
}

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Lets this process write files of at most `bytes` bytes: a disk that fills up, also for root.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

}  // namespace

TEST_CASE("a sampled result is read back as it was written, under a version of its own") {
  const TempDir dir;
  RunResult sampled = sample_result();
  sampled.provenance.sampling = "error=3%,confidence=95%";
  sampled.sampling = SamplingResult{
      0.03, 0.95,   {{"cycles", 2e6, 0.1 + 0.2}, {"l1.hits", 7, 0}}, {{0, true, 1000, 0}, {1, false, 99'000.5, 1234.5}},
      1e9,  1e8 / 3};
  write_result(sampled, dir / "s.h5", false);
  check_same(sampled, read_result(dir / "s.h5"));
  const H5::H5File file(dir / "s.h5", H5F_ACC_RDONLY);
  std::uint64_t version = 0;
  file.openGroup("/").openAttribute("schema_version").read(H5::PredType::NATIVE_UINT64, &version);
  CHECK(version == 6);
}

TEST_CASE("a result is read back exactly as it was written") {
  const TempDir dir;
  const auto result = sample_result();
  write_result(result, dir / "r.h5", false);
  check_same(result, read_result(dir / "r.h5"));
  CHECK_FALSE(fs::exists(dir / "r.h5.part"));
  // For looking at the figures: ATOLL_KEEP_RESULT=/some/file.h5 keeps the file of this test.
  if (const char* keep = std::getenv("ATOLL_KEEP_RESULT")) {
    fs::copy_file(dir / "r.h5", keep, fs::copy_options::overwrite_existing);
  }
}

TEST_CASE("a result of a run that did not watch the sharing, or watched and saw nothing, is read back as such") {
  const TempDir dir;
  auto result = sample_result();
  result.sharing->epochs.clear();
  write_result(result, dir / "r.h5", false);
  check_same(result, read_result(dir / "r.h5"));
  result.sharing.reset();
  result.sm_sharing.reset();
  result.structures->use.clear();
  write_result(result, dir / "r.h5", true);
  check_same(result, read_result(dir / "r.h5"));
  result.structures.reset();
  write_result(result, dir / "r.h5", true);
  check_same(result, read_result(dir / "r.h5"));
}

TEST_CASE("a result without kernels, samples or hosts is read back exactly") {
  const TempDir dir;
  auto result = sample_result(1, 0);
  result.kernels.clear(), result.stack.clear(), result.structures->use.clear();
  result.provenance.hosts.clear();
  result.provenance.wait_shares.clear();
  result.provenance.process_events.clear();
  result.chips[0].channel_reads.clear();
  write_result(result, dir / "r.h5", false);
  check_same(result, read_result(dir / "r.h5"));
}

TEST_CASE("an empty result is read back as an empty result") {
  const TempDir dir;
  write_result({}, dir / "r.h5", false);
  check_same({}, read_result(dir / "r.h5"));
}

TEST_CASE("the same result gives the same bytes every time") {
  const TempDir dir;
  const auto bytes = [](const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  };
  write_result(sample_result(), dir / "a.h5", false);
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 would stamp datasets with the second
  write_result(sample_result(), dir / "b.h5", false);
  CHECK((bytes(dir / "a.h5") == bytes(dir / "b.h5")));
}

TEST_CASE("an existing output is kept unless force is given") {
  const TempDir dir;
  std::ofstream(dir / "r.h5") << "precious";
  CHECK_THROWS_WITH_AS(check_output(dir / "r.h5", false), doctest::Contains("--force"), InputError);
  CHECK_THROWS_WITH_AS(write_result(sample_result(), dir / "r.h5", false), doctest::Contains("--force"), InputError);
  CHECK(fs::file_size(dir / "r.h5") == 8);
  CHECK_NOTHROW(check_output(dir / "r.h5", true));
  write_result(sample_result(), dir / "r.h5", true);
  check_same(sample_result(), read_result(dir / "r.h5"));
}

TEST_CASE("an output that can never be written is refused before the simulation") {
  const TempDir dir;
  CHECK_THROWS_WITH_AS(check_output(dir / "no/such/r.h5", false), doctest::Contains("no directory"), IoError);
  CHECK_THROWS_WITH_AS(check_output(dir / "", true), doctest::Contains("is a directory"), InputError);
  CHECK_THROWS_AS(check_output("", true), InputError);
  CHECK_NOTHROW(check_output(dir / std::string(250, 'r'), false));
  for (const std::size_t length : {251u, 255u, 256u, 3000u}) {
    CHECK_THROWS_WITH_AS(check_output(dir / std::string(length, 'r'), false), doctest::Contains("too long"), IoError);
  }
  CHECK_THROWS_WITH_AS(check_output("/dev/null", true), doctest::Contains("not a regular file"), InputError);
  CHECK_NOTHROW(check_output("beside.h5", true));
  CHECK(dir.empty());
}

TEST_CASE("a disk that fills up leaves neither the result nor its part") {
  const TempDir dir;
  {
    const FileSizeLimit limit(4096);
    CHECK_THROWS_AS(write_result(sample_result(), dir / "r.h5", false), IoError);
  }
  CHECK(dir.empty());
  write_result(sample_result(), dir / "r.h5", false);
  check_same(sample_result(), read_result(dir / "r.h5"));
}

TEST_CASE("a disk that fills up leaves the result that force would have replaced") {
  const TempDir dir;
  write_result(sample_result(2, 3), dir / "r.h5", false);
  {
    const FileSizeLimit limit(4096);
    CHECK_THROWS_AS(write_result(sample_result(), dir / "r.h5", true), IoError);
  }
  check_same(sample_result(2, 3), read_result(dir / "r.h5"));
  CHECK_FALSE(fs::exists(dir / "r.h5.part"));
}

TEST_CASE("a ragged result is refused instead of being written shifted") {
  const TempDir dir;
  auto result = sample_result();
  result.samples[1].chips.pop_back();
  CHECK_THROWS_WITH_AS(write_result(result, dir / "r.h5", false), doctest::Contains("3 chips instead of 4"),
                       SimulationError);
  result = sample_result();
  result.chips[2].slice_hits.pop_back();
  CHECK_THROWS_WITH_AS(write_result(result, dir / "r.h5", false), doctest::Contains("slices/hits"), SimulationError);
  CHECK(dir.empty());
}

TEST_CASE("reading what is not a result names the file and the fault") {
  const TempDir dir;
  CHECK(contains(reading_fails_with(dir / "absent.h5"), "no such file"));
  CHECK(contains(reading_fails_with(dir / ""), "is a folder"));
  std::ofstream(dir / "text.h5") << "hello";
  CHECK(contains(reading_fails_with(dir / "text.h5"), "not an HDF5 file"));
  std::ofstream(dir / "empty.h5").flush();
  CHECK(contains(reading_fails_with(dir / "empty.h5"), "not an HDF5 file"));
}

TEST_CASE("a result truncated anywhere is refused") {
  const TempDir dir;
  write_result(sample_result(), dir / "r.h5", false);
  for (auto size = fs::file_size(dir / "r.h5"); size > 100; size = size * 3 / 4 - 1) {
    fs::resize_file(dir / "r.h5", size - 1);
    CAPTURE(size);
    CHECK(contains(reading_fails_with(dir / "r.h5"), "truncated"));
  }
}

TEST_CASE("extents that no data stands behind are refused before memory is taken for them") {
  const TempDir dir;
  const auto replaced = [&](const char* name, hsize_t extent) {
    write_result(sample_result(1, 1), dir / "r.h5", true);
    {
      H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
      file.unlink(name);
      H5::DSetCreatPropList chunked;
      const hsize_t chunk = 64;
      chunked.setChunk(1, &chunk);
      file.createDataSet(name, H5::PredType::STD_U64LE, H5::DataSpace(1, &extent), chunked);
    }
    return reading_fails_with(dir / "r.h5", Unsealed::read);
  };
  CHECK(contains(replaced("/series/end_cycle", 1ull << 50),
                 "dataset /series/end_cycle has extents [1125899906842624], more than its data can be"));
  CHECK(contains(replaced("/totals/llc.hits", 1ull << 50), "which do not fit the rest of the file"));
}

TEST_CASE("a list that is said to be longer than any memory is refused") {
  const TempDir dir;
  write_result(sample_result(1, 1), dir / "r.h5", false);
  std::string bytes;
  {
    std::ifstream in(dir / "r.h5", std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  const std::size_t name = bytes.find("wait_shares");
  REQUIRE(name != std::string::npos);
  constexpr std::size_t kExtent = 16 + 24 + 8;  // the name, its type, and the head of its extents
  bytes[name + kExtent + 7] = 0x40;
  std::ofstream(dir / "r.h5", std::ios::binary) << bytes;
  CHECK(contains(reading_fails_with(dir / "r.h5", Unsealed::read), "is said to be larger than any memory"));
}

TEST_CASE("a byte flipped anywhere in a result is found, also where HDF5 itself would crash on it") {
  const TempDir dir;
  write_result(sample_result(1, 2), dir / "r.h5", false);
  std::ifstream in(dir / "r.h5", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}};
  for (std::size_t i = 0; i < whole.size(); i += i < 200 || i + 200 > whole.size() ? 1 : 311) {
    CAPTURE(i);
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x41);
    std::ofstream(dir / "flip.h5", std::ios::binary) << bytes;
    CHECK(reading_fails_with(dir / "flip.h5") != "(no error)");
  }
  CHECK(contains(reading_fails_with(dir / "flip.h5"),
                 "is truncated or damaged: its bytes do not fit the checksum behind them"));
}

TEST_CASE("a result with any of 200 random bits flipped, or any bit of the library's header, is refused by name") {
  const TempDir dir;
  write_result(sample_result(2, 5), dir / "r.h5", false);
  std::ifstream in(dir / "r.h5", std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), {}}, flip = dir / "flip.h5";
  const auto check = [&](const std::string& bytes) {
    std::ofstream(flip, std::ios::binary) << bytes;
    CHECK(reading_fails_with(flip).starts_with(flip + ": "));
  };
  test::flip_bits(whole, 200, check);
  for (std::size_t bit = 0; bit < 96 * 8; ++bit) {
    CAPTURE(bit);
    std::string bytes = whole;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    check(bytes);
  }
  test::cut_short(whole, 50, check);
}

TEST_CASE("what HDF5 could not do for want of memory is no damage of a file") {
  H5Eclear2(H5E_DEFAULT);
  CHECK_NOTHROW(throw_if_hdf5_lacks_memory());
  H5Epush2(H5E_DEFAULT, "f.c", "f", 1, H5E_ERR_CLS, H5E_IO, H5E_READERROR, "read failed");
  CHECK_NOTHROW(throw_if_hdf5_lacks_memory());
  H5Epush2(H5E_DEFAULT, "f.c", "f", 2, H5E_ERR_CLS, H5E_RESOURCE, H5E_NOSPACE, "memory allocation failed");
  CHECK_THROWS_AS(throw_if_hdf5_lacks_memory(), std::bad_alloc);
  H5Eclear2(H5E_DEFAULT);
}

TEST_CASE("a result that another tool has added to has lost its checksum, and is read only if asked to") {
  const TempDir dir;
  write_result(sample_result(2, 3), dir / "r.h5", false);
  {
    H5::H5File file(dir / "r.h5", H5F_ACC_RDWR);
    file.createGroup("notes");
  }
  CHECK(contains(reading_fails_with(dir / "r.h5"), "has no checksum behind its data"));
  check_same(sample_result(2, 3), read_result(dir / "r.h5", Unsealed::read));
}
