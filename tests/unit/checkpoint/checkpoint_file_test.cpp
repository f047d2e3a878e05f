#include "core/control/checkpoint_file.hpp"

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <fstream>

#include "core/stats/version.hpp"
#include "resumable.hpp"

namespace atl::test {
namespace {

namespace fs = std::filesystem;

/// A folder that is removed in the end.
struct Folder {
  Folder() : path(fs::temp_directory_path() / fmt::format("atoll-ckpt-{}", getpid())) { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string& name) const { return (path / name).string(); }
  fs::path path;
};

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void put(const std::string& path, const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

CheckpointHeader header() {
  CheckpointHeader h;
  h.version = version(), h.commit = git_commit();
  h.config = "{\"chips\": 2}", h.workload = "w.json", h.workload_digest = "0123", h.command = "atoll run";
  h.boundary = 640, h.max_cycles = 99999, h.every_minutes = 2.5, h.host_seconds = 17.25;
  return h;
}

/// What reading the file says: empty if it is read.
std::string refusal(const std::string& path) {
  try {
    read_checkpoint(path);
    return {};
  } catch (const InputError& e) {
    return e.what();
  }
}

TEST_CASE("a checkpoint file is read as it was written") {
  const Folder folder;
  CheckpointHeader h = header();
  const SystemState state{640, 20, {"chip 0", std::string(100000, '\7'), ""}};
  write_checkpoint(folder / "a", h, state);
  const Checkpoint c = read_checkpoint(folder / "a");
  CHECK(c.header.config == h.config);
  CHECK(c.header.workload == h.workload);
  CHECK(c.header.workload_digest == h.workload_digest);
  CHECK(c.header.command == h.command);
  CHECK(c.header.max_cycles == h.max_cycles);
  CHECK(c.header.every_minutes == h.every_minutes);
  CHECK(c.header.host_seconds == h.host_seconds);
  CHECK(c.state.boundary == 640);
  CHECK(c.state.windows == 20);
  CHECK(c.state.processes == state.processes);
}

TEST_CASE("a checkpoint with any bit of preamble or header flipped, or 200 anywhere, is refused by name") {
  const Folder folder;
  const std::string path = folder / "out.h5.640.ckpt";
  CheckpointHeader h = header();
  write_checkpoint(path, h, {640, 20, {std::string(3000, 'a'), std::string(2000, 'b')}});
  const std::string good = contents(path);
  REQUIRE(good.size() > 5000);
  const std::size_t head = good.size() - 5000;
  std::mt19937 random(1);
  const auto check = [&](std::size_t at, unsigned bit) {
    CAPTURE(at);
    CAPTURE(bit);
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1 << bit);
    put(path, bad);
    const std::string said = refusal(path);
    CHECK(said.starts_with(path + ": "));
    CHECK(
        (said.find("is damaged") != std::string::npos || (at < 8 && said.find("is not a checkpoint") != std::string::npos)));
  };
  for (std::size_t at = 0; at < head; ++at) check(at, random() % 8);
  for (int i = 0; i < 200; ++i) check(random() % good.size(), random() % 8);
}

TEST_CASE("a checkpoint that is cut short anywhere, or has more behind it, is refused") {
  const Folder folder;
  const std::string path = folder / "a";
  CheckpointHeader h = header();
  write_checkpoint(path, h, {640, 20, {std::string(100, 'a'), std::string(50, 'b')}});
  const std::string good = contents(path);
  for (std::size_t size = 0; size < good.size(); ++size) {
    put(path, good.substr(0, size));
    CHECK(refusal(path) != "");
  }
  put(path, good + "x");
  CHECK(refusal(path).find("something follows its end") != std::string::npos);
}

TEST_CASE("a checkpoint's header is read without the blocks behind it, and refused like the whole") {
  const Folder folder;
  const std::string path = folder / "a";
  CheckpointHeader h = header();
  write_checkpoint(path, h, {640, 20, {std::string(3000, 'a')}});
  const std::string good = contents(path);
  const std::size_t head = good.size() - 3000;
  CHECK(read_checkpoint_header(path).config == h.config);
  put(path, good.substr(0, head));
  CHECK(read_checkpoint_header(path).command == h.command);
  for (std::size_t size = 0; size < head; ++size) {
    put(path, good.substr(0, size));
    CHECK_THROWS_AS(read_checkpoint_header(path), InputError);
  }
  std::string bad = good;
  bad[head - 1] = static_cast<char>(bad[head - 1] ^ 1);
  put(path, bad);
  CHECK_THROWS_WITH_AS(read_checkpoint_header(path), doctest::Contains("is damaged"), InputError);
  h.commit = "0123456789ab";
  write_checkpoint(path, h, {640, 20, {}});
  CHECK_THROWS_WITH_AS(read_checkpoint_header(path), doctest::Contains("only that build can read it"), InputError);
}

TEST_CASE("a checkpoint of another build, another format or no checkpoint is refused and told so") {
  const Folder folder;
  CheckpointHeader h = header();
  h.commit = "0123456789ab";
  write_checkpoint(folder / "a", h, {640, 20, {}});
  CHECK(refusal(folder / "a").find("only that build can read it") != std::string::npos);
  put(folder / "text", "something else, long enough to hold the first bytes of a checkpoint");
  CHECK(refusal(folder / "text").find("is not a checkpoint of Atoll") != std::string::npos);
  CHECK(refusal(folder / "none").find("there is no such file") != std::string::npos);
  CHECK(refusal(folder.path.string()).find("is not a checkpoint") != std::string::npos);
}

TEST_CASE("checkpoints of an output are found by name, in the order of their cycles") {
  const Folder folder;
  for (const char* name : {"o.h5.900.ckpt", "o.h5.1000.ckpt", "o.h5.ckpt", "o.h5.x.ckpt", "o.h5.5.ckpt.part", "p.h5.7.ckpt",
                           "o.h51.ckpt", "o.h5..ckpt"})
    put(folder / name, "");
  CHECK(checkpoints_of(folder / "o.h5") == std::vector<std::string>{folder / "o.h5.900.ckpt", folder / "o.h5.1000.ckpt"});
  CHECK(unfinished_checkpoints_of(folder / "o.h5") == std::vector<std::string>{folder / "o.h5.5.ckpt.part"});
  CHECK(output_of_checkpoint("a/o.h5.900.ckpt") == "a/o.h5");
  CHECK(checkpoint_path("a/o.h5", 900) == "a/o.h5.900.ckpt");
  CHECK_THROWS_AS(output_of_checkpoint("a/o.ckpt"), InputError);
  CHECK_THROWS_AS(output_of_checkpoint("a/o.h5"), InputError);
}

}  // namespace
}  // namespace atl::test
