#include "core/chip/profile/degree_directory.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <list>
#include <random>

#include "core/chip/profile/degree_profiler.hpp"
#include "inputs/config/reader.hpp"

using namespace atl;

namespace {

SystemConfig selrep(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"llc.replication=selrep"});
  return read_system("selrep-gpu", more);
}

/// The slices of one router at one degree, line by line: sets of an LRU list each.
class BruteForce {
 public:
  BruteForce(const ReplicaMap& map, std::uint32_t level, std::uint32_t sets, std::uint32_t ways)
      : map_(map), level_(level), ways_(ways), set_(map.slices() * sets), sets_(sets) {}
  bool access(std::uint32_t shared, std::uint32_t set, std::uint64_t line, std::uint32_t cluster) {
    std::list<std::uint64_t>& lru = set_[map_.slice(shared, cluster, level_) * sets_ + set];
    const auto at = std::find(lru.begin(), lru.end(), line);
    const bool hit = at != lru.end();
    if (hit) lru.erase(at);
    lru.push_front(line);
    if (lru.size() > ways_) lru.pop_back();
    return hit;
  }

 private:
  const ReplicaMap& map_;
  std::uint32_t level_, ways_;
  std::vector<std::list<std::uint64_t>> set_;
  std::uint32_t sets_;
};

struct Request {
  std::uint32_t shared, set, cluster;
  std::uint64_t line;
};

/// Lines of one router, of which the low ones are asked for most.
std::vector<Request> random_stream(std::uint32_t lines, std::size_t length, std::uint32_t sets, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Request> stream;
  for (std::size_t i = 0; i < length; ++i) {
    const auto line = static_cast<std::uint64_t>(lines * std::pow(double(random()) / double(random.max()), 2.0));
    stream.push_back({static_cast<std::uint32_t>(line % 16), static_cast<std::uint32_t>(line / 16 % sets),
                      static_cast<std::uint32_t>(random() % 16), line});
  }
  return stream;
}

std::vector<double> brute_force(const ReplicaMap& map, const std::vector<Request>& stream, std::uint32_t sets) {
  std::vector<double> rate;
  for (std::uint32_t level = 0; level < map.levels(); ++level) {
    BruteForce llc(map, level, sets, 16);
    std::size_t hits = 0;
    for (const Request& r : stream) hits += llc.access(r.shared, r.set, r.line, r.cluster);
    rate.push_back(double(hits) / double(stream.size()));
  }
  return rate;
}

std::vector<double> predicted(const SystemConfig& c, const ReplicaMap& map, const std::vector<Request>& stream) {
  DegreeProfiler profiler(c, map);
  profiler.turn(true, true);
  for (const Request& r : stream) profiler.request(r.shared, r.set, LineAddr{r.line}, r.cluster);
  const DegreeCounts counts = profiler.take();
  std::vector<double> rate;
  for (std::size_t l = 0; l < counts.hits.size(); ++l) rate.push_back(double(counts.hits[l]) / double(counts.sampled[l]));
  return rate;
}

}  // namespace

TEST_CASE("a sequence by hand: a line hits a degree once a cluster of the group has asked for it") {
  const ReplicaMap map(selrep());
  DegreeDirectory d(1, 16, map);
  const LineAddr a{100}, b{200};
  CHECK(d.access(0, a, 0) == 0b00000);   // nobody has it
  CHECK(d.access(0, a, 0) == 0b11111);   // cluster 0 again: all
  CHECK(d.access(0, a, 1) == 0b01111);   // its neighbour: not in a slice of its own
  CHECK(d.access(0, a, 2) == 0b00111);   // groups of four clusters (degree 4)
  CHECK(d.access(0, a, 7) == 0b00011);   // of eight (degree 2)
  CHECK(d.access(0, a, 15) == 0b00001);  // the other half: shared alone
  CHECK(d.access(0, a, 14) == 0b01111);
  CHECK(d.access(0, b, 15) == 0b00000);
}

TEST_CASE("with more clusters than slices a replica is of several, and the 80th cluster is nobody else") {
  const SystemConfig config = read_system("qv100", {"llc.replication=selrep"});
  const ReplicaMap map(config);
  REQUIRE(map.clusters() == 80);
  REQUIRE(map.slices() == 64);
  for (std::uint32_t asks = 0; asks < map.clusters(); ++asks) {
    const LineAddr line{asks};
    for (std::uint32_t other = 0; other < map.clusters(); ++other) {
      DegreeDirectory one(1, 16, map);
      one.access(0, line, asks);
      std::uint32_t expected = 0;
      for (std::uint32_t level = 0; level < map.levels(); ++level)
        expected |= std::uint32_t{map.group(asks, level) == map.group(other, level)} << level;
      CHECK(one.access(0, line, other) == expected);
    }
  }
}

