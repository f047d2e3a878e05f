#include <lzma.h>

#include <array>
#include <memory>

#include "comm/serial_transport.hpp"
#include "core/control/checkpoint_file.hpp"
#include "core/control/local_system.hpp"
#include "core/stats/version.hpp"
#include "inputs/config/reader.hpp"
#include "tests/fuzz/harness.hpp"
#include "tests/fuzz/script.hpp"

// A checkpoint of today's writer that a script damages. A script is a byte that chooses the run, and a list of (u8
// operation, operands), little-endian. Operations modulo 8; those on header and processes leave all checksums right, as
// damage cannot, so that what is behind them is tried, too:
//
//     0  u32 offset, u8 byte: a raw byte of the file
//     1  u32 size: the file is cut there
//     2  u16 offset, u8 byte: of the header
//     3  u16 offset, u64 value: eight bytes of the header
//     4  u8 process, u32 offset, u8 byte: of a process
//     5  u8 process, u16 field, u64 value: of those fields of a process that are written one by one, sizes among them
//     6  u8 process, u32 size: the process is cut there
//     7  u8 process, u32 offset, u8 count: so many bytes are put in
//
// Offsets are modulo what there is. Nothing runs here: tests/robustness has the program go on from such files.
namespace atl::fuzz {
namespace {

constexpr const char* kWorkload = R"({"doc": "fuzz", "seed": 7, "kernels": [
  {"name": "a", "repeat": 3, "ctas": 16, "warps_per_cta": 2, "memory_instructions": 40, "barrier_every": 10, "regions": [
    {"name": "x", "kind": "false_shared", "size_kib": 64, "pattern": "strided", "stride_bytes": 256, "write_fraction": 0.3},
    {"name": "y", "kind": "true_shared", "size_kib": 16, "pattern": "uniform", "atomic_fraction": 0.1}]}]})";

/// With every component that has a state of its own in one of them.
const std::array<std::vector<std::string>, 3> kSystems{
    {{"llc.organisation=sac", "coherence.protocol=hmg", "observe.sharing=true", "partition.placement=first_touch"},
     {"llc.organisation=sm_side", "coherence.protocol=rec_adaptive", "cluster.sharing=colab", "observe.sm_sharing=true"},
     {"llc.organisation=dynamic", "llc.replication=selrep", "llc.remote_writes=through"}}};

struct Sound final : Checkpointer {
  Request request() override { return state.processes.empty() ? Request::none : Request::end; }
  bool due(Cycle boundary, Cycle) override { return boundary >= 3000 && state.processes.empty(); }
  bool keep(SystemState s) override { return state = std::move(s), true; }
  void not_kept(Cycle, const std::string& why) override { throw SimulationError(why); }

  SystemConfig config;
  SystemState state;
  std::vector<std::vector<std::size_t>> fields;  ///< [process] where those that are written one by one begin
};

/// An archive that writes nothing and notes where the fields are.
struct Fields {
  struct is_saving {
    static constexpr bool value = true;
  };
  void save_binary(const void*, std::size_t size) { at.push_back(end), end += size; }
  std::vector<std::size_t> at;
  std::size_t end = 0;
};

class Runs {
 public:
  Runs() {
    workload_ = open_workload(folder.write("w.json", kWorkload));
    for (const auto& system : kSystems) {
      Sound& s = *sound_.emplace_back(std::make_unique<Sound>());
      std::vector<std::string> sets{"chips=2",         "sm.count=4",
                                    "sm.warps=8",      "l1.size_kib=4",
                                    "llc.slices=4",    "llc.size_kib=32",
                                    "dram.channels=2", "noc.sms_per_cluster=2",
                                    "sac.crd_sets=8",  "control.sample_cycles=500"};
      sets.insert(sets.end(), system.begin(), system.end());
      s.config = read_system("sac-4chip", sets);
      SimulationOptions options;
      options.checkpointer = &s;
      simulate(transport_, s.config, *workload_, map(s), options);
      require(s.state.processes.size() == s.config.chips + 1, "a run leaves a checkpoint");
      note_fields(s);
    }
  }
  const Sound& sound(unsigned n) const { return *sound_[n % sound_.size()]; }

  /// Reads the file and goes on from it up to the first event.
  void resume(const Sound& s, const std::string& path) {
    const Checkpoint c = read_checkpoint(path);
    const auto system = built(s);
    system->load(c.state, kNever);
    for (LpId lp = 0; lp <= s.config.chips; ++lp)
      require(system->save(lp, c.state.boundary).size() == c.state.processes[lp].size(), "what was read is written again");
  }

  const Folder folder;

