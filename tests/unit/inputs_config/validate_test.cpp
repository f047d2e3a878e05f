#include "inputs/config/validate.hpp"

#include <doctest/doctest.h>

#include "inputs/config/energy_range.hpp"
#include "support.hpp"

using namespace atl;
using namespace atl::test;

namespace {
/// The rule that an override of the SAC system breaks, without the system's name in front.
std::string rule(const std::vector<std::string>& sets) {
  const std::string front = "system sac-4chip: ";
  const std::string message = set_error(sets);
  return message.starts_with(front) ? message.substr(front.size()) : "not a rule: " + message;
}
}  // namespace

TEST_CASE("directories of L2s take homes without SMs, and L2s that write through") {
  const std::initializer_list<std::string> kL2 = {"llc.organisation=memory_side", "l2.slices=16", "coherence.protocol=rec"};
  const auto error = [&](std::vector<std::string> more) {
    more.insert(more.begin(), kL2.begin(), kL2.end());
    return error_of([&] { read_system("sac-4chip", more); });
  };
  CHECK(error({}).find("tells other chips' L2s of a write, and not the home's own") != std::string::npos);
  CHECK(error({"partition.compute_chips=3", "partition.memory_chips=1"}).find("set `l2.writes` = through") !=
        std::string::npos);
  CHECK_NOTHROW(read_system("sac-4chip", {"llc.organisation=memory_side", "l2.slices=16", "coherence.protocol=rec",
                                          "partition.compute_chips=3", "partition.memory_chips=1", "l2.writes=through"}));
}

TEST_CASE("dies of two kinds make up the chips, and go with organisations that do not weigh them") {
  const auto with = [](std::uint32_t compute, std::uint32_t memory) {
    SystemConfig c = read_system("sac-4chip", {"llc.organisation=memory_side"});
    c.partition.compute_chips = compute, c.partition.memory_chips = memory;
    return c;
  };
  CHECK_NOTHROW(validate(with(3, 1)));
  CHECK_NOTHROW(validate(with(2, 4)));
  for (const auto& [compute, memory] : {std::pair{2, 1}, std::pair{5, 4}, std::pair{4, 5}})
    CHECK(error_of([&, c = with(compute, memory)] { validate(c); }).find("do not make up `chips` = 4") != std::string::npos);
  SystemConfig c = with(3, 1);
  c.partition.placement = Placement::fixed;
  CHECK(error_of([&] { validate(c); }).find("`partition.fixed_chip` = 0 has no memory") != std::string::npos);
  c = with(3, 1), c.llc.organisation = LlcOrganisation::sac;
  CHECK(error_of([&] { validate(c); }).find("`llc.organisation` = sac weighs chips that are alike") != std::string::npos);
  c = with(3, 1), c.llc.replication = Replication::degree_2;
  CHECK(error_of([&] { validate(c); }).find("weighs chips that are alike") != std::string::npos);
}

TEST_CASE("a configuration made in code is checked for ranges, too") {
  SystemConfig c;
  CHECK_NOTHROW(validate(c));
  c.link.latency_cycles = 0;
  CHECK(error_of([&] { validate(c); }) == "system custom: `link.latency_cycles` = 0 is out of range: 1 to 1000000 cycles");
  c = {};
  c.chips = 65;
  CHECK(error_of([&] { validate(c); }) == "system custom: `chips` = 65 is out of range: 1 to 64");
}

TEST_CASE("sizes that select address bits must be powers of two") {
  CHECK(rule({"line_bytes=96"}) == "`line_bytes` = 96 must be a power of two: take 64 or 128");
  CHECK(rule({"partition.page_kib=12"}) == "`partition.page_kib` = 12 must be a power of two: take 8 or 16");
  CHECK(rule({"partition.page_kib=0.75"}) == "`partition.page_kib` = 0.75 must be a power of two: take 0.5 or 1");
  CHECK(rule({"dram.row_bytes=3000"}) == "`dram.row_bytes` = 3000 must be a power of two: take 2048 or 4096");
  CHECK(rule({"dram.timing.burst_bytes=48"}) == "`dram.timing.burst_bytes` = 48 must be a power of two: take 32 or 64");
}

