#pragma once
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <string>

#include "core/stats/run_result.hpp"

/// A made-up result in which no two values are alike by accident, and a place to write it.
namespace atl::test {

inline RunResult sample_result(std::size_t chips = 4, std::size_t samples = 200) {
  RunResult r;
  Provenance& p = r.provenance;
  p.version = "0.1.0", p.git_commit = "abc123", p.command = "atoll run x -o y", p.system = "sac-4chip";
  p.workload = "mixed \u00b5", p.workload_digest = "00d1", p.started_at = "2026-01-02T03:04:05Z";
  p.effective_config = "{\"text\": \"" + std::string(100'000, 'x') + "\"}";
  p.hosts = {"node0", "", "node1"};
  p.host_seconds = 0.1 + 0.2;
  p.events = 123'456'789'012;
  p.link_bytes_per_cycle = 96 / 1.1, p.links_of_chips = {101, 91}, p.llc_chips = {1, 2, 3};
  p.windows = 3125;
  p.process_events = {1, 123'456'789'000, 11};
  p.wait_shares = {0.25, 0.1, 1e-9};
  p.moves = 3;
  r.kernels = {{"gemm", 512, 0, 40, 1000}, {"", 3, 1000, 1040, 100'000}};
  r.decisions = {{0, 2040, "sm_side", {{"eab", 1.25}, {"hit", 0.1 + 0.2}}},
                 {1, 3040, "", {}},
                 {1, 5000, "memory_side", {{"hit", -0.0}}}};
  r.cycles = 100'000;
  r.complete = false;
  r.digest = 0xFEDCBA9876543210;
  r.chips.resize(chips);
  for (std::size_t s = 0; s < samples; ++s) {
    Sample sample{(s + 1) * 500, std::vector<Counters>(chips)};
    for (std::size_t c = 0; c < chips; ++c) {
      for (std::size_t i = 0; i < kCounters; ++i) {
        const double wave = 1.5 + std::sin(0.05 * static_cast<double>(s) + static_cast<double>(i + c));
        sample.chips[c].value[i] = static_cast<std::uint64_t>(1000 * wave) + 7 * i + c;
      }
      sample.chips[c][Counter::llc_hits] = sample.chips[c][Counter::llc_accesses] / 2;
      r.chips[c].totals += sample.chips[c];
    }
    r.samples.push_back(std::move(sample));
  }
  for (std::size_t c = 0; c < chips; ++c) {
    for (std::uint64_t part = 0; part < 16; ++part) {
      r.chips[c].slice_accesses.push_back(1000 * c + part);
      r.chips[c].slice_hits.push_back(500 * c + part);
      r.chips[c].slice_requests.push_back(1100 * c + part);
      r.chips[c].slice_queue_cycles.push_back(3000 * c + part);
      r.chips[c].slice_miss_cycles.push_back(90000 * c + part);
      if (part < 8) r.chips[c].channel_reads.push_back(~part);
      if (part < 8) r.chips[c].channel_writes.push_back(part << 40);
    }
    for (std::size_t o = 0; o < kOrigins; ++o) {
      for (std::size_t b = 0; b < kLatencyBuckets; ++b) r.chips[c].latency[o][b] = 100 * c + 10 * o + b;
    }
    for (std::size_t e = 0; e < kEnergyComponents; ++e)
      r.chips[c].energy.joules[e] = (0.1 + static_cast<double>(e)) / static_cast<double>(3 + c);  // not exact in decimals
  }
  r.energy_prices = {{"warp_instruction_pj", 0.1, 2.4}, {"sm_static_w", 1.0 / 3, 1.8}};
  for (std::size_t k = 0; k < r.kernels.size(); ++k) {
    auto& of_chips = r.stack.emplace_back(chips);
    for (std::size_t c = 0; c < chips; ++c)
      for (std::size_t p = 0; p < kStackParts; ++p)
        of_chips[c].cycles[p] = (1 + static_cast<double>(10 * k + p)) / static_cast<double>(7 + c);
  }
  r.sm_sharing = SmSharingResult{1000, 128, {{10, 9, 8, 70, 6, 5, 40, 30, 20, 10}, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0}}};
  r.structures.emplace();
  r.structures->structures = {{"a \u00b5", 0x2000'0000'0000, 4096}, {"", 0x2000'0000'2000, 1}, {"other", 0, 0}};
  for (std::uint64_t row = 0; row < 3; ++row) {
    auto& of_chips = r.structures->use.emplace_back(StructuresResult::Row{row / 2, 2 - row, {}}).chips;
    of_chips.resize(chips);
    for (std::size_t c = 0; c < chips; ++c)
      for (std::size_t u = 0; u < kUses; ++u) of_chips[c][u] = 100 * row + 10 * c + u;
  }
  for (std::size_t n = 0; n < 3 * chips * chips; ++n) r.structures->homes.push_back(7 * n);
  r.sharing.emplace();
  r.sharing->epoch_cycles = 20'000;
  r.sharing->footprint = {1 << 20, 3 << 20, 2 << 20, 5 << 20};
  for (std::uint64_t e = 0; e < 5; ++e) {
    auto& epoch = r.sharing->epochs.emplace_back();
    for (std::uint64_t w = 0; w < kSharingWindows; ++w) epoch[w] = {1000 * e + w, 2000 * e + w, 3000 * e + w, 4000 * e + w};
  }
  return r;
}

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "atoll-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { std::filesystem::remove_all(path_); }
  std::string operator/(const std::string& name) const { return (path_ / name).string(); }
  bool empty() const { return std::filesystem::is_empty(path_); }

 private:
  std::filesystem::path path_;
};

}  // namespace atl::test
