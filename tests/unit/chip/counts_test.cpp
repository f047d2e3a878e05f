#include <fmt/format.h>

#include <map>

#include "random_programs.hpp"
#include "reference_cache.hpp"

namespace atl {
namespace {

using namespace test;
using Expected = ReferenceCache::Outcome;

/// Feeds every look-up and fill, in the order in which the caches saw them, to reference caches, and compares each outcome.
class Comparison : public ChipObserver {
 public:
  explicit Comparison(const SystemConfig& c) : l1_sets_(c.l1.size_kib * 1024 / c.line_bytes / c.l1.ways) {
    llc_sets_ = c.llc.size_kib * 1024 / c.llc.slices / c.line_bytes / c.llc.ways;
    const auto full = static_cast<std::uint8_t>((1u << c.line_bytes / 32) - 1);
    for (std::uint32_t chip = 0; chip < c.chips; ++chip) {
      l1_.emplace_back(c.sm.count, ReferenceCache(l1_sets_, c.l1.ways, c.l1.sectored, full));
      llc_.emplace_back(c.llc.slices, ReferenceCache(llc_sets_, c.llc.ways, c.llc.sectored, full));
    }
  }
  std::uint64_t l1[3] = {}, llc[3] = {};  ///< hits, merges, misses
  std::uint64_t wrong = 0;

  void on_l1_load(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors, L1Outcome o) override {
    const Expected e = l1_[c.chip][sm].read(l1_set(line), line.value, sectors);
    ++l1[static_cast<int>(e)];
    wrong += static_cast<int>(e) != static_cast<int>(o);
  }
  void on_l1_store(const Context& c, std::uint32_t sm, LineAddr line) override {
    l1_[c.chip][sm].pass_store(l1_set(line), line.value);
  }
  void on_l1_atomic(const Context& c, std::uint32_t sm, LineAddr line) override {
    l1_[c.chip][sm].forget(l1_set(line), line.value);
    l1_[c.chip][sm].make_stale(line.value);
  }
  void on_l1_fill(const Context& c, std::uint32_t sm, LineAddr line, std::uint8_t sectors) override {
    const bool keep = c.machine.config.coherence.protocol != CoherenceProtocol::none_remote || home_[line.value] == c.chip;
    wrong += !l1_[c.chip][sm].fill(l1_set(line), line.value, sectors, keep);
  }
  void on_request(const Context&, const Packet& p) override { home_[p.line.value] = p.home; }
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    if (o == LlcOutcome::bypass) return;
    ReferenceCache& cache = llc_[c.chip][slice];
    const std::uint32_t set = llc_set(c, p.line);
    const Expected e = p.kind == PacketKind::write ? cache.write(set, p.line.value, p.sectors)
                                                   : cache.read(set, p.line.value, p.sectors, p.kind == PacketKind::atomic);
    ++llc[static_cast<int>(e)];
    wrong += static_cast<int>(e) != static_cast<int>(o);
  }
  void on_llc_fill(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t sectors) override {
    wrong += !llc_[c.chip][slice].fill(llc_set(c, line), line.value, sectors);
  }
  void on_llc_flush(const Context& c, std::uint32_t slice, LineAddr line) override {
    llc_[c.chip][slice].forget(llc_set(c, line), line.value);
  }
  bool nothing_pending() const {
    const auto all = [](const auto& chips) {
      return std::all_of(chips.begin(), chips.end(), [](const auto& caches) {
        return std::all_of(caches.begin(), caches.end(), [](const ReferenceCache& r) { return r.nothing_pending(); });
      });
    };
    return all(l1_) && all(llc_);
  }