TEST_CASE("lines are at least 32 bytes") {
  CHECK(set_error({"line_bytes=16"}) == "--set: `line_bytes` = 16 is out of range: 64 to 128 B");
}

TEST_CASE("a cache must divide into sets: an L1, or an LLC with replication, into a power of two") {
  CHECK(rule({"l1.ways=3"}) ==
        "`l1.size_kib` = 128 cannot be divided into sets of `l1.ways` = 3 x `line_bytes` = 128: "
        "it must be a multiple of 384 bytes");
  CHECK(rule({"llc.ways=15"}) ==
        "`llc.size_kib` = 4096 cannot be divided into sets of `llc.slices` = 16 x `llc.ways` = 15 x `line_bytes` = 128: "
        "it must be a multiple of 30720 bytes");
  CHECK(set_error({"llc.size_kib=3072", "llc.organisation=memory_side"}) == "");
  CHECK(set_error({"llc.size_kib=3072", "llc.organisation=sac"}) == "");
  CHECK(rule({"llc.size_kib=3072", "llc.replication=selrep"}) ==
        "`llc.size_kib` = 3072 over `llc.slices` = 16 x `llc.ways` = 16 x `line_bytes` = 128 gives 96 sets, "
        "which must be a power of two: change the size or the ways");
}

TEST_CASE("an L1 that is switched off need not divide into sets") {
  CHECK(set_error({"l1.enabled=false", "l1.size_kib=127"}) == "");
}

TEST_CASE("clusters are full") {
  CHECK(rule({"noc.sms_per_cluster=3"}) ==
        "`sm.count` = 64 is not a multiple of `noc.sms_per_cluster` = 3: clusters must be full");
}

TEST_CASE("each scheduler has a warp") {
  CHECK(rule({"sm.schedulers=4", "sm.warps=2"}) == "`sm.schedulers` = 4 exceeds `sm.warps` = 2: give each scheduler a warp");
}

TEST_CASE("memory routers serve equal shares of slices and channels") {
  CHECK(rule({"noc.memory_routers=3"}) ==
        "`llc.slices` = 16 is not a multiple of `noc.memory_routers` = 3: every router serves equally many slices");
  CHECK(rule({"noc.virtual_channels=4"}) ==
        "`noc.virtual_channels` = 4 needs `chips` = 1, not 4: other chips' answers do not pass these routers; use 0");
  CHECK(rule({"noc.virtual_channels=4", "chips=1", "noc.cluster_gbps=125", "noc.slice_gbps=250"}) ==
        "`noc.virtual_channels` = 4 needs channels of one width: `noc.cluster_gbps` = 125, `noc.slice_gbps` = 250");
  CHECK(rule({"noc.memory_routers=16"}) ==
        "`dram.channels` = 8 is not a multiple of `noc.memory_routers` = 16: every router serves equally many channels");
}

TEST_CASE("channels and slices divide each other one way or the other") {
  CHECK(rule({"dram.channels=6", "partition.mapping=interleaved"}) ==
        "`dram.channels` = 6 and `llc.slices` = 16: one must be a multiple of the other");
  CHECK(set_error({"dram.channels=32"}) == "");
}

TEST_CASE("the PAE hash needs powers of two and says what works without") {
  const std::vector<std::string> odd{"dram.channels=11", "llc.slices=22", "llc.size_kib=2816"};
  CHECK(rule(odd) ==
        "`dram.channels` = 11 is not a power of two, which `partition.mapping` = pae needs: "
        "use `partition.mapping` = hashed");
  auto interleaved = odd;
  interleaved.emplace_back("partition.mapping=interleaved");
  CHECK(set_error(interleaved) == "");
  CHECK(rule({"dram.channels=128", "llc.slices=128"}) ==
        "`dram.channels` = 128 exceeds 64 with `partition.mapping` = pae: use hashed");
  CHECK(set_error({"dram.channels=128", "llc.slices=128", "partition.mapping=hashed"}) == "");
  CHECK(rule({"dram.timing.banks=12"}) ==
        "`dram.timing.banks` = 12 is not a power of two, which `partition.mapping` = pae needs: "
        "use `partition.mapping` = hashed");
}