 private:
  static RankMap map(const Sound& s) { return RankMap::spread(s.config.chips, 1); }
  std::unique_ptr<LocalSystem> built(const Sound& s) {
    auto system = std::make_unique<LocalSystem>();
    system->build(transport_, s.config, *workload_, map(s), {});
    system->synchronise(transport_);
    return system;
  }
  void note_fields(Sound& s) {
    const auto system = built(s);
    system->load(s.state, kNever);
    const auto note = [&](auto& process) {
      Fields f;
      process.serialize(f, 0);
      s.fields.push_back(std::move(f.at));
    };
    for (const auto& chip : system->chips) note(*chip);
    note(*system->controller);
  }

  SerialTransport transport_;
  std::unique_ptr<Workload> workload_;
  std::vector<std::unique_ptr<Sound>> sound_;
};

constexpr std::size_t kPreamble = 48, kHeaderBytes = 16, kHeaderChecksum = 24, kOwnChecksum = 40;  // docs/checkpoints.md

void put(std::string& bytes, std::size_t at, std::uint64_t value) {
  if (bytes.size() >= sizeof value) std::memcpy(&bytes[at % (bytes.size() - 7)], &value, sizeof value);
}
void put_crc(std::string& file, std::size_t at, std::size_t from, std::size_t size) {
  put(file, at, lzma_crc64(reinterpret_cast<const std::uint8_t*>(&file[from]), size, 0));
}

struct MessageEdit {
  unsigned operation = 0, process = 0;
  std::uint32_t at = 0;
  std::uint64_t value = 0;
};

std::vector<MessageEdit> parse_edits(Script& script) {
  std::vector<MessageEdit> edits;
  while (!script.ended() && edits.size() < 32) {
    MessageEdit e;
    e.operation = script.take<std::uint8_t>() % 8;
    if (e.operation >= 4) e.process = script.take<std::uint8_t>();
    const bool is_short = e.operation == 2 || e.operation == 3 || e.operation == 5;
    e.at = is_short ? script.take<std::uint16_t>() : script.take<std::uint32_t>();
    if (e.operation == 3 || e.operation == 5) {
      e.value = script.take<std::uint64_t>();
    } else if (e.operation != 1 && e.operation != 6) {
      e.value = script.take<std::uint8_t>();
    }
    edits.push_back(e);
  }
  return edits;
}

void edit_processes(const Sound& s, std::vector<std::string>& processes, const std::vector<MessageEdit>& edits) {
  for (const MessageEdit& e : edits) {
    const std::size_t n = e.process % processes.size();
    std::string& bytes = processes[n];
    if (bytes.empty()) continue;
    const std::size_t at = e.at % bytes.size();
    if (e.operation == 4) bytes[at] = static_cast<char>(e.value);
    if (e.operation == 5) put(bytes, s.fields[n][e.at % s.fields[n].size()], e.value);
    if (e.operation == 6) bytes.resize(at);
    if (e.operation == 7) bytes.insert(at, e.value, '\1');
  }
}

void edit_file(std::string& file, const std::vector<MessageEdit>& edits) {
  std::uint64_t header = 0;
  std::memcpy(&header, &file[kHeaderBytes], sizeof header);
  for (const MessageEdit& e : edits) {
    if (e.operation == 2) file[kPreamble + e.at % header] = static_cast<char>(e.value);
    if (e.operation == 3) put(file, kPreamble + e.at % (header - 7), e.value);
  }
  put_crc(file, kHeaderChecksum, kPreamble, header);
  put_crc(file, kOwnChecksum, 0, kOwnChecksum);
  for (const MessageEdit& e : edits) {
    if (e.operation == 0 && !file.empty()) file[e.at % file.size()] = static_cast<char>(e.value);
    if (e.operation == 1 && !file.empty()) file.resize(e.at % file.size());
  }
}

}  // namespace
}  // namespace atl::fuzz

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  using namespace atl;
  static fuzz::Runs runs;
  fuzz::Script script(data, size);
  const fuzz::Sound& sound = runs.sound(script.take<std::uint8_t>());
  const auto edits = fuzz::parse_edits(script);

  SystemState state = sound.state;
  fuzz::edit_processes(sound, state.processes, edits);
  CheckpointHeader header;
  header.version = version(), header.commit = git_commit(), header.config = "{}";
  const std::string path = runs.folder.path("o.h5.1.ckpt");
  write_checkpoint(path, header, state);
  std::string file = fuzz::contents(path);
  fuzz::edit_file(file, edits);
  runs.folder.write("o.h5.1.ckpt", file);
  fuzz::accepted([&] { runs.resume(sound, path); });
  return 0;
}
