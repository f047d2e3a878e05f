#include "core/app/file_checkpointer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <utility>

#include "core/app/stop_signals.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {
namespace {

/// The newest that are kept: if the last one is lost with its disk block, there is one more.
constexpr std::size_t kKept = 2;

/// Those after `newest` are left alone: somebody went on from an older one, and knows why.
void remove_old(const std::string& output, const std::string& newest) {
  std::error_code ignored;
  for (const std::string& path : unfinished_checkpoints_of(output)) std::filesystem::remove(path, ignored);
  auto all = checkpoints_of(output);
  all.erase(std::find(all.begin(), all.end(), newest), all.end());
  for (std::size_t i = 0; i + kKept <= all.size(); ++i) std::filesystem::remove(all[i], ignored);
}

}  // namespace

FileCheckpointer::FileCheckpointer(std::string output, CheckpointHeader header, CheckpointPlan plan, bool keeps)
    : output_(std::move(output)),
      header_(std::move(header)),
      plan_(plan),
      keeps_(keeps),
      seconds_before_(header_.host_seconds),
      last_(header_.boundary) {
  header_.every_cycles = plan.every_cycles, header_.every_minutes = plan.every_minutes;
}

double FileCheckpointer::host_seconds() const { return seconds_before_ + 60 * minutes_since(start_); }

Checkpointer::Wish FileCheckpointer::wish() {
  if (end_signalled()) return Wish::end;
  if (take_checkpoint_signal()) return Wish::checkpoint_and_end;
  if (!keeps_) return Wish::none;
  if (plan_.time_limit_minutes != 0 && minutes_since(limit_from_) >= plan_.time_limit_minutes) {
    limit_from_ = Clock::now();  // if it cannot be written
    return Wish::checkpoint_and_end;
  }
  return plan_.every_minutes != 0 && minutes_since(last_at_) >= plan_.every_minutes ? Wish::checkpoint : Wish::none;
}

bool FileCheckpointer::due(Cycle boundary, Cycle next) {
  if (plan_.asked() && !at_limit_ && boundary <= header_.max_cycles && header_.max_cycles < next) return at_limit_ = true;
  if (plan_.every_cycles == 0 || boundary / plan_.every_cycles == last_ / plan_.every_cycles) return false;
  last_ = boundary;
  return true;
}

bool FileCheckpointer::keep(SystemState state) {
  last_at_ = Clock::now();
  try {
    if (header_.workload_content.empty()) header_.workload_content = workload_content_digest(header_.workload_file);
    CheckpointHeader header = header_;
    header.host_seconds = host_seconds();
    const std::string path = checkpoint_path(output_, state.boundary);
    write_checkpoint(path, header, state);
    remove_old(output_, path);
    newest_ = path;
    last_at_ = Clock::now();
    return true;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "atoll: no checkpoint at cycle %llu, and the run goes on: %s\n",
                 static_cast<unsigned long long>(state.boundary), e.what());
    return false;
  }
}

std::string FileCheckpointer::farewell() const {
  if (ended == Wish::checkpoint_and_end) return "stopped; go on with: atoll resume " + newest_;
  const auto all = checkpoints_of(output_);
  if (all.empty()) return "ended by SIGTERM; there is no checkpoint";
  return "ended by SIGTERM; go on from the last checkpoint with: atoll resume " + all.back();
}

}  // namespace atl
