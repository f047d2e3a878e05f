#include <doctest/doctest.h>

#include <array>
#include <span>
#include <string>
#include <tuple>

#include "inputs/config/reader.hpp"
#include "policies/combined.hpp"
#include "policies/registry.hpp"
#include "policies/replication/degree_bandwidth.hpp"
#include "policies/replication/degree_policies.hpp"

using namespace atl;

namespace {

DegreeCounts evenly(const std::array<std::uint64_t, 5>& hits_of_1000) {
  DegreeCounts c;
  c.sampled.assign(5, 1000), c.hits.assign(hits_of_1000.begin(), hits_of_1000.end()), c.routed.assign(80, 100);
  return c;
}

/// What chips report at the end of an epoch.
struct Report {
  std::vector<ChipEpoch> chips;
  Epoch at(Cycle end, Cycle length) const { return {0, end, length, chips}; }
};

Report report(std::initializer_list<DegreeCounts> counts) {
  Report r;
  for (const DegreeCounts& c : counts) r.chips.push_back({{}, {}, c});
  return r;
}

}  // namespace

TEST_CASE("LLC-slice parallelism is 1 for one busy slice, and the number of slices for even load") {
  CHECK(slice_parallelism(std::array<std::uint64_t, 4>{0, 700, 0, 0}) == 1);
  CHECK(slice_parallelism(std::array<std::uint64_t, 4>{7, 7, 7, 7}) == 4);
  CHECK(slice_parallelism(std::array<std::uint64_t, 4>{10, 5, 5, 0}) == 2);
  CHECK(slice_parallelism(std::array<std::uint64_t, 4>{}) == 1);
}

TEST_CASE("equation 2 with its terms: misses are worth no more than the slice's share of memory") {
  const SliceBandwidth b = slice_bandwidth(read_system("selrep-gpu", {}));
  CHECK(b.llc == doctest::Approx(44.8));      // 2.87 TB/s over 64 slices
  CHECK(b.memory == doctest::Approx(9.375));  // 600 GB/s over 64 slices
  const DegreeBandwidth d = degree_bandwidth(8, 0.5, b);
  CHECK(d.hits == doctest::Approx(22.4));
  CHECK(d.misses == doctest::Approx(9.375));
  CHECK(d.total() == doctest::Approx(8 * 31.775));
  CHECK(degree_bandwidth(8, 0.9, b).misses == doctest::Approx(4.48));  // few misses: memory keeps up
}

TEST_CASE("SelRep takes the degree of the most bandwidth, per chip, and keeps it for the next kernel") {
  const auto policy =
      make_selrep(read_system("selrep-gpu", {"llc.replication=selrep", "chips=2", "noc.virtual_channels=0"}));
  const auto start = policy->at_kernel_start(0, 1000).modes;
  REQUIRE(start.size() == 2);
  CHECK(start[0].replication == ReplicationModes{.level = 0, .profile = true});
  CHECK(start[0].epoch_cycles == 19000);  // the first epoch began with time

  DegreeCounts camped = evenly({900, 880, 870, 500, 100});
  camped.routed[0] = 1000;  // shared: one busy slice, parallelism 2.5
  const auto verdict = policy->at_epoch_end(report({camped, evenly({900, 500, 400, 300, 100})}).at(20000, 19000));
  REQUIRE(verdict);
  CHECK(verdict->modes[0].replication.level == 1);
  CHECK(verdict->modes[1].replication.level == 0);
  CHECK(verdict->modes[0].epoch_cycles == 20000);
  CHECK(verdict->decisions[0].choice == "degree_2 shared");
  for (const auto& [name, value] : verdict->decisions[0].values) {
    if (name == "chip0.degree") CHECK(value == 2);
    if (name == "chip1.degree") CHECK(value == 1);
  }

  const auto next = policy->at_kernel_start(1, 27000).modes;
  CHECK(next[0].replication.level == 1);
  CHECK(next[0].epoch_cycles == 13000);
  CHECK(policy->at_kernel_start(2, 90000).modes[0].epoch_cycles == 1000);  // overdue
}

