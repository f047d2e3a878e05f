#include <mutex>
#include <optional>

#include "comm/serial_transport.hpp"
#include "digest_run.hpp"
#include "tests/contract/transport_contract.hpp"

/// What digest_test.cpp shows for threads, for the ranks that mpirun started: all systems in one job, since what takes time
/// is to start jobs. That the program itself prints one digest on any layout is left to mpi_digest.py.
namespace atl::test {
namespace {

/// The controller, which is last, on rank 0, and chips in turns from the last rank down.
RankMap turned(std::uint32_t chips, std::uint32_t ranks) {
  std::string map;
  for (std::uint32_t chip = 0; chip < chips; ++chip) map += fmt::format("{},", ranks - 1 - chip % ranks);
  return RankMap::parse(map + "0", chips, ranks);
}

/// On all ranks of the job against one rank alone, which whoever has the result runs too.
void check_on_job(const SystemConfig& config, const std::string& workload, const auto& map) {
  std::optional<RunResult> got;
  std::mutex mutex;
  on_all_ranks([&](Transport& t) {
    const auto opened = open_workload(workload_file(workload));
    const auto n = static_cast<std::uint32_t>(t.size());
    auto mine = simulate(t, config, *opened, map(config.chips, n));
    const std::lock_guard lock(mutex);
    if (mine) got = std::move(mine);
  });
  if (!got) return;
  SerialTransport alone;
  const auto opened = open_workload(workload_file(workload));
  check_same(*got, *simulate(alone, config, *opened, RankMap::spread(config.chips, 1)));
}

TEST_CASE("every result on the ranks of a job is that of one rank, for each workload, organisation and topology") {
  on_matrix(
      [](const SystemConfig& config, const std::string& workload) { check_on_job(config, workload, RankMap::spread); });
}

TEST_CASE("every result on the ranks of a job is that of one rank, under each protocol") {
  for (const std::string protocol :
       {"full_map", "directory", "hmg", "rec", "rec_adaptive", "ideal", "none_remote", "l1_only"}) {
    CAPTURE(protocol);
    SystemConfig config = small_system("sm_side", "ring", protocol);
    config.coherence.directory_entries = 64;
    check_on_job(config, "stores", RankMap::spread);
  }
}

TEST_CASE("every result on the ranks of a job is that of one rank, while L1s serve each other and with another map") {
  for (const std::string organisation : {"memory_side", "sm_side", "sac"}) {
    CAPTURE(organisation);
    SystemConfig config = small_system(organisation, "ring");
    config.cluster.sharing = ClusterShare::colab;
    check_on_job(config, "hot", RankMap::spread);
  }
  check_on_job(small_system("sm_side", "ring"), "stores", turned);
}

}  // namespace
}  // namespace atl::test
