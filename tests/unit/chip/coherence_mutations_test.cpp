#include <functional>

#include "chip_test_access.hpp"
#include "coherence_stress.hpp"

namespace atl {
namespace {

using namespace test;

// Protocols with one bug each: the checker must find it, and finds nothing in the same programs without it.

/// A checker that breaks the machine, or the way of its data, while it watches.
struct Mutant : ConsistencyChecker {
  std::vector<Chip*> chips;
  const Machine& machine() const { return chips[0]->context().machine; }
  static bool at_home(const Context& c, const Packet& p) { return p.home == c.chip && !p.has(kFromOwner); }
  std::uint64_t others(const Context& c, const Packet& p) const {
    return chips[c.chip]->sharers(p.line) & ~(std::uint64_t{1} << p.source);
  }
};

/// What the checker finds; "" if nothing.
std::string report(const SystemConfig& config, const StressShape& shape, std::uint32_t seed, Mutant& mutant) {
  validate(config);
  ScriptedWorkload w = stress_workload(config, shape, seed);
  SerialTransport transport;
  SimulationOptions options;
  options.prepare_chip = [&](Chip& chip) {
    mutant.watch(chip);
    mutant.chips.push_back(&chip);
  };
  try {
    simulate(transport, config, w, RankMap::spread(config.chips, 1), options);
    mutant.check_final_image();
  } catch (const SimulationError& e) {
    return e.what();
  }
  return "";
}

SystemConfig machine(CoherenceProtocol protocol) {
  SystemConfig c = tiny(4);
  c.llc.organisation = LlcOrganisation::sm_side;
  c.coherence.protocol = protocol;
  c.coherence.directory_entries = 64, c.coherence.directory_ways = 4, c.coherence.range_bytes = 1024;
  c.partition.placement = Placement::interleaved;
  c.llc.size_kib = 16;
  return c;
}

StressShape hot(Writers writers = Writers::anyone) {
  return {
      .writers = writers, .ctas_per_chip = 2, .ops = 60, .lines = 6, .spread = 1280, .odd_sectors = false, .partial = false};
}

/// The mutant is found in one of a few programs, with line, chips and cycle; none of them is accused without it.
template <class M> void check_found(const SystemConfig& config, const StressShape& shape, const std::string& says = "") {
  bool found = false;
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    Mutant harmless;
    CHECK(report(config, shape, seed, harmless) == "");
    M mutant;
    const std::string text = report(config, shape, seed, mutant);
    if (text.empty()) continue;
    found = true;
    CAPTURE(text);
    CHECK(text.find("line 0x") == 0);
    CHECK(text.find("chip ") != std::string::npos);
    CHECK(text.find("\n  cycle ") != std::string::npos);
    CHECK(text.find(says) != std::string::npos);
    break;
  }
  CHECK(found);
}

/// A copy is there again after the slice has ended it.
struct DropsInvalidation : Mutant {
  LineAddr dropped{~std::uint64_t{0}};
  void on_llc_flush(const Context&, std::uint32_t, LineAddr line) override { dropped = line; }
  void on_llc_obey(const Context& c, std::uint32_t slice, const Packet& p) override {
    Mutant::on_llc_obey(c, slice, p);
    if (std::exchange(dropped, {~std::uint64_t{0}}) == p.line)
      ChipTestAccess::keep_in_slice(*chips[c.chip], slice, p.line, p.source);
  }
};

struct SparesOneSharer : Mutant {
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    Mutant::on_llc_lookup(c, slice, p, o);
    if (p.kind != PacketKind::write || !at_home(c, p) || std::popcount(others(c, p)) < 2) return;
    ChipTestAccess::forget_sharer(*chips[c.chip], p.line, static_cast<unsigned>(std::countr_zero(others(c, p))));
  }
};

struct KeepsStaleFill : Mutant {
  void on_llc_obey(const Context& c, std::uint32_t slice, const Packet& p) override {
    Mutant::on_llc_obey(c, slice, p);
    ChipTestAccess::keep_what_comes(*chips[c.chip], p.line);
  }
};