TEST_CASE("with few misses at every degree SelRep takes the highest, of equal ones the lowest") {
  const auto policy = make_selrep(read_system("selrep-gpu", {"llc.replication=selrep"}));
  policy->at_kernel_start(0, 0);
  CHECK(policy->at_epoch_end(report({evenly({950, 950, 950, 950, 950})}).at(20000, 20000))->decisions[0].choice == "shared");
  DegreeCounts camped = evenly({950, 940, 930, 910, 900});
  for (std::size_t level = 0; level < 4; ++level) camped.routed[level * 16] = 200;
  CHECK(policy->at_epoch_end(report({camped}).at(40000, 20000))->decisions[0].choice == "private");
  // Nothing asked for: nothing learnt.
  DegreeCounts none;
  none.sampled.assign(5, 0), none.hits.assign(5, 0), none.routed.assign(80, 0);
  CHECK(policy->at_epoch_end(report({none}).at(60000, 20000))->decisions[0].choice == "private");
}

TEST_CASE("degrees within selrep.margin of the best bandwidth are alike, and selrep.tie says which of them is taken") {
  // Bandwidth is parallelism x 44.8 GB/s where misses stay below 21 %: 16, 15.84, 15.69, 15, 8 times that.
  DegreeCounts counts = evenly({950, 940, 930, 910, 900});
  const std::array<std::uint64_t, 5> most{100, 101, 102, 107, 215};  // of slice 0; the other 15 share 1500
  for (std::size_t level = 0; level < 5; ++level) {
    counts.routed[level * 16] = most[level];
    const double lsp = slice_parallelism(std::span(counts.routed).subspan(level * 16, 16));
    CHECK(lsp == doctest::Approx(1.0 * static_cast<double>(1500 + most[level]) / static_cast<double>(most[level])));
  }
  for (const auto& [margin, tie, choice] : {std::tuple{"0", "lowest", "shared"},
                                            {"0", "highest", "shared"},
                                            {"0.01", "highest", "degree_2"},  // 15.85 of 16
                                            {"0.02", "highest", "degree_4"},  // 15.71
                                            {"0.02", "lowest", "shared"},
                                            {"0.07", "highest", "degree_8"},    // 15.02
                                            {"0.5", "highest", "degree_8"}}) {  // 7.98
    CAPTURE(margin);
    CAPTURE(tie);
    const auto policy = make_selrep(read_system(
        "selrep-gpu", {"llc.replication=selrep", std::string("selrep.margin=") + margin, std::string("selrep.tie=") + tie}));
    policy->at_kernel_start(0, 0);
    CHECK(policy->at_epoch_end(report({counts}).at(20000, 20000))->decisions[0].choice == choice);
  }
  // Equal ones are alike without a margin.
  const auto policy = make_selrep(read_system("selrep-gpu", {"llc.replication=selrep", "selrep.tie=highest"}));
  policy->at_kernel_start(0, 0);
  CHECK(policy->at_epoch_end(report({evenly({950, 950, 950, 950, 100})}).at(20000, 20000))->decisions[0].choice ==
        "degree_8");
}

