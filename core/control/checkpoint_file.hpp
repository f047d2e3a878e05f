#pragma once
#include <string>
#include <vector>

#include "core/control/checkpointer.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

/// Checkpoint files (docs/checkpoints.md): a preamble of fixed size, a header that says of which run, and a block for each
/// logical process. Every byte is covered by a checksum, and nothing is decoded before its checksum is right.
namespace atl {

/// What a run needs, besides its state, to go on as the same run.
struct CheckpointHeader {
  std::string version, commit;  ///< of the program that wrote it: the blocks are its memory
  std::string config;           ///< effective configuration, JSON
  std::string workload;         ///< as the user named it
  std::string workload_file;    ///< where that was
  std::string workload_digest;  ///< if another one, the run would go on with something else
  std::string kernels, ctas;    ///< which part of it
  std::string command, started_at;
  Cycle boundary = 0;
  Cycle max_cycles = kNever;
  Cycle every_cycles = 0;     ///< that checkpoints are taken after; 0: not
  double every_minutes = 0;   ///< the same, of host time
  double host_seconds = 0;    ///< spent so far, in all parts of the run
  std::uint64_t windows = 0;  ///< run so far
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, version, commit, config, workload, workload_file, workload_digest, kernels, ctas, command, started_at);
    state(a, boundary, max_cycles, every_cycles, every_minutes, host_seconds, windows);
  }
};

struct Checkpoint {
  CheckpointHeader header;
  SystemState state;
  std::uint64_t checksum = 0;  ///< of the whole, to see whether ranks read the same
};

/// The header gets the state's boundary. Written beside and renamed: whatever fails, what stood there before is untouched.
/// Throws IoError.
void write_checkpoint(const std::string& path, CheckpointHeader header, const SystemState& state);
/// Throws InputError naming the file if it is no checkpoint, is damaged, or was written by another build of Atoll.
Checkpoint read_checkpoint(const std::string& path);
/// The same of its header alone, which is little of it. What follows may be damaged.
CheckpointHeader read_checkpoint_header(const std::string& path);

/// It begins like one.
bool is_checkpoint(const std::string& path);

/// `OUT.<cycle>.ckpt`
std::string checkpoint_path(const std::string& output, Cycle boundary);
/// Those of an output that exist, by ascending cycle.
std::vector<std::string> checkpoints_of(const std::string& output);
/// What a process that was killed left of those it was writing.
std::vector<std::string> unfinished_checkpoints_of(const std::string& output);
/// Leaves `kept` of those up to cycle `newest`. Those after it are left alone: somebody went on from an older one, and knows
/// why.
void remove_old_checkpoints(const std::string& output, Cycle newest, std::size_t kept);
/// The output that a checkpoint's name begins with. InputError if it is not named like one.
std::string output_of_checkpoint(const std::string& path);

}  // namespace atl