/// Forgets, as soon as it can, what the directory has just noted.
template <PacketKind kKind> struct ForgetsRequester : Mutant {
  struct Noted {
    LineAddr line;
    std::uint8_t home, chip;
  };
  std::vector<Noted> noted;
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    Mutant::on_llc_lookup(c, slice, p, o);
    if (p.kind == kKind && at_home(c, p) && p.source != c.chip) noted.push_back({p.line, c.chip, p.source});
  }
  void on_event(const Context& c, const Event& e) override {
    for (const Noted& n : noted) ChipTestAccess::forget_sharer(*chips[n.home], n.line, n.chip);
    noted.clear();
    Mutant::on_event(c, e);
  }
};

struct IgnoresSingleSharer : Mutant {
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    Mutant::on_llc_lookup(c, slice, p, o);
    if (p.kind != PacketKind::write || !at_home(c, p) || p.source != c.chip || std::popcount(others(c, p)) != 1) return;
    ChipTestAccess::forget_sharer(*chips[c.chip], p.line, static_cast<unsigned>(std::countr_zero(others(c, p))));
  }
};

struct EvictsSilently : Mutant {
  std::uint32_t reads = 0;
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    Mutant::on_llc_lookup(c, slice, p, o);
    if (p.kind == PacketKind::read && at_home(c, p) && ++reads % 16 == 0)
      ChipTestAccess::forget_entry(*chips[c.chip], p.line);
  }
};

struct ForgetsBetweenKernels : Mutant {
  void on_kernel_start(const Context& c, std::uint64_t kernel) override {
    for (Chip* chip : chips)
      chip->for_each_line([&](LineAddr line, std::uint8_t home) { ChipTestAccess::forget_entry(*chips[home], line); });
    Mutant::on_kernel_start(c, kernel);
  }
};

struct InventsSharer : Mutant {
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    Mutant::on_llc_lookup(c, slice, p, o);
    if (p.kind == PacketKind::write && at_home(c, p) && p.source == c.chip && others(c, p) != 0)
      for (std::uint32_t chip = 0; chip < 4; ++chip)
        if (chip != c.chip) ChipTestAccess::invent_sharer(*chips[c.chip], p.line, chip);
  }
};

/// Another chip's write is acknowledged, and the home's copy stays as it was.
struct LeavesHomeCopy : Mutant {
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    auto& data = data_in_slice(c.chip, slice, p.line);
    const auto before = data;
    Mutant::on_llc_lookup(c, slice, p, o);
    if (p.kind == PacketKind::write && at_home(c, p) && p.source != c.chip && o == LlcOutcome::hit) data = before;
  }
};

struct ForgetsOwner : Mutant {
  void on_event(const Context& c, const Event& e) override {
    Mutant::on_event(c, e);
    if (e.kind == EventKind::slice_arrive && e.packet.kind == PacketKind::read && at_home(c, e.packet))
      ChipTestAccess::forget_owner(*chips[c.chip], e.packet.line);
  }
};

struct KeepsL1 : Mutant {
  void on_kernel_start(const Context& c, std::uint64_t kernel) override {
    Mutant::on_kernel_start(c, kernel);
    if (kernel != 0) ChipTestAccess::keep_in_l1(*chips[c.chip], 0, {0x100000 / 128});
  }
};

/// A slice other than the line's own holds it still, as read-only data of the kernel before.
struct KeepsReplica : Mutant {
  std::vector<std::pair<std::uint32_t, LineAddr>> replicas;
  void on_llc_fill(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t) override {
    if (slice != machine().map.slice(line) && c.chip == 0) replicas.emplace_back(slice, line);
  }
  void on_kernel_start(const Context& c, std::uint64_t kernel) override {
    Mutant::on_kernel_start(c, kernel);
    if (c.chip != 0 || kernel != 3) return;  // the third has written what the second read
    for (const auto& [slice, line] : replicas) ChipTestAccess::keep_in_slice(*chips[0], slice, line, 0);
  }
};

struct LosesWriteBack : Mutant {
  std::uint32_t seen = 0;
  void on_llc_leave(const Context& c, std::uint32_t slice, LineAddr line, std::uint8_t dirty) override {
    const bool loses = dirty != 0 && ++seen % 8 == 0;
    if (loses) ChipTestAccess::clean(*chips[c.chip], line);
    Mutant::on_llc_leave(c, slice, line, loses ? 0 : dirty);
  }
};

struct SparesAtomicsCopy : Mutant {
  void on_event(const Context& c, const Event& e) override {
    Mutant::on_event(c, e);
    if (e.kind == EventKind::slice_arrive && e.packet.kind == PacketKind::atomic && at_home(c, e.packet))
      ChipTestAccess::forget_sharer(*chips[c.chip], e.packet.line, e.packet.source);
  }
};