 private:
  std::uint32_t l1_set(LineAddr line) const { return static_cast<std::uint32_t>(line.value % l1_sets_); }
  std::uint32_t llc_set(const Context& c, LineAddr line) const {
    return static_cast<std::uint32_t>(c.machine.map.line_in_slice(line) % llc_sets_);
  }
  std::uint32_t l1_sets_, llc_sets_ = 0;
  std::vector<std::vector<ReferenceCache>> l1_, llc_;
  std::map<std::uint64_t, std::uint8_t> home_;  ///< [line]
};

void compare(SystemConfig config, std::uint32_t seed) {
  CAPTURE(seed);
  CAPTURE(words<CoherenceProtocol>()[static_cast<std::size_t>(config.coherence.protocol)].word);
  config.l1.index = config.llc.index = SetIndex::linear;
  config.partition.placement = Placement::interleaved;
  ScriptedWorkload w =
      random_workload(config, {.ctas_per_chip = 16, .warps = 2, .ops = 60, .lines = 700, .spread = 1280}, seed);
  Comparison reference(config);
  const RunResult r = run(config, w, &reference);
  CHECK(reference.wrong == 0);
  CHECK(reference.nothing_pending());
  CHECK(total(r, Counter::l1_hits) == reference.l1[0]);
  CHECK(total(r, Counter::l1_merges) == reference.l1[1]);
  CHECK(total(r, Counter::l1_misses) == reference.l1[2]);
  CHECK(total(r, Counter::llc_hits) == reference.llc[0]);
  CHECK(total(r, Counter::llc_merges) == reference.llc[1]);
  CHECK(total(r, Counter::llc_misses) == reference.llc[2]);
  for (int i = 0; i < 3; ++i) {
    CHECK(reference.l1[i] > 5);  // the case is not empty
    CHECK(reference.llc[i] > 5);
  }
}

TEST_CASE("hits, merges and misses of L1 and LLC are those of plain LRU caches that see the same order of accesses" *
          doctest::test_suite("stress")) {
  std::uint32_t seed = 1;
  for (const auto organisation : {LlcOrganisation::memory_side, LlcOrganisation::sm_side}) {
    for (const bool l1_sectored : {false, true}) {
      for (const bool llc_sectored : {false, true}) {
        for (const std::uint32_t line_bytes : {128u, 64u}) {
          SystemConfig c = tiny(3);
          c.llc.organisation = organisation;
          c.l1.sectored = l1_sectored, c.llc.sectored = llc_sectored;
          c.line_bytes = line_bytes;
          c.llc.size_kib = 32, c.l1.size_kib = 2;
          compare(c, seed++);
        }
      }
    }
  }
}

TEST_CASE("hits, merges and misses are those of plain caches that lose what is invalidated, under every protocol" *
          doctest::test_suite("stress")) {
  using enum CoherenceProtocol;
  std::uint32_t seed = 100;
  for (const CoherenceProtocol protocol : {directory, hmg, rec, ideal, none_remote, l1_only}) {
    for (const bool sectored : {false, true}) {
      SystemConfig c = tiny(3);
      c.llc.organisation = LlcOrganisation::sm_side;
      c.coherence.protocol = protocol;
      c.coherence.directory_entries = 64, c.coherence.directory_ways = 4;
      c.l1.sectored = c.llc.sectored = sectored;
      c.llc.size_kib = 32, c.l1.size_kib = 2;
      compare(c, seed++);
    }
  }
}

TEST_CASE("an atomic ends what its L1 is fetching of the line: the next load asks for it again") {
  SystemConfig c = tiny(1);
  for (const bool waits : {false, true})
    for (const std::uint8_t result : {std::uint8_t{1}, Program::kNoResult}) {
      ScriptedWorkload w;
      w.kernel(1);
      Program& p = w.warp(0).load(0, 0);
      if (waits) p.after({0});
      p.atomic(0, result).pause(2000).load(0, 2);
      const RunResult r = run(c, w);
      CHECK(total(r, Counter::l1_hits) == 0);
      CHECK(total(r, Counter::llc_reads) == 2);
    }
}

}  // namespace
}  // namespace atl
