#include "policies/coherence/directory_layout.hpp"

#include <doctest/doctest.h>

using namespace atl;

namespace {

SystemConfig machine(CoherenceProtocol protocol, std::uint32_t range = 1024, std::uint32_t chips = 4) {
  SystemConfig c;
  c.chips = chips, c.line_bytes = 64;
  c.coherence.protocol = protocol, c.coherence.range_bytes = range;
  return c;
}

}  // namespace

TEST_CASE("entries are as wide as in REC's table 1") {
  CHECK(directory_layout(machine(CoherenceProtocol::directory)).bits() == 52);
  CHECK(directory_layout(machine(CoherenceProtocol::rec, 128)).bits() == 50);
  CHECK(directory_layout(machine(CoherenceProtocol::rec, 256)).bits() == 57);
  CHECK(directory_layout(machine(CoherenceProtocol::rec, 1024)).bits() == 103);
  CHECK(directory_layout(machine(CoherenceProtocol::rec, 4096)).bits() == 293);
  const DirectoryLayout rec = directory_layout(machine(CoherenceProtocol::rec));
  CHECK(rec.base_bits == 38);
  CHECK(rec.position_bits == 16);
  CHECK(rec.sharer_bits == 48);
}

TEST_CASE("entries for 8 and 16 chips are as wide as REC says, 167 and 295 bits, and those of single lines 56 and 64") {
  CHECK(directory_layout(machine(CoherenceProtocol::rec, 1024, 8)).bits() == 167);
  CHECK(directory_layout(machine(CoherenceProtocol::rec, 1024, 16)).bits() == 295);
  CHECK(directory_layout(machine(CoherenceProtocol::directory, 1024, 8)).bits() == 56);
  CHECK(directory_layout(machine(CoherenceProtocol::directory, 1024, 16)).bits() == 64);
}

TEST_CASE("8 K entries take 52 KB for single lines and 103 KB for ranges of 1 KB") {
  CHECK(directory_bytes(machine(CoherenceProtocol::directory)) == 52 * 1024);
  CHECK(directory_bytes(machine(CoherenceProtocol::rec)) == 103 * 1024);
}

TEST_CASE("an entry of HMG's for four lines leaves two bits of the address out: 8 K of them take 50 KB") {
  CHECK(directory_layout(machine(CoherenceProtocol::hmg)).bits() == 50);
  CHECK(directory_bytes(machine(CoherenceProtocol::hmg)) == 50 * 1024);
}

TEST_CASE("REC replaces its least recently used entry and the others their oldest, unless told otherwise") {
  SystemConfig c = machine(CoherenceProtocol::rec);
  CHECK(directory_shape(c).lru);
  CHECK(directory_shape(c).lines == 16);
  CHECK(!directory_shape(c).common_sharers);
  c.coherence.directory_replacement = DirectoryReplacement::fifo;
  CHECK(!directory_shape(c).lru);
  c = machine(CoherenceProtocol::hmg);
  CHECK(!directory_shape(c).lru);
  CHECK(directory_shape(c).lines == 4);
  CHECK(directory_shape(c).common_sharers);
  CHECK(directory_shape(c).sets == 1024);
  CHECK(directory_shape(machine(CoherenceProtocol::directory)).lines == 1);
}

TEST_CASE("other ranges use the same bits: a power of two of sets, and as many ways as fit, at least the configured ones") {
  SystemConfig c = machine(CoherenceProtocol::rec_adaptive);
  const auto shape = [&](std::uint32_t range) { return directory_shape(c, range); };
  CHECK(directory_bytes(c) == 103 * 1024);
  CHECK(shape(128).sets == 2048);  // 16876 entries of 50 bits
  CHECK(shape(128).ways == 8);
  CHECK(shape(256).sets == 1024);  // 14803 of 57
  CHECK(shape(256).ways == 14);
  CHECK(shape(512).ways == 11);  // 11719 of 72
  CHECK(shape(1024).sets == 1024);
  CHECK(shape(1024).ways == 8);
  CHECK(shape(2048).sets == 512);  // 5083 of 166
  CHECK(shape(2048).ways == 9);
  CHECK(shape(4096).sets == 256);  // 2879 of 293
  CHECK(shape(4096).ways == 11);
  for (std::uint32_t range = 128; range <= 4096; range *= 2) {
    CHECK(shape(range).lines == range / 64);
    CHECK(shape(range).lru);
    SystemConfig other = c;
    other.coherence.range_bytes = range;
    const std::uint64_t used = std::uint64_t{shape(range).sets} * shape(range).ways * directory_layout(other).bits();
    CHECK(used <= directory_bytes(c) * 8);
    CHECK(used > directory_bytes(c) * 8 * 7 / 8);
  }
}