struct WritesCleanCopyBack : Mutant {
  void on_llc_lookup(const Context& c, std::uint32_t slice, const Packet& p, LlcOutcome o) override {
    Mutant::on_llc_lookup(c, slice, p, o);
    if (p.kind == PacketKind::read && o == LlcOutcome::hit && p.source == c.chip)
      ChipTestAccess::soil(*chips[c.chip], p.line, p.sectors);
  }
};

using enum CoherenceProtocol;

TEST_CASE("mutation: an invalidation is acknowledged, and the copy stays") {
  for (const auto protocol : {directory, hmg, rec, full_map})
    check_found<DropsInvalidation>(machine(protocol), hot(protocol == full_map ? Writers::one_per_line : Writers::anyone));
}
TEST_CASE("mutation: all sharers but one are told") {
  for (const auto protocol : {directory, hmg, rec})
    check_found<SparesOneSharer>(machine(protocol), hot(), "may have a copy, but its home");
}
TEST_CASE("mutation: a fill stays that an invalidation has crossed") {
  for (const auto protocol : {directory, hmg, rec}) check_found<KeepsStaleFill>(machine(protocol), hot());
}
TEST_CASE("mutation: a read does not set the reader's bit") {
  for (const auto protocol : {directory, hmg, rec})
    check_found<ForgetsRequester<PacketKind::read>>(machine(protocol), hot(), "may have a copy, but its home");
}
TEST_CASE("mutation: a remote write loses the writer's own bit") {
  for (const auto protocol : {directory, hmg, rec})
    check_found<ForgetsRequester<PacketKind::write>>(machine(protocol), hot(), "may have a copy, but its home");
}
TEST_CASE("mutation: the home's own write spares an only sharer") {
  for (const auto protocol : {directory, hmg, rec})
    check_found<IgnoresSingleSharer>(machine(protocol), hot(), "may have a copy, but its home");
}
TEST_CASE("mutation: an entry goes without invalidations") {
  for (const auto protocol : {directory, hmg, rec})
    check_found<EvictsSilently>(machine(protocol), hot(), "may have a copy, but its home");
}
TEST_CASE("mutation: entries are gone between kernels") {
  for (const auto protocol : {directory, hmg, rec})
    check_found<ForgetsBetweenKernels>(machine(protocol), hot(), "has a copy, of which its home");
}
TEST_CASE("mutation: REC's directory tells a chip that never had the line") {
  check_found<InventsSharer>(machine(rec), hot(), "has not given it one");
}
TEST_CASE("mutation: a write-through does not change the home's copy") {
  for (const auto protocol : {directory, hmg, rec, ideal}) check_found<LeavesHomeCopy>(machine(protocol), hot());
}
TEST_CASE("mutation: the dirty owner is not asked") {
  check_found<ForgetsOwner>(machine(full_map), hot(Writers::one_per_line));
}
TEST_CASE("mutation: an L1 keeps a line over an acquire") {
  for (const auto protocol : {software, rec})
    check_found<KeepsL1>(machine(protocol), hot(Writers::one_per_line), "was visible to it");
}
TEST_CASE("mutation: a replica outlives its kernel") {
  SystemConfig c = machine(software);
  c.llc.organisation = LlcOrganisation::memory_side;
  c.llc.slices = 4, c.llc.replication = Replication::degree_2, c.partition.placement = Placement::fixed;
  StressShape shape = hot();
  shape.kernels = 5, shape.read_only_lines = 4;
  check_found<KeepsReplica>(c, shape);
}
TEST_CASE("mutation: a write-back is lost") {
  StressShape shape = hot(Writers::one_per_line);
  shape.lines = 300;  // more than an LLC holds
  for (const auto protocol : {software, rec, full_map}) check_found<LosesWriteBack>(machine(protocol), shape);
}
TEST_CASE("mutation: an atomic spares the copy of the chip that asked for it") {
  StressShape shape = hot();
  shape.atomics = 6;
  for (const auto protocol : {directory, hmg, rec})
    check_found<SparesAtomicsCopy>(machine(protocol), shape, "may have a copy, but its home");
}
TEST_CASE("mutation: a clean copy is written back, over what others have written") {
  check_found<WritesCleanCopyBack>(machine(software), hot(Writers::one_per_line));
}

}  // namespace
}  // namespace atl
