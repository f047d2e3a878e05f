#include "core/app/file_checkpointer.hpp"

#include <cstdio>
#include <exception>
#include <utility>

#include "core/app/stop_signals.hpp"

namespace atl {
namespace {

/// The newest that are kept: if the last one is lost with its disk block, there is one more.
constexpr std::size_t kKept = 2;

}  // namespace

FileCheckpointer::FileCheckpointer(std::string output, CheckpointHeader header, CheckpointPlan plan, bool keeps,
                                   std::string from)
    : output_(std::move(output)),
      header_(std::move(header)),
      plan_(plan),
      keeps_(keeps),
      seconds_before_(header_.host_seconds),
      last_(header_.boundary),
      newest_(std::move(from)) {
  header_.every_cycles = plan.every_cycles, header_.every_minutes = plan.every_minutes;
}

double FileCheckpointer::host_seconds() const { return seconds_before_ + 60 * minutes_since(start_); }

Checkpointer::Request FileCheckpointer::request() {
  if (end_signalled()) return Request::end;
  if (take_checkpoint_signal()) {
    told_.clear();  // whoever asks is answered
    return Request::checkpoint_and_end;
  }
  if (ended == Request::finish) return Request::none;
  if (keeps_ ? interrupted_for_sure(last_met_) : interrupted()) return Request::finish;
  if (!keeps_) return Request::none;
  if (plan_.time_limit_minutes != 0 && minutes_since(limit_from_) >= plan_.time_limit_minutes) {
    limit_from_ = Clock::now();  // if it cannot be written
    return Request::checkpoint_and_end;
  }
  return plan_.every_minutes != 0 && minutes_since(last_at_) >= plan_.every_minutes ? Request::checkpoint : Request::none;
}

bool FileCheckpointer::due(Cycle boundary, Cycle next) {
  last_met_ = boundary;
  if (boundary > header_.max_cycles) return false;
  if (plan_.asked() && !at_limit_ && header_.max_cycles < next) return at_limit_ = true;
  if (plan_.every_cycles == 0 || boundary / plan_.every_cycles == last_ / plan_.every_cycles) return false;
  last_ = boundary;
  return true;
}

bool FileCheckpointer::keep(SystemState state) {
  last_at_ = Clock::now();
  if (state.boundary > header_.max_cycles) return false;  // it ends already: nobody could go on beyond the limit from here
  try {
    CheckpointHeader header = header_;
    header.host_seconds = host_seconds();
    const std::string path = checkpoint_path(output_, state.boundary);
    write_checkpoint(path, std::move(header), state);
    remove_old_checkpoints(output_, state.boundary, kKept);
    newest_ = path;
    told_.clear();
    last_at_ = Clock::now();
    return true;
  } catch (const std::exception& e) {
    not_kept(state.boundary, e.what());
    return false;
  }
}

void FileCheckpointer::not_kept(Cycle boundary, const std::string& why) {
  last_at_ = Clock::now();
  if (std::exchange(told_, why) == why) return;
  std::fprintf(stderr, "atoll: no checkpoint at cycle %llu, and the run goes on: %s\n",
               static_cast<unsigned long long>(boundary), why.c_str());
}

std::string FileCheckpointer::farewell() const {
  if (ended == Request::checkpoint_and_end) return "stopped; go on with: atoll resume " + newest_;
  if (newest_.empty()) return "ended by SIGTERM; there is no checkpoint";
  return "ended by SIGTERM; go on from the last checkpoint with: atoll resume " + newest_;
}

}  // namespace atl
