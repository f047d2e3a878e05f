#include "inputs/config/keys_at_odds.hpp"

#include <doctest/doctest.h>

#include "inputs/config/presets.hpp"
#include "inputs/config/reader.hpp"

using namespace atl;

namespace {

using Lines = std::vector<std::string>;

Lines at_odds(const std::vector<std::string>& sets) { return keys_at_odds(read_system("sac-4chip", sets)); }

TEST_CASE("nothing is at odds in a preset") {
  for (const EmbeddedFile& file : embedded_systems()) {
    CAPTURE(file.name);
    CHECK(keys_at_odds(read_system(std::string(file.name))).empty());
  }
}

TEST_CASE("SAC on one chip is named, where nothing is to be decided") {
  CHECK(at_odds({"llc.organisation=sac"}).empty());
  CHECK(at_odds({"llc.organisation=memory_side", "chips=1"}).empty());
  REQUIRE(at_odds({"llc.organisation=sac", "chips=1"}).size() == 1);
  CHECK(at_odds({"llc.organisation=sac", "chips=1"})[0].starts_with("`llc.organisation` = sac on one chip: "));
}

TEST_CASE("SM-side caching on one chip is named, which only adds flushes") {
  CHECK(at_odds({"llc.organisation=sm_side"}).empty());
  REQUIRE(at_odds({"llc.organisation=sm_side", "chips=1"}).size() == 1);
  CHECK(at_odds({"llc.organisation=sm_side", "chips=1"})[0].starts_with("`llc.organisation` = sm_side on one chip: "));
  CHECK(at_odds({"llc.organisation=sac", "chips=1"})[0].find("only adds flushes") != std::string::npos);
}

TEST_CASE("ways for remote lines are named on one chip, which stay empty") {
  CHECK(at_odds({"llc.organisation=static"}).empty());
  REQUIRE(at_odds({"llc.organisation=static", "chips=1"}).size() == 1);
  CHECK(at_odds({"llc.organisation=static", "chips=1"})[0].starts_with("`llc.organisation` = static on one chip: "));
  CHECK(at_odds({"llc.organisation=dynamic", "chips=1"})[0].starts_with("`llc.organisation` = dynamic on one chip: "));
}

TEST_CASE("links that a system of one chip never had, and ports that do not follow the clock, are named") {
  const auto said = [](const char* system, const std::vector<std::string>& sets, const std::vector<std::string>& given) {
    return unlike_base(read_system(system), read_system(system, sets), given);
  };
  CHECK(said("a100", {}, {}).empty());
  const Lines links = said("a100", {"chips=2"}, {"chips"});
  REQUIRE(links.size() == 1);
  CHECK(links[0].find("whose links are the default: a ring of 96 GB/s each way and 32 cycles") != std::string::npos);
  CHECK(said("a100", {"chips=2", "link.bandwidth_gbps=300"}, {"chips", "link.bandwidth_gbps"}).empty());
  CHECK(said("sac-4chip", {"chips=8"}, {"chips"}).empty());
  const Lines clock = said("selrep-gpu", {"core_clock_mhz=2800"}, {"core_clock_mhz"});
  REQUIRE(clock.size() == 1);
  CHECK(clock[0].find("a port passes 16 B per cycle where it passed 32") != std::string::npos);
  CHECK(said("selrep-gpu", {"core_clock_mhz=2800", "llc.slice_gbps=89.6"}, {"core_clock_mhz", "llc.slice_gbps"}).empty());
}

TEST_CASE("a range wider than a page is named, where the protocol has ranges") {
  const auto said = [](const std::vector<std::string>& sets) { return keys_at_odds(read_system("rec-4gpu", sets)); };
  CHECK(said({"coherence.range_bytes=4096"}).empty());
  CHECK(said({"coherence.range_bytes=4096", "partition.page_kib=1", "coherence.protocol=directory"}).empty());
  const Lines lines = said({"coherence.protocol=rec", "coherence.range_bytes=4096", "partition.page_kib=1"});
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].starts_with("`coherence.range_bytes` = 4096 is more than `partition.page_kib` = 1 holds: "));
  CHECK(said({"coherence.protocol=rec_adaptive", "partition.page_kib=2"}).size() == 1);
}

TEST_CASE("another memory with the prices of the one before is named, with the keys to set") {
  const SystemConfig base = read_system("sac-4chip");
  const auto said = [&](const std::vector<std::string>& sets) { return other_memory(base, read_system("sac-4chip", sets)); };
  CHECK(said({}).empty());
  CHECK(said({"dram.preset=gddr6"}).empty());
  CHECK(said({"dram.preset=hbm2", "energy.dram_read_pj_per_bit=3.9"}).empty());
  const std::string text = said({"dram.preset=hbm2"});
  CHECK(text.starts_with("`dram.preset` = hbm2, and `energy.dram_read_pj_per_bit` = "));
  CHECK(text.find(" is still gddr6's: set it and `energy.dram_write_pj_per_bit` as well") != std::string::npos);
}

