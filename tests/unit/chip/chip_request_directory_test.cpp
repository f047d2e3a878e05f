#include "core/chip/profile/chip_request_directory.hpp"

#include <doctest/doctest.h>

namespace atl {
namespace {

SystemConfig two_sets_of(std::uint32_t ways) {
  SystemConfig c;
  c.sac.crd_sets = 2, c.sac.crd_ways = ways;
  return c;
}

bool access(ChipRequestDirectory& d, PacketKind kind, std::uint32_t set, std::uint64_t line, std::uint32_t chip,
            std::uint8_t sectors, std::uint8_t flags = 0) {
  return d.access(
      set, {.line = {line}, .source = static_cast<std::uint8_t>(chip), .kind = kind, .sectors = sectors, .flags = flags});
}
bool read(ChipRequestDirectory& d, std::uint32_t set, std::uint64_t line, std::uint32_t chip, std::uint8_t sectors) {
  return access(d, PacketKind::read, set, line, chip, sectors);
}

TEST_CASE("a chip hits on a line it asked for before, and misses on one that only others asked for") {
  ChipRequestDirectory d(two_sets_of(4));
  CHECK_FALSE(read(d, 0, 10, 1, 0xF));  // tag absent
  CHECK(read(d, 0, 10, 1, 0xF));
  CHECK_FALSE(read(d, 0, 10, 2, 0xF));  // tag present, bit clear
  CHECK(read(d, 0, 10, 2, 0xF));
  CHECK(read(d, 0, 10, 1, 0xF));
  CHECK_FALSE(read(d, 1, 10, 1, 0xF));  // sets are apart
}

TEST_CASE("a full set replaces the least recently used tag, with all its bits") {
  ChipRequestDirectory d(two_sets_of(2));
  read(d, 0, 1, 0, 0xF), read(d, 0, 1, 3, 0xF);
  read(d, 0, 2, 0, 0xF);
  CHECK(read(d, 0, 1, 0, 0xF));        // line 2 is the older one now
  CHECK_FALSE(read(d, 0, 3, 0, 0xF));  // replaces 2
  CHECK(read(d, 0, 1, 3, 0xF));        // 1 kept both bits
  CHECK_FALSE(read(d, 0, 2, 0, 0xF));  // replaces 3
  CHECK_FALSE(read(d, 0, 3, 0, 0xF));  // replaces 1
  CHECK_FALSE(read(d, 0, 1, 3, 0xF));
}

TEST_CASE("as published, a set of 4 tags remembers 4 lines of 4 chips each: 16 copies") {
  ChipRequestDirectory d(two_sets_of(4));
  for (std::uint64_t line = 0; line < 4; ++line)
    for (std::uint32_t chip = 0; chip < 4; ++chip) CHECK_FALSE(read(d, 0, line, chip, 0xF));
  for (std::uint64_t line = 0; line < 4; ++line)
    for (std::uint32_t chip = 0; chip < 4; ++chip) CHECK(read(d, 0, line, chip, 0xF));
}

TEST_CASE("counting copies, a set of 4 ways holds 4 of them: one line of 4 chips, or 4 lines of one") {
  SystemConfig c = two_sets_of(4);
  c.sac.crd_counts_copies = true;
  ChipRequestDirectory d(c);
  for (std::uint64_t line = 0; line < 4; ++line) read(d, 0, line, 0, 0xF);
  for (std::uint64_t line = 0; line < 4; ++line) CHECK(read(d, 0, line, 0, 0xF));
  CHECK_FALSE(read(d, 0, 3, 1, 0xF));  // a fifth copy: line 0 goes
  CHECK(read(d, 0, 1, 0, 0xF));
  CHECK_FALSE(read(d, 0, 0, 0, 0xF));  // five again: line 2 goes, the oldest but for the two just used and line 3
}

TEST_CASE("a sectored directory hits only if the chip asked for every one of the sectors") {
  SystemConfig c = two_sets_of(4);
  c.llc.sectored = true;
  ChipRequestDirectory d(c);
  CHECK_FALSE(read(d, 0, 1, 0, 0x3));
  CHECK(read(d, 0, 1, 0, 0x1));
  CHECK_FALSE(read(d, 0, 1, 0, 0x6));  // sector 1 yes, sector 2 no
  CHECK(read(d, 0, 1, 0, 0x7));
  CHECK_FALSE(read(d, 0, 1, 1, 0x1));
}

TEST_CASE("a store hits a line as in the LLC, by its tag, and one of part of a sector does not bring the sector") {
  SystemConfig c = two_sets_of(4);
  c.llc.sectored = true;
  ChipRequestDirectory d(c);
  CHECK_FALSE(access(d, PacketKind::write, 0, 1, 0, 0x1));
  CHECK(access(d, PacketKind::write, 0, 1, 0, 0x2));
  CHECK_FALSE(access(d, PacketKind::write, 0, 1, 1, 0x2));
  CHECK(read(d, 0, 1, 0, 0x3));
  CHECK(access(d, PacketKind::write, 0, 1, 0, 0x4, kPartialWrite));
  CHECK_FALSE(read(d, 0, 1, 0, 0x4));
  CHECK_FALSE(access(d, PacketKind::write, 0, 2, 3, 0x1, kPartialWrite));
  CHECK(access(d, PacketKind::write, 0, 2, 3, 0x1, kPartialWrite));
}

TEST_CASE("clear forgets everything") {
  ChipRequestDirectory d(two_sets_of(4));
  read(d, 0, 1, 0, 0xF);
  d.clear();
  CHECK_FALSE(read(d, 0, 1, 0, 0xF));
}

}  // namespace
}  // namespace atl
