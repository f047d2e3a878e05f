#include <doctest/doctest.h>

#include <bit>
#include <cmath>

#include "core/chip/sm/ownership_table.hpp"
#include "inputs/config/reader.hpp"
#include "partition/replica_map.hpp"
#include "policies/coherence/directory_layout.hpp"

/// Sizes and bandwidths that the papers print and that follow from a preset (docs/reproduction.md).

using namespace atl;

namespace {

SystemConfig rec(const char* protocol, const char* range = "coherence.range_bytes=1024") {
  return read_system("rec-4gpu", {std::string("coherence.protocol=") + protocol, range});
}

double l2_bytes(const SystemConfig& c) { return c.llc.size_kib * 1024.0; }

/// Per cent, rounded to one decimal as printed.
double per_cent(double share) { return std::round(1000 * share) / 10; }

}  // namespace

TEST_CASE("SAC: 96 GB/s each way per neighbour lie between NVLink 2 and 3, 150 and 300 GB/s both ways in a ring of four") {
  const SystemConfig c = read_system("sac-4chip", {});
  CHECK(2 * c.link.bandwidth_gbps > 150);
  CHECK(2 * c.link.bandwidth_gbps < 300);
}

TEST_CASE("SAC: 32 clusters, 16 slices and 6 links of 64 GB/s make a crossbar of 38 x 22 ports") {
  const SystemConfig c = read_system("sac-4chip", {});
  const double links = 2 * 2 * c.link.bandwidth_gbps / 64;  // two neighbours, both ways
  const std::uint32_t clusters = c.sm.count / c.noc.sms_per_cluster;
  CHECK(clusters + links == 38);
  CHECK(c.llc.slices + links == 22);
}

TEST_CASE("SelRep: four bits more in the tag, one for each doubling of the degree, are less than 0.4 % of a line") {
  const SystemConfig c = read_system("selrep-gpu", {});
  const double bits = ReplicaMap(c).levels() - 1;
  CHECK(bits == 4);
  CHECK(bits / (c.line_bytes * 8) < 0.004);
}

TEST_CASE("SelRep: a read request takes 8 of the 32 bytes that a port moves per cycle") {
  const SystemConfig c = read_system("selrep-gpu", {});
  CHECK(c.noc.header_bytes == 8);
  CHECK(c.noc.flit_bytes == 32);
}

TEST_CASE("SelRep: 64 slices give 2.9 TB/s with 32 bytes per cycle and 1.4 TB/s with 16") {
  const SystemConfig c = read_system("selrep-gpu", {});
  CHECK(c.llc.slice_gbps == doctest::Approx(32 * c.core_clock_mhz / 1000));
  const double all = c.llc.slices * c.llc.slice_gbps / 1000;
  CHECK(std::round(10 * all) == 29);
  CHECK(std::round(10 * all / 2) == 14);
}

TEST_CASE("COLAB: table and queues are 2 % of the cluster's data and texture L1s, and 3 % of its data L1s") {
  const SystemConfig c = read_system("colab-gpu", {"cluster.sharing=colab"});
  const OwnershipTableShape shape = OwnershipTableShape::of(c);
  const double table = shape.entries() * shape.entry_bits(c.line_bytes) / 8.0;
  const double bytes = table + 8 * (c.cluster.input_queue + c.cluster.access_queue * c.noc.sms_per_cluster);
  const double data = c.noc.sms_per_cluster * c.l1.size_kib * 1024.0, texture = data;  // 48 KB each
  CHECK(std::round(100 * bytes / (data + texture)) == 2);
  CHECK(std::round(100 * bytes / data) == 3);
}

TEST_CASE("REC: three other GPUs' L2s hold 98,304 lines, twelve directories of 8 K entries") {
  const SystemConfig c = rec("directory");
  const double lines = (c.chips - 1) * l2_bytes(c) / c.line_bytes;
  CHECK(lines == 98304);
  CHECK(lines / c.coherence.directory_entries == 12);
}

TEST_CASE("REC: the baseline's directory is 2.5 % of an L2; six times of it 312 KB, 15.2 %, twelve times 624 KB, 30.5 %") {
  const SystemConfig c = rec("directory");
  const double bytes = directory_bytes(c);
  CHECK(per_cent(bytes / l2_bytes(c)) == 2.5);
  CHECK(6 * bytes == 312 * 1024);
  CHECK(per_cent(6 * bytes / l2_bytes(c)) == 15.2);
  CHECK(12 * bytes == 624 * 1024);
  CHECK(per_cent(12 * bytes / l2_bytes(c)) == 30.5);  // printed as 30.4, twice the rounded 15.2
}

TEST_CASE("REC: base, position and sharer bits of each range as in table 1") {
  const auto layout = [](const char* protocol, const char* range) { return directory_layout(rec(protocol, range)); };
  const auto check = [](const DirectoryLayout& l, std::uint32_t base, std::uint32_t position, std::uint32_t sharer) {
    CHECK(l.base_bits == base);
    CHECK(l.position_bits == position);
    CHECK(l.sharer_bits == sharer);
  };
  check(layout("directory", "coherence.range_bytes=1024"), 48, 0, 3);
  check(layout("rec", "coherence.range_bytes=128"), 41, 2, 6);
  check(layout("rec", "coherence.range_bytes=256"), 40, 4, 12);
  check(layout("rec", "coherence.range_bytes=1024"), 38, 16, 48);
  check(layout("rec", "coherence.range_bytes=4096"), 36, 64, 192);
}

TEST_CASE("REC: an entry for 4 KB is about six times as wide as the baseline's") {
  const double ratio =
      1.0 * directory_layout(rec("rec", "coherence.range_bytes=4096")).bits() / directory_layout(rec("directory")).bits();
  CHECK(std::round(ratio) == 6);
}

TEST_CASE("REC: an entry covers up to 16 lines where HMG's covers 4 and the baseline's one") {
  CHECK(directory_shape(rec("directory")).lines == 1);
  CHECK(directory_shape(rec("hmg")).lines == 4);
  CHECK(directory_shape(rec("rec")).lines == 16);
}