TEST_CASE("selrep.limit = replies: what slices lose to each other is foretold from what it is under the present degree") {
  // Of 16 slices that send to a cluster a reply meets one of 15 others in 15 cases of 16, of 4 in 3 of 4, of one never.
  DegreeCounts counts = evenly({950, 940, 930, 880, 700});
  counts.sending = 1700, counts.conflicts = 300;  // 0.15
  CHECK(reply_conflict(counts, 0, 5) == doctest::Approx(0.16));
  CHECK(reply_conflict(counts, 2, 5) == doctest::Approx(0.2));
  CHECK(reply_conflict(counts, 4, 5) == 0);
  CHECK(reply_loss(0.16, 0, 5) == doctest::Approx(0.15));
  CHECK(reply_loss(0.16, 3, 5) == doctest::Approx(0.08));
  CHECK(reply_loss(0.16, 4, 5) == 0);
  // As published misses cost from 21 % on: 1, 1, 1, 1 and .91 of the slices' bandwidth. Degree 8 loses .08 to conflicts,
  // which leaves .92; shared .85.
  const auto policy = make_selrep(read_system("selrep-gpu", {"llc.replication=selrep", "selrep.limit=replies"}));
  policy->at_kernel_start(0, 0);
  CHECK(policy->at_epoch_end(report({counts}).at(20000, 20000))->decisions[0].choice == "degree_8");
  // Now degree 8 is in force: half of 0.16 is what it must see. More, and private is the better one.
  counts.conflicts = 148;
  CHECK(policy->at_epoch_end(report({counts}).at(40000, 20000))->decisions[0].choice == "degree_8");
  counts.conflicts = 250;
  CHECK(policy->at_epoch_end(report({counts}).at(60000, 20000))->decisions[0].choice == "private");
  // A private LLC sees none, and goes on with what it knows.
  counts.conflicts = 0;
  CHECK(policy->at_epoch_end(report({counts}).at(80000, 20000))->decisions[0].choice == "private");
  // Without the key conflicts change nothing.
  const auto published = make_selrep(read_system("selrep-gpu", {"llc.replication=selrep"}));
  published->at_kernel_start(0, 0);
  counts.conflicts = 1000;
  CHECK(published->at_epoch_end(report({counts}).at(20000, 20000))->decisions[0].choice == "shared");
  CHECK_THROWS_AS(read_system("selrep-gpu", {"llc.replication=selrep", "selrep.limit=replies", "noc.virtual_channels=0"}),
                  InputError);
}

TEST_CASE(
    "selrep.restart = kernel: each kernel has whole epochs and a directory of its own, and begins with the last degree") {
  const auto policy = make_selrep(read_system("selrep-gpu", {"llc.replication=selrep", "selrep.restart=kernel"}));
  CHECK(policy->at_kernel_start(0, 7000).modes[0] ==
        Modes{.epoch_cycles = 20000, .replication = {.profile = true, .restart = true}});
  DegreeCounts camped = evenly({900, 880, 870, 500, 100});
  camped.routed[0] = 1000;
  const auto verdict = policy->at_epoch_end(report({camped}).at(27000, 20000));
  CHECK(verdict->modes[0] == Modes{.epoch_cycles = 20000, .replication = {.level = 1, .profile = true}});
  CHECK(policy->at_kernel_start(1, 30000).modes[0] ==
        Modes{.epoch_cycles = 20000, .replication = {.level = 1, .profile = true, .restart = true}});
}

TEST_CASE("beside SelRep, SAC sees what its directory sampled in the window") {
  const auto policy =
      load_policy(read_system("sac-4chip", {"llc.organisation=sac", "llc.replication=selrep", "sac.window_cycles=2000"}));
  policy->at_kernel_start(0, 0);
  Report r =
      report({evenly({900, 0, 0, 0, 0}), evenly({900, 0, 0, 0, 0}), evenly({900, 0, 0, 0, 0}), evenly({900, 0, 0, 0, 0})});
  for (ChipEpoch& c : r.chips) {
    c.profile.crd_requests = 25, c.profile.crd_hits = 10;
    c.profile.at_home.assign(16, 10), c.profile.at_requester.assign(16, 10);
  }
  const auto v = policy->at_epoch_end(r.at(2000, 2000));
  REQUIRE(v->decisions.size() == 1);
  double sampled = 0, hit = 0;
  for (const auto& [name, value] : v->decisions[0].values) {
    if (name == "sm_side.sampled_requests") sampled = value;
    if (name == "sm_side.hit") hit = value;
  }
  CHECK(sampled == 100);
  CHECK(hit == doctest::Approx(0.4));
}