TEST_CASE("a port is 250 GB/s wide, or as wide as its link if that is more, or what is said") {
  CHECK(link_port_gbps(read_system("sac-4chip"), 96) == 250);
  CHECK(link_port_gbps(read_system("sac-4chip"), 384) == 384);
  CHECK(link_port_gbps(read_system("sac-4chip", {"noc.link_port_gbps=100"}), 384) == 100);
}

TEST_CASE("a port that is narrower than its link is named, with what fits") {
  CHECK(at_odds({"noc.link_port_gbps=95"}) ==
        Lines{"`noc.link_port_gbps` = 95 is less than `link.bandwidth_gbps` = 96: the port limits what comes over a link; 0 "
              "fits any link"});
  CHECK(at_odds({"noc.link_port_gbps=96"}).empty());
  CHECK(at_odds({"noc.link_port_gbps=95", "chips=1"}).empty());
}

TEST_CASE("buffers that hold less than what is on its way there and back are named, with how many would do") {
  // 768 B per cycle, 32 cycles there and 32 back, 8 until credits are sent, packets of 136 B
  CHECK(at_odds({"link.bandwidth_gbps=768"}) ==
        Lines{"`link.buffer_packets` = 256 hold 63 % of what `link.bandwidth_gbps` = 768 carries in the 72 cycles there and "
              "back: links wait for buffers; 407 would do"});
  CHECK(at_odds({"link.bandwidth_gbps=768", "link.buffer_packets=406"}).size() == 1);
  CHECK(at_odds({"link.bandwidth_gbps=768", "link.buffer_packets=407"}).empty());
  // Behind a switch each of three others has buffers of its own.
  CHECK(at_odds({"link.bandwidth_gbps=768", "link.topology=switch"}).empty());
  CHECK(at_odds({"link.bandwidth_gbps=768", "link.topology=switch", "link.buffer_packets=135"}).size() == 1);
}

TEST_CASE("of a graph, each link is looked at with its own bandwidth and latency") {
  const auto preset = [](const std::string& set) { return keys_at_odds(read_system("mi300x", {set})); };
  // 2150.4 GB/s at 2100 MHz are 1024 B per cycle; 75 cycles there and back and 8 more; packets of 136 B: 1190 by hand
  REQUIRE(preset("link.buffer_packets=25").size() == 1);
  CHECK(preset("link.buffer_packets=25")[0].find("what link 8-0 of `link.edges` = 2150.4 carries") != std::string::npos);
  CHECK(preset("link.buffer_packets=1189").size() == 1);
  CHECK(preset("link.buffer_packets=1190").empty());
  CHECK(preset("noc.link_port_gbps=2150").size() == 1);
  CHECK(preset("noc.link_port_gbps=2151").empty());
}

TEST_CASE("directories that foretell hits have the ways of the LLC, and SelRep's no sectors") {
  CHECK(at_odds({"llc.organisation=sac"}).empty());
  const Lines crd = at_odds({"llc.organisation=sac", "llc.ways=8"});
  REQUIRE(crd.size() == 1);
  CHECK(crd[0].find("`sac.crd_ways` = 16 is not `llc.ways` = 8") != std::string::npos);
  CHECK(at_odds({"llc.organisation=sac", "llc.ways=8", "sac.crd_ways=8"}).empty());
  CHECK(at_odds({"llc.organisation=sm_side", "llc.ways=8"}).empty());
  const auto selrep = [](const std::vector<std::string>& sets) { return keys_at_odds(read_system("selrep-gpu", sets)); };
  CHECK(selrep({"llc.replication=selrep"}).empty());
  const Lines ways = selrep({"llc.replication=selrep", "llc.ways=8"});
  REQUIRE(ways.size() == 1);
  CHECK(ways[0].find("`selrep.directory_ways` = 16 is not `llc.ways` = 8") != std::string::npos);
  const Lines sectors = selrep({"llc.replication=selrep", "llc.sectored=true"});
  REQUIRE(sectors.size() == 1);
  CHECK(sectors[0].find("knows lines and no sectors") != std::string::npos);
}

TEST_CASE("virtual channels that hold no whole packet are named") {
  const auto channels = [](const std::string& set) { return keys_at_odds(read_system("selrep-gpu", {set})); };
  CHECK(channels("noc.virtual_channels=4").empty());
  REQUIRE(channels("noc.flit_bytes=1").size() == 1);
  CHECK(channels("noc.flit_bytes=1")[0].find("hold 32 B with `noc.flit_bytes` = 1") != std::string::npos);
}

}  // namespace
