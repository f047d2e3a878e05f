#include "inputs/workload/workload_files.hpp"

#include <doctest/doctest.h>

#include <fmt/format.h>
#include <filesystem>

#include <fstream>
#include <set>

#include "core/engine/error.hpp"

namespace {

struct WorkloadFolder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / "atoll_workload_files_test";
  WorkloadFolder() { std::filesystem::create_directories(path); }
  ~WorkloadFolder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream((path / name).string(), std::ios::binary) << text;
    return (path / name).string();
  }
};

std::string bytes_of(std::size_t count) {
  std::string text = "{";
  for (std::size_t i = 1; i < count; ++i) text += static_cast<char>('a' + i * 7 % 26);
  return text;
}

}  // namespace

TEST_CASE("however many processes share the pieces of a workload, its digest is that of one that reads all") {
  const WorkloadFolder folder;
  constexpr std::uint64_t kPiece = 1000;
  for (const std::size_t size : {1u, 999u, 1000u, 1001u, 3500u}) {
    const std::string file = folder.write("w.json", bytes_of(size));
    const atl::WorkloadFiles files(file, kPiece);
    CHECK(files.pieces() == (size + kPiece - 1) / kPiece);
    std::vector<std::uint64_t> pieces(files.pieces());
    for (std::size_t processes : {1u, 2u, 5u})
      for (std::size_t process = 0; process < processes; ++process) {
        const atl::WorkloadFiles own(file, kPiece);
        for (std::size_t p = process; p < own.pieces(); p += processes) pieces[p] = own.read(p);
        if (process + 1 == processes)
          CHECK(files.digest(pieces, "", "") == fmt::format("{:016x}", atl::digest_of_file(file, kPiece)));
      }
  }
}

TEST_CASE("every byte of every piece, and their number, are in the digest") {
  const WorkloadFolder folder;
  std::set<std::uint64_t> seen;
  const std::string text = bytes_of(260);
  seen.insert(atl::digest_of_file(folder.write("w", text), 100));
  for (std::size_t at = 0; at < text.size(); at += 13) {
    std::string changed = text;
    changed[at] ^= 1;
    seen.insert(atl::digest_of_file(folder.write("w", changed), 100));
  }
  CHECK(seen.size() == 1 + 20);
  for (const std::size_t size : {200u, 201u, 259u, 261u})
    seen.insert(atl::digest_of_file(folder.write("w", bytes_of(size)), 100));
  CHECK(seen.size() == 1 + 20 + 4);
}

TEST_CASE("a file seen by several names is the same one, its copy is another") {
  const WorkloadFolder folder;
  const std::string file = folder.write("w.json", "{}"), copy = folder.write("copy.json", "{}");
  std::filesystem::create_symlink(file, folder.path / "link.json");
  const auto identity = [](const std::string& name) { return atl::WorkloadFiles(name).identity(); };
  CHECK(identity(file) == identity((folder.path / "link.json").string()));
  CHECK(identity(file) != identity(copy));
  CHECK(atl::workload_digest(file) == atl::workload_digest(copy));
  CHECK_THROWS_AS(atl::WorkloadFiles((folder.path / "none.json").string()), atl::InputError);
}

TEST_CASE("files that are read while a run goes on are seen to change; the others may") {
  const WorkloadFolder folder;
  const std::string text = folder.write("w.json", "{}"), list = folder.write("kernelslist.g", "kernel-1.traceg\n");
  const std::string kernel = folder.write("kernel-1.traceg", "-kernel name = k\n");
  const atl::WorkloadFiles json(text), sass(list);
  CHECK(sass.touched().empty());
  folder.write("w.json", "{ }"), folder.write("kernelslist.g", "kernel-1.traceg\n\n");
  CHECK(json.touched().empty());
  CHECK(sass.touched().empty());
  folder.write("kernel-1.traceg", "-kernel name = other\n");
  CHECK(sass.touched() == kernel);
  const std::string magic("\x89HDF\r\n\x1a\n", 8), container = folder.write("t.h5", magic);
  const atl::WorkloadFiles trace(container);
  CHECK(trace.touched().empty());
  folder.write("other.h5", magic + "x");
  std::filesystem::rename(folder.path / "other.h5", folder.path / "t.h5");  // who has opened the old one goes on reading it
  CHECK(trace.touched().empty());
  const atl::WorkloadFiles written(container);
  folder.write("t.h5", magic + "yz");
  CHECK(written.touched() == container);
}