TEST_CASE("a set holds as many tags as it has ways, and forgets the least recently used one") {
  const ReplicaMap map(selrep());
  DegreeDirectory d(2, 2, map);
  d.access(0, {1}, 0), d.access(0, {2}, 0), d.access(0, {1}, 0);
  d.access(1, {3}, 0);              // another set
  CHECK(d.access(0, {4}, 0) == 0);  // takes the place of 2
  CHECK(d.access(0, {1}, 0) == 0b11111);
  CHECK(d.access(0, {2}, 0) == 0);
  CHECK(d.access(1, {3}, 0) == 0b11111);
}

TEST_CASE("shared against private worked out by hand: unsampled, a private LLC of 16 ways thrashes on 17 lines") {
  // One set per slice, all sampled. 17 lines of one set in turn, from every cluster: shared, they lie in 16 slices.
  const SystemConfig c = selrep({"llc.size_kib=128", "selrep.directory=shadow_tags", "selrep.directory_sets=1"});
  const ReplicaMap map(c);
  std::vector<Request> stream;
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (std::uint64_t line = 0; line < 17; ++line) {
      for (std::uint32_t cluster = 0; cluster < 16; ++cluster)
        stream.push_back({static_cast<std::uint32_t>(line % 16), 0, cluster, line});
    }
  }
  const auto rate = predicted(c, map, stream);
  CHECK(rate[0] == doctest::Approx(1 - 17.0 / double(stream.size())));  // each line misses once
  CHECK(rate[4] == 0);                                                  // LRU: the line needed next has just gone
}

TEST_CASE("with every set sampled, shadow tags are a simulation of each degree") {
  const SystemConfig c = selrep({"selrep.directory=shadow_tags", "selrep.directory_sets=32"});
  const ReplicaMap map(c);
  for (const std::uint32_t lines : {2000u, 6000u, 20000u}) {
    CAPTURE(lines);
    const auto stream = random_stream(lines, 60000, 32, lines);
    const auto brute = brute_force(map, stream, 32), shadow = predicted(c, map, stream);
    for (std::size_t level = 0; level < 5; ++level) CHECK(shadow[level] == brute[level]);
  }
}

TEST_CASE("with every set sampled, line tags are exact for shared, and never below a higher degree's hits") {
  const SystemConfig c = selrep({"selrep.directory_sets=512"});
  const ReplicaMap map(c);
  for (const std::uint32_t lines : {2000u, 6000u, 20000u}) {
    CAPTURE(lines);
    const auto stream = random_stream(lines, 60000, 32, lines);
    const auto brute = brute_force(map, stream, 32), tags = predicted(c, map, stream);
    CHECK(tags[0] == brute[0]);
    for (std::size_t level = 1; level < 5; ++level) {
      MESSAGE("lines " << lines << ", degree " << (1 << level) << ": line tags " << tags[level] << ", true "
                       << brute[level]);
      CHECK(tags[level] >= brute[level]);  // room that replicas take is not seen
      CHECK(tags[level] <= tags[level - 1]);
    }
  }
}

TEST_CASE("two sampled sets: the error of the prediction on random streams") {
  const SystemConfig line_tags = selrep(), shadow_tags = selrep({"selrep.directory=shadow_tags"});
  const ReplicaMap map(line_tags);
  for (const std::uint32_t lines : {2000u, 6000u, 20000u}) {
    const auto stream = random_stream(lines, 200000, 32, lines + 1);
    const auto brute = brute_force(map, stream, 32);
    const auto a = predicted(line_tags, map, stream), b = predicted(shadow_tags, map, stream);
    for (std::size_t level = 0; level < 5; ++level) {
      MESSAGE("lines " << lines << ", degree " << (1 << level) << ": true " << brute[level] << ", line tags " << a[level]
                       << ", shadow tags " << b[level]);
      CHECK(std::abs(b[level] - brute[level]) < 0.1);  // one set of 16, in every slice: some 12,000 requests
    }
  }
}

TEST_CASE("requests are counted where each degree would send them, and taken once") {
  const SystemConfig c = selrep();
  const ReplicaMap map(c);
  DegreeProfiler profiler(c, map);
  profiler.turn(true, true);
  profiler.request(3, 0, {1}, 9);
  const DegreeCounts counts = profiler.take();
  for (std::uint32_t level = 0; level < 5; ++level) {
    for (std::uint32_t slice = 0; slice < 16; ++slice)
      CHECK(counts.routed[level * 16 + slice] == (slice == map.slice(3, 9, level) ? 1 : 0));
  }
  for (const std::uint64_t n : profiler.take().routed) CHECK(n == 0);
  CHECK(profiler.watches(15, true));
  CHECK_FALSE(profiler.watches(16, true));  // the second router has no directory
  CHECK_FALSE(profiler.watches(0, false));  // nor have lines that may be written
}
