#pragma once
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>

#include "core/control/simulation.hpp"
#include "core/stats/summary.hpp"
#include "inputs/config/reader.hpp"

/// The small systems and workloads whose results have to be the same on every layout, and what "the same" is.
namespace atl::test {

/// SAC's system, shrunk so that a run takes well under a second.
inline SystemConfig small_system(const std::string& organisation, const std::string& topology,
                                 const std::string& protocol = "software", const std::string& replication = "shared") {
  return read_system("sac-4chip",
                     {"sm.count=4", "l1.size_kib=16", "llc.slices=4", "llc.size_kib=128", "dram.channels=2",
                      "control.sample_cycles=1000", "llc.organisation=" + organisation, "link.topology=" + topology,
                      "dynamic.period_cycles=500", "dynamic.saturation=0.5", "sac.window_cycles=500", "sac.crd_sets=32",
                      "coherence.protocol=" + protocol, "llc.replication=" + replication, "adaptive.directory_sets=4"});
}

inline std::string workload_file(const std::string& name) {
  return fmt::format("{}/tests/distributed/workloads/{}.json", ATOLL_SOURCE_DIR, name);
}

/// Calls `check` with the name of each workload and the system of each organisation and topology.
inline void on_matrix(const auto& check) {
  for (const std::string workload : {"stores", "hot"}) {
    for (const std::string organisation : {"memory_side", "sm_side", "static", "dynamic", "sac"}) {
      for (const std::string topology : {"ring", "full", "switch"}) {
        CAPTURE(workload);
        CAPTURE(organisation);
        CAPTURE(topology);
        check(small_system(organisation, topology), workload);
      }
    }
  }
}

/// Not only the digest: everything that a user reads from a result. It ends no test: other ranks would wait for this one.
inline void check_same(const RunResult& got, const RunResult& wanted) {
  CHECK(got.digest == wanted.digest);
  CHECK(got.cycles == wanted.cycles);
  CHECK(got.complete);
  CHECK(got.provenance.events == wanted.provenance.events);
  CHECK(got.sharing == wanted.sharing);
  CHECK(sum_of_chips(got).value == sum_of_chips(wanted).value);
  CHECK(got.kernels.size() == wanted.kernels.size());
  if (got.kernels.size() != wanted.kernels.size()) return;
  for (std::size_t k = 0; k < got.kernels.size(); ++k) {
    CHECK(got.kernels[k].started == wanted.kernels[k].started);
    CHECK(got.kernels[k].finished == wanted.kernels[k].finished);
  }
  CHECK(got.samples.size() == wanted.samples.size());
  if (got.samples.size() != wanted.samples.size()) return;
  for (std::size_t s = 0; s < got.samples.size(); ++s) {
    CHECK(got.samples[s].end == wanted.samples[s].end);
    for (std::size_t c = 0; c < got.chips.size(); ++c)
      CHECK(got.samples[s].chips[c].value == wanted.samples[s].chips[c].value);
  }
  for (std::size_t c = 0; c < got.chips.size(); ++c) CHECK(got.chips[c].latency == wanted.chips[c].latency);
  CHECK(got.structures.has_value());
  CHECK((got.structures == wanted.structures));
}

}  // namespace atl::test