TEST_CASE("beside SAC a restart is said when the kernel starts, and not again with SAC's decisions") {
  const auto policy = load_policy(read_system(
      "sac-4chip", {"llc.organisation=sac", "llc.replication=selrep", "sac.window_cycles=2000", "selrep.restart=kernel"}));
  CHECK(policy->at_kernel_start(0, 0).modes[0].replication.restart);
  const DegreeCounts c = evenly({900, 0, 0, 0, 0});
  const auto v = policy->at_epoch_end(report({c, c, c, c}).at(2000, 2000));
  REQUIRE(v->decisions.size() == 1);  // SAC's
  CHECK_FALSE(v->modes[0].replication.restart);
  CHECK(v->modes[0].replication.profile);
}

TEST_CASE("a decision reports every term of every degree") {
  const auto policy = make_selrep(read_system("selrep-gpu", {"llc.replication=selrep"}));
  policy->at_kernel_start(0, 0);
  const Decision d = policy->at_epoch_end(report({evenly({900, 800, 700, 600, 500})}).at(20000, 20000))->decisions[0];
  REQUIRE(d.values.size() == 5 * 5 + 2);
  CHECK(d.values[5].first == "degree_2.lsp");
  CHECK(d.values[5].second == 16);
  CHECK(d.values[6] == std::pair<std::string, double>{"degree_2.hit", 0.8});
  CHECK(d.values[25] == std::pair<std::string, double>{"degree", 1.0});
}

TEST_CASE("Adaptive: private with all lines if it loses little or promises more, shared again with every kernel and epoch") {
  const auto policy = make_adaptive(read_system("selrep-gpu", {"llc.replication=adaptive"}));
  const Modes profile = policy->at_kernel_start(0, 0).modes[0];
  CHECK(profile.replication == ReplicationModes{.profile = true, .restart = true});
  CHECK(profile.epoch_cycles == 50000);

  const auto to_private = policy->at_epoch_end(report({evenly({900, 0, 0, 0, 881})}).at(50000, 50000));
  CHECK(to_private->decisions[0].choice == "private");  // loses 1.9 %
  CHECK(to_private->modes[0].replication == ReplicationModes{.level = 4, .all_lines = true});
  CHECK(to_private->modes[0].epoch_cycles == 1000000);
  CHECK(policy->at_epoch_end(report({DegreeCounts{}}).at(1050000, 1000000))->modes[0] == profile);

  const auto stays = policy->at_epoch_end(report({evenly({900, 0, 0, 0, 879})}).at(1100000, 50000));
  CHECK(stays->decisions[0].choice == "shared");
  CHECK(stays->modes[0].replication == ReplicationModes{});
  CHECK(policy->at_kernel_start(1, 1200000).modes[0] == profile);

  DegreeCounts camped = evenly({900, 0, 0, 0, 500});
  camped.routed[0] = 1000;  // shared 2.5 x (40.3 + 4.5), private 16 x (22.4 + 9.4)
  CHECK(policy->at_epoch_end(report({camped}).at(1250000, 50000))->decisions[0].choice == "private");
}

TEST_CASE("a fixed degree is that for every kernel, and empties the LLC after each") {
  for (const auto& [word, level] : {std::pair{"degree_2", 1u}, {"degree_4", 2u}, {"degree_8", 3u}, {"private", 4u}}) {
    const auto policy = load_policy(read_system("selrep-gpu", {std::string("llc.replication=") + word}));
    CHECK(policy->at_kernel_start(0, 0).modes[0] == Modes{.replication = {.level = level}});
  }
}