TEST_CASE("pages of 2 MB need no chunks of their size under first touch") {
  CHECK_NOTHROW(read_system("sac-4chip", {"partition.page_kib=2048"}));
}

TEST_CASE("keys that would do nothing, or the contrary, are refused") {
  CHECK(rule({"llc.organisation=dynamic", "dynamic.min_ways=6", "llc.local_ways=1"})
            .find("leaves less than `dynamic.min_ways` = 6") != std::string::npos);
  CHECK(rule({"l2.slices=8", "llc.network=shared"}).find("`llc.network` = shared") != std::string::npos);
  const auto graph = [](const std::string& set) {
    try {
      read_system("mi300x", {set});
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  CHECK(graph("link.bandwidth_gbps=10").find("`link.bandwidth_gbps` is no link's here") != std::string::npos);
  CHECK(graph("link.latency_cycles=10").find("`link.latency_cycles` is no link's here") != std::string::npos);
  CHECK_NOTHROW(read_system("mi300x", {"link.edges=0-11 1-11:5 2-11@7 3-11 4-11 5-11 6-11 7-11 8-11 9-11 10-11",
                                       "link.bandwidth_gbps=10", "link.latency_cycles=10"}));
}

TEST_CASE("to name the kind of memory that a system has is no change of its timing") {
  const SystemConfig own = read_system("mi300x"), again = read_system("mi300x", {"dram.preset=hbm3"});
  CHECK(own.dram.timing == again.dram.timing);
  CHECK_FALSE(own.dram.timing == dram_timing(DramPreset::hbm3));
  CHECK(read_system("mi300x", {"dram.preset=hbm2e"}).dram.timing == dram_timing(DramPreset::hbm2e));
}

TEST_CASE("a split LLC has ways for both kinds of lines, and no full map") {
  CHECK(rule({"llc.organisation=static", "llc.local_ways=16"}).find("leaves none of `llc.ways` = 16") != std::string::npos);
  CHECK(rule({"llc.organisation=dynamic", "dynamic.min_ways=9"}).find("`dynamic.min_ways` = 9") != std::string::npos);
  CHECK(rule({"llc.organisation=dynamic", "coherence.protocol=full_map"}).find("use software") != std::string::npos);
  CHECK(rule({"llc.organisation=sac", "sac.crd_sets=4096"}).find("exceeds the 2048 sets") != std::string::npos);
  for (const std::string replication : {"selrep", "policy"}) {
    const std::string set = "llc.replication=" + replication;
    CHECK(rule({"llc.organisation=plugin", "llc.policy=mine.so", set, "selrep.directory_sets=4096"})
              .find("exceeds the 2048 sets there are to sample") != std::string::npos);
  }
  CHECK(rule({"llc.organisation=sac", "sac.crd_sets=12"}).find("must divide `llc.slices` = 16") != std::string::npos);
}

TEST_CASE("home directories go with every organisation that writes remote lines through") {
  for (const std::string protocol : {"directory", "hmg", "rec", "rec_adaptive", "ideal"}) {
    for (const std::string organisation : {"memory_side", "sm_side", "static", "dynamic", "sac"})
      CHECK(set_error({"llc.organisation=" + organisation, "coherence.protocol=" + protocol}) == "");
    CHECK(rule({"llc.organisation=static", "llc.remote_writes=back", "coherence.protocol=" + protocol}) ==
          "`llc.remote_writes` = back contradicts `coherence.protocol` = " + protocol +
              ", which writes remote lines through: use through");
  }
}

TEST_CASE("other chips' lines have no more MSHRs than there are") {
  CHECK(set_error({"llc.mshrs=8", "llc.remote_mshrs=8"}) == "");
  CHECK(rule({"llc.mshrs=8", "llc.remote_mshrs=9"}) == "`llc.remote_mshrs` = 9 are more than `llc.mshrs` = 8");
}

TEST_CASE("dirty remote lines that come home in the end are not those that the end writes back") {
  const std::string back = "llc.remote_writes=back", paid = "llc.write_back_at_end=true";
  CHECK(set_error({"llc.organisation=sac", back, paid}) == "");
  CHECK(set_error({"llc.organisation=static", back}) == "");
  CHECK(set_error({"llc.organisation=static", paid}) == "");
  for (const std::string organisation : {"llc.organisation=static", "llc.organisation=dynamic"})
    CHECK(rule({organisation, back, paid}).find("use through, or false") != std::string::npos);
}

TEST_CASE("slices without remote lines need no organisation that places them") {
  for (const std::string protocol : {"none_remote", "l1_only"}) {
    CHECK(set_error({"llc.organisation=sm_side", "coherence.protocol=" + protocol}) == "");
    CHECK(rule({"llc.organisation=sac", "coherence.protocol=" + protocol}) ==
          "`coherence.protocol` = " + protocol +
              " leaves no remote lines for `llc.organisation` = sac to place: use sm_side or memory_side");
  }
}

TEST_CASE("ranges that are chosen lie between bounds, which are powers of two, with one threshold below the other") {
  const auto adaptive = [](const std::string& set) { return rule({"coherence.protocol=rec_adaptive", set}); };
  CHECK(adaptive("rec_adaptive.min_range_bytes=384") ==
        "`rec_adaptive.min_range_bytes` = 384 must be a power of two: take 256 or 512");
  CHECK(adaptive("rec_adaptive.max_range_bytes=3072").find("take 2048 or 4096") != std::string::npos);
  CHECK(adaptive("rec_adaptive.min_range_bytes=128") ==
        "`rec_adaptive.min_range_bytes` = 128 is one line of `line_bytes` = 128");
  CHECK(adaptive("rec_adaptive.min_range_bytes=2048").find("`coherence.range_bytes` = 1024, the first") !=
        std::string::npos);
  CHECK(adaptive("rec_adaptive.max_range_bytes=512").find("`coherence.range_bytes` = 1024, the first") != std::string::npos);
  CHECK(adaptive("rec_adaptive.narrow_below=0.75").find("must be less than `rec_adaptive.widen_above`") !=
        std::string::npos);
  CHECK(set_error({"coherence.protocol=rec", "rec_adaptive.max_range_bytes=512"}) == "");
}

TEST_CASE("a directory has whole sets, of any number, also when it is scaled, and ranges of several lines") {
  CHECK(set_error({"coherence.protocol=directory", "coherence.directory_entries=96"}) == "");
  CHECK(rule({"coherence.protocol=directory", "coherence.directory_entries=100"}) ==
        "`coherence.directory_entries` = 100 over `coherence.directory_ways` = 8 and `scale` = 1 gives no whole number of "
        "sets");
  CHECK(rule({"coherence.protocol=rec", "coherence.directory_entries=8", "scale=2"}).find("`scale` = 2") !=
        std::string::npos);
  CHECK(set_error({"coherence.protocol=ideal", "coherence.directory_entries=100"}) == "");
  CHECK(rule({"coherence.protocol=rec", "coherence.range_bytes=384"}) ==
        "`coherence.range_bytes` = 384 must be a power of two: take 256 or 512");
  CHECK(rule({"coherence.protocol=rec", "coherence.range_bytes=128"}).find("is one line of `line_bytes` = 128") !=
        std::string::npos);
  CHECK(set_error({"coherence.protocol=directory", "coherence.range_bytes=128"}) == "");
  CHECK(scaled(read_system("sac-4chip", {"scale=4"})).coherence.directory_entries == 2048);
}

TEST_CASE("interleaved chunks are whole pages") {
  CHECK(set_error({"partition.page_kib=0.25"}) == "--set: `partition.page_kib` = 0.25 is out of range: 0.5 to 2048 KiB");
  CHECK(set_error({"partition.placement=interleaved", "partition.page_kib=0.5", "partition.interleave_kib=1.5"}) == "");
  CHECK(rule({"partition.placement=interleaved", "partition.page_kib=1", "partition.interleave_kib=1.5"}) ==
        "`partition.interleave_kib` = 1.5 is not a multiple of `partition.page_kib` = 1: chunks are whole pages");
  CHECK(rule({"partition.placement=interleaved", "partition.page_kib=8", "partition.interleave_kib=12"}) ==
        "`partition.interleave_kib` = 12 is not a multiple of `partition.page_kib` = 8: chunks are whole pages");
}

TEST_CASE("the fixed home is a chip of the system") {
  CHECK(rule({"partition.fixed_chip=4"}) == "`partition.fixed_chip` = 4 does not exist: `chips` = 4, counted from 0");
}

TEST_CASE("a block of CTAs fits on an SM where blocks are used") {
  CHECK(rule({"partition.cta_to_sm=bcs", "partition.bcs_block=64"}) ==
        "`partition.bcs_block` = 64 exceeds `sm.ctas` = 32: a block must fit on an SM");
  CHECK(set_error({"partition.bcs_block=64"}) == "");
}

TEST_CASE("DRAM timings are consistent with each other") {
  CHECK(rule({"dram.timing.bank_groups=3"}) ==
        "`dram.timing.banks` = 16 is not a multiple of `dram.timing.bank_groups` = 3: groups must be equally large");
  const std::string remedy = ": lower the first or raise the second";
  CHECK(rule({"dram.timing.ccdl=3"}) == "`dram.timing.ccd` = 4 exceeds `dram.timing.ccdl` = 3" + remedy);
  CHECK(rule({"dram.timing.ras=19"}) == "`dram.timing.rcd` = 20 exceeds `dram.timing.ras` = 19" + remedy);
  CHECK(rule({"dram.timing.rc=49"}) == "`dram.timing.ras` = 50 exceeds `dram.timing.rc` = 49" + remedy);
  CHECK(rule({"dram.timing.faw=9"}) == "`dram.timing.rrd` = 10 exceeds `dram.timing.faw` = 9" + remedy);
}

TEST_CASE("a burst is no longer than a line") {
  CHECK(rule({"line_bytes=64", "l1.ways=8", "llc.ways=32", "dram.timing.burst_bytes=128"}) ==
        "`dram.timing.burst_bytes` = 128 exceeds `line_bytes` = 64: use shorter bursts (and a higher clock)");
}

TEST_CASE("no energy or power is negative, and all may be nothing") {
  const SystemConfig c = read_system("sac-4chip");
  EnergyConfig::fields(c.energy, [&](const double&, const Field& field) {
    const std::string key = "energy." + std::string(field.key);
    CHECK(set_error({key + "=0"}) == "");
    CHECK(set_error({key + "=-1"}).starts_with("--set: `" + key + "` = -1 is out of range: 0 to "));
  });
}

TEST_CASE("adaptive replication keeps copies that only software coherence forgets, under every organisation") {
  for (const std::string organisation : {"memory_side", "sm_side", "sac"}) {
    const auto with = [&](const std::string& protocol) {
      return set_error({"llc.replication=adaptive", "llc.organisation=" + organisation, "coherence.protocol=" + protocol});
    };
    CHECK(with("software") == "");
    CHECK(with("rec").find("`llc.replication` = adaptive keeps copies of written lines that `coherence.protocol` = rec") !=
          std::string::npos);
  }
}

TEST_CASE("COLAB needs an L1, clusters of 2 to 16 SMs and a power of two of sets") {
  CHECK(set_error({"cluster.sharing=colab"}) == "");
  CHECK(set_error({"cluster.sharing=colab", "noc.sms_per_cluster=16"}) == "");
  CHECK(rule({"cluster.sharing=colab", "l1.enabled=false"}) ==
        "`cluster.sharing` = colab serves misses from L1s, but `l1.enabled` = false");
  for (const std::string size : {"1", "32"}) {
    CHECK(rule({"cluster.sharing=colab", "noc.sms_per_cluster=" + size}) ==
          "`cluster.sharing` = colab needs clusters of 2 to 16 SMs, but `noc.sms_per_cluster` = " + size);
  }
  CHECK(rule({"cluster.sharing=colab", "cluster.table_sets=48"}) ==
        "`cluster.table_sets` = 48 must be a power of two: take 32 or 64");
}

TEST_CASE("an L2 goes in front of a plain memory-side LLC under software coherence, and what else is asked for is named") {
  const std::string only =
      "`l2.slices` = 16 goes with `llc.organisation` = memory_side, `llc.replication` = shared, `coherence.protocol` = "
      "software or a home's directory and `noc.virtual_channels` = 0 only, not with ";
  const std::string where = " (docs/organisations.md, Two shared levels)";
  const auto with = [](std::vector<std::string> sets) {
    sets.insert(sets.begin(), {"l2.slices=16", "llc.organisation=memory_side"});
    return set_error(sets) == "" ? "" : rule(sets);
  };
  CHECK(with({}) == "");
  CHECK(with({"cluster.sharing=colab", "l2.writes=through", "l2.sectored=true"}) == "");
  for (const std::string organisation : {"sm_side", "static", "dynamic", "sac"})
    CHECK(with({"llc.organisation=" + organisation}) == only + "`llc.organisation` = " + organisation + where);
  for (const std::string replication : {"degree_2", "private", "adaptive", "selrep"})
    CHECK(with({"llc.replication=" + replication}) == only + "`llc.replication` = " + replication + where);
  for (const std::string protocol : {"full_map", "none_remote", "l1_only"})
    CHECK(with({"coherence.protocol=" + protocol}) == only + "`coherence.protocol` = " + protocol + where);
  for (const std::string protocol : {"directory", "hmg", "rec", "rec_adaptive", "ideal"})
    CHECK(with({"coherence.protocol=" + protocol}) ==
          "`coherence.protocol` = " + protocol +
              " tells other chips' L2s of a write, and not the home's own: with `l2.slices` = 16 it takes homes without SMs "
              "(`partition.compute_chips`, `memory_chips`), or use software");
  CHECK(with({"l2.ways=15"}) ==
        "`l2.size_kib` = 4096 cannot be divided into sets of `l2.slices` = 16 x `l2.ways` = 15 x `line_bytes` = 128: "
        "it must be a multiple of 30720 bytes");
  CHECK(with({"l2.size_kib=4000", "scale=64"}) == "`scale` = 64 does not divide `l2.size_kib` = 4000: take a power of two");
  CHECK(with({"l2.slices=12", "l2.size_kib=3072", "partition.mapping=interleaved"}) ==
        "`dram.channels` = 8 and `l2.slices` = 12: one must be a multiple of the other");
  CHECK(set_error({"l2.latency_cycles=0"}) == "--set: `l2.latency_cycles` = 0 is out of range: 1 to 1000 cycles");
}

TEST_CASE("every price of energy has a range, in the order of its keys") {
  EnergyConfig c;
  std::size_t i = 0;
  EnergyConfig::fields(c, [&](double& price, const Field& field) {
    REQUIRE(i < kEnergyRanges.size());
    CAPTURE(field.key);
    CHECK(kEnergyRanges[i].key == field.key);
    CHECK(&(c.*kEnergyRanges[i].price) == &price);
    CHECK(kEnergyRanges[i].factor > 1);
    ++i;
  });
  CHECK(i == kEnergyRanges.size());
}
