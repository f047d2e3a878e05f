#pragma once
#include "latency_terms.hpp"

/// What tests of COLAB share: clusters of a tiny chip, latencies by their terms. CTA k of a kernel runs on SM k; all SMs are
/// one cluster unless a test says otherwise.
namespace atl::test {

inline constexpr std::uint64_t kA = 0x10000, kB = 0x20080, kC = 0x30100;
inline constexpr std::uint64_t kSameSet = 1024;  ///< bytes to the next line of the same set of an L1

inline SystemConfig cluster_of(std::uint32_t sms, std::uint32_t clusters = 1) {
  SystemConfig c = tiny(1);
  c.sm.count = sms * clusters, c.noc.sms_per_cluster = sms;
  c.cluster.sharing = ClusterShare::colab;
  c.cluster.table_latency_cycles = 11;
  c.observe.neighbours = true;
  return c;
}

struct ClusterTerms : Terms {
  using Terms::Terms;
  Cycle table() const { return config.cluster.table_latency_cycles; }
  Cycle l1() const { return config.l1.latency_cycles; }
  Cycle across() const { return config.line_bytes / config.cluster.port_bytes; }
  Cycle llc_hit() const { return local_llc_hit(header(), line()); }
  /// The own look-up, the table's, the owner's, and the line on its way.
  Cycle served() const { return l1() + table() + l1() + across(); }
};

struct LatencyLog : ResponseLog {
  /// Latencies of the SM's loads, in the order of their coming.
  std::vector<Cycle> of(std::uint32_t sm) const {
    std::vector<Cycle> list;
    for (const Response& r : responses)
      if (r.sm == sm) list.push_back(r.latency);
    return list;
  }
};

/// Replaces everything in the set of `a` of the L1 that runs it.
inline Program& evict(Program& p, std::uint64_t a) {
  for (std::uint64_t i = 1; i <= 4; ++i) p.load(a + 64 * i * kSameSet, 1).after({1});
  return p;
}

}  // namespace atl::test