TEST_CASE("SAC and SelRep side by side: each has its own epochs, and what is reported between adds up") {
  const auto policy = load_policy(read_system("sac-4chip", {"llc.organisation=sac", "llc.replication=selrep",
                                                            "sac.window_cycles=2000", "sac.reprofile_cycles=9000"}));
  auto modes = policy->at_kernel_start(0, 0).modes;
  const auto epochs = [](const Modes& m) { return std::array{m.epoch_cycles, m.beside_cycles, m.beside_gone}; };
  CHECK(epochs(modes[0]) == std::array{2000u, 20000u, 0u});
  CHECK(modes[0].profile);
  CHECK(modes[0].replication.profile);
  const Report r =
      report({evenly({900, 0, 0, 0, 0}), evenly({900, 0, 0, 0, 0}), evenly({900, 0, 0, 0, 0}), evenly({900, 0, 0, 0, 0})});
  auto v = policy->at_epoch_end(r.at(2000, 2000));
  CHECK(v->decisions.size() == 1);  // SAC's
  CHECK(epochs(v->modes[0]) == std::array{9000u, 20000u, 2000u});
  CHECK_FALSE(v->modes[0].profile);
  v = policy->at_epoch_end(r.at(11000, 9000));
  CHECK(v->decisions[0].choice == "profile");
  CHECK(epochs(v->modes[0]) == std::array{2000u, 20000u, 11000u});
  v = policy->at_epoch_end(r.at(13000, 2000));
  CHECK(epochs(v->modes[0]) == std::array{9000u, 20000u, 13000u});
  v = policy->at_epoch_end(r.at(20000, 7000));
  REQUIRE(v->decisions.size() == 1);
  CHECK(v->decisions[0].choice == "shared shared shared shared");
  for (const auto& [name, value] : v->decisions[0].values) {
    if (name == "chip3.sampled") CHECK(value == 4000);
  }
  CHECK(epochs(v->modes[0]) == std::array{9000u, 20000u, 13000u});  // as they are: no degree has changed
}

TEST_CASE("beside SAC, what SelRep's chips have counted goes on from kernel to kernel, unless it is to begin anew") {
  for (const bool restart : {false, true}) {
    const auto policy = load_policy(
        read_system("sac-4chip", {"llc.organisation=sac", "llc.replication=selrep", "sac.window_cycles=2000",
                                  "sac.reprofile_cycles=0", restart ? "selrep.restart=kernel" : "selrep.restart=never"}));
    policy->at_kernel_start(0, 0);
    const DegreeCounts d = evenly({900, 0, 0, 0, 0});
    const Report r = report({d, d, d, d});
    policy->at_epoch_end(r.at(2000, 2000));
    const auto modes = policy->at_kernel_start(1, 15000).modes;
    CHECK(modes[0].replication.restart == restart);
    CHECK(modes[0].epoch_cycles == 2000);  // of SAC's profile
    CHECK(modes[0].beside_cycles == (restart ? 20000 : 5000));
    const auto v = policy->at_epoch_end(r.at(17000, 2000));
    CHECK(v->modes[0].epoch_cycles == 0);
    CHECK(v->modes[0].beside_gone == 2000);
    const Cycle left = v->modes[0].beside_cycles - 2000;
    const auto last = policy->at_epoch_end(r.at(17000 + left, left));
    REQUIRE(last->decisions.size() == 1);
    for (const auto& [name, value] : last->decisions[0].values) {
      if (name == "chip3.sampled") CHECK(value == (restart ? 2000 : 3000));
    }
  }
}

TEST_CASE("SelRep's hardware: 172 bytes of counters, 692 with the directory") {
  const auto s = selrep_storage(read_system("selrep-gpu", {"llc.replication=selrep"}));
  REQUIRE(s);
  CHECK(s->counters == 172);
  CHECK(s->total() == 692);
  CHECK_FALSE(selrep_storage(read_system("selrep-gpu", {"llc.replication=selrep", "selrep.directory_sets=64"})));
  CHECK_FALSE(selrep_storage(read_system("selrep-gpu", {"llc.replication=selrep", "llc.slices=32"})));  // printed for 16
}
