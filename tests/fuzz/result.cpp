#include "core/stats/hdf5_result_reader.hpp"
#include "core/stats/hdf5_result_writer.hpp"
#include "core/stats/info_json.hpp"
#include "core/stats/summary.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/hdf5_edits.hpp"

namespace atl::fuzz {
namespace {

/// Small, with everything that is optional.
RunResult sound_result() {
  RunResult r;
  r.provenance.version = "1", r.provenance.system = "s", r.provenance.hosts = {"a", ""};
  r.provenance.wait_shares = {0.5}, r.provenance.process_events = {7, 8};
  r.kernels = {{"k", 4, 0, 10, 100}, {"l", 4, 100, 110, 200}};
  r.decisions = {{0, 50, "sm_side", {{"eab", 1.25}}}};
  r.cycles = 200, r.complete = true;
  r.chips.resize(2);
  for (ChipResult& chip : r.chips) {
    chip.slice_accesses = {4, 5}, chip.slice_hits = {1, 2};
    chip.slice_requests = {4, 6}, chip.slice_queue_cycles = {9, 0}, chip.slice_miss_cycles = {70, 80};
    chip.channel_reads = {3}, chip.channel_writes = {1};
    for (std::size_t i = 0; i < kCounters; ++i) chip.totals.value[i] = i;
  }
  r.samples = {{100, std::vector<Counters>(2)}, {200, std::vector<Counters>(2)}};
  r.stack.assign(r.kernels.size(), std::vector<Stack>(r.chips.size()));
  r.sharing.emplace();
  r.sharing->epoch_cycles = 100;
  r.sharing->epochs.resize(1);
  r.sm_sharing.emplace();
  r.sm_sharing->kernels.resize(2);
  r.provenance.links_of_chips = {32, 64}, r.provenance.llc_chips = {0, 1};
  r.energy_prices = {{"dram_read_pj", 1e-6, 1}, {"static_watts", 0.5, 2}};
  r.structures.emplace();
  r.structures->structures = {{"a", 0x1000, 4096}, {"", 0, 0}};
  r.structures->use = {{0, 0, std::vector<UseCounts>(2)}, {1, 1, std::vector<UseCounts>(2)}};
  r.structures->homes.assign(2 * 2 * 2, 3);
  r.sampling.emplace();
  r.sampling->error = 0.03, r.sampling->confidence = 0.95, r.sampling->work = 10, r.sampling->simulated_work = 5;
  r.sampling->figures = {{"cycles", 200, 4}};
  r.sampling->launches = {{0, true, 90, 0}, {0, false, 90, 2}};
  return r;
}

std::string sound_file(const Folder& folder) {
  write_result(sound_result(), folder.path("sound.h5"), true);
  return folder.path("sound.h5");
}

}  // namespace
}  // namespace atl::fuzz

/// A result that is damaged by a script (hdf5_edits.hpp), and what `atoll info` prints of it.
extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  static const fuzz::Folder folder;
  static const std::string sound = fuzz::sound_file(folder);
  const std::string path = fuzz::damaged_copy(sound, data, size);
  fuzz::accepted([&] {
    const RunResult result = read_result(path, Unsealed::read);
    info_text(result);
    info_json(result);
  });
  fuzz::require(fuzz::all_closed(), "a reader closes what it opened");
  return 0;
}
