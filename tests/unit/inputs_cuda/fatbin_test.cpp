#include "inputs/cuda/fatbin.hpp"

#include <doctest/doctest.h>

#include "core/engine/error.hpp"
#include "fatbin_blob.hpp"

using namespace atl;
using namespace atl::cuda;
using test::Blob;
using test::container;

namespace {

constexpr std::uint64_t kRaw = 0x11, kLz4 = 0x2011, kZstd = 0x8011;

std::string long_text() {
  std::string text = ".version 9.0\n.target sm_75\n";
  for (int i = 0; i < 500; ++i) text += "add.s32 %r" + std::to_string(i) + ", %r1, %r2;\n";
  return text;
}

std::string only_text(const Blob& blob) { return ptx_text(list_entries(blob, "blob").at(0), "blob"); }

}  // namespace

TEST_CASE("PTX comes out the same whether stored raw, as an LZ4 block or as a zstd frame") {
  for (const std::uint64_t flags : {kRaw, kLz4, kZstd})
    CHECK(only_text(container({{1, 75, long_text(), flags, ""}})) == long_text());
}

TEST_CASE("entries keep their order, kind, architecture and options") {
  const Blob blob = container({{2, 75, "ELF", kRaw, ""}, {1, 80, "text", kZstd, " -g "}, {8, 90, "bits", kRaw, ""}});
  const auto entries = list_entries(blob, "blob");
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].kind == FatbinEntry::Kind::cubin);
  CHECK(entries[1].kind == FatbinEntry::Kind::ptx);
  CHECK(entries[1].arch == 80);
  CHECK(entries[1].options == " -g ");
  CHECK(entries[2].kind == FatbinEntry::Kind::lto);
}

TEST_CASE("a container without entries is valid, as the device-link container of a PTX-only build") {
  CHECK(list_entries(container({}), "blob").empty());
}

TEST_CASE("a section is a row of containers with padding between them") {
  Blob section = container({});
  for (const unsigned arch : {75u, 80u}) {
    const Blob next = container({{1, arch, "text", kRaw, ""}});
    section.insert(section.end(), next.begin(), next.end());
    section.resize(section.size() + 8);
  }
  const auto entries = list_section(section, "section");
  REQUIRE(entries.size() == 2);
  CHECK(entries[1].arch == 80);
}

TEST_CASE("the PTX chosen is the newest that the device can run") {
  const Blob blob =
      container({{1, 75, "a", kRaw, ""}, {2, 90, "b", kRaw, ""}, {1, 80, "c", kRaw, ""}, {1, 120, "d", kRaw, ""}});
  const auto entries = list_entries(blob, "blob");
  CHECK(choose_ptx(entries, 90)->arch == 80);
  CHECK(choose_ptx(entries, 120)->arch == 120);
  CHECK(choose_ptx(entries, 70) == nullptr);
  const Blob elf = container({{2, 90, "b", kRaw, ""}});
  CHECK(choose_ptx(list_entries(elf, "elf"), 90) == nullptr);
}

TEST_CASE("newer PTX stands for machine code that the device would run") {
  const auto all = list_entries(container({{2, 80, "a", kRaw, ""}, {2, 90, "b", kRaw, ""}, {1, 120, "c", kRaw, ""}}), "all");
  CHECK(choose_ptx(all, 90) == nullptr);
  CHECK(ptx_beside_machine_code(all, 90)->arch == 120);
  CHECK(ptx_beside_machine_code(all, 86)->arch == 120);  // runs that for 8.0
  CHECK(ptx_beside_machine_code(all, 75) == nullptr);
  CHECK(ptx_beside_machine_code(all, 100) == nullptr);
}

TEST_CASE("PTX for one architecture or family is for no others") {
  constexpr std::uint64_t kSuffixA = 0x100000, kSuffixF = 0x200000;
  const auto entries = list_entries(
      container({{1, 80, "a", kRaw, ""}, {1, 90, "b", kRaw | kSuffixA, ""}, {1, 100, "c", kRaw | kSuffixF, ""}}), "blob");
  CHECK(choose_ptx(entries, 89)->arch == 80);
  CHECK(choose_ptx(entries, 90)->arch == 90);
  CHECK(choose_ptx(entries, 100)->arch == 100);
  CHECK(choose_ptx(entries, 103)->arch == 100);
  CHECK(choose_ptx(entries, 120)->arch == 80);
}

TEST_CASE("bytes that are no fat binary, or a part of one, are refused") {
  CHECK_THROWS_WITH_AS(list_entries(Blob(64), "x.o"), "x.o: is not a fat binary", InputError);
  const Blob blob = container({{1, 75, long_text(), kZstd, ""}});
  for (const std::size_t size : {8ul, 16ul, 40ul, blob.size() / 2, blob.size() - 1})
    CHECK_THROWS_AS(list_entries(Bytes(blob).first(size), "x.o"), InputError);
}

TEST_CASE("damaged compressed text is refused and not read beyond its end") {
  for (const std::uint64_t flags : {kLz4, kZstd}) {
    Blob blob = container({{1, 75, long_text(), flags, ""}});
    for (std::size_t i = 0; i < 24; ++i) blob[blob.size() - 32 + i] ^= 0x5A;
    CHECK_THROWS_AS(only_text(blob), InputError);
    Blob shorter = container({{1, 75, long_text(), flags, ""}});
    test::poke<std::uint64_t>(shorter, 16 + 0x38, long_text().size() + 100);
    CHECK_THROWS_AS(only_text(shorter), InputError);
    test::poke<std::uint64_t>(shorter, 16 + 0x38, ~0ull);
    CHECK_THROWS_WITH_AS(only_text(shorter), doctest::Contains("damaged"), InputError);
  }
}
