#pragma once
#include <string>
#include <vector>

#include "core/chip/context.hpp"
#include "core/chip/observe/line_set.hpp"
#include "core/engine/archive.hpp"
#include "core/stats/sharing.hpp"

namespace atl {

/// Notes which lines one chip accesses, over the run and in each epoch. Who else does is found out when the logs of all
/// chips come together (core/control/sharing).
///
/// It looks at the requests that leave the L1s. Those make the working set of an LLC; and they miss nothing of the
/// footprint, since an L1 starts empty and a store allocates nothing: the first access to a line always leaves.
class SharingLog final : public ChipObserver {
 public:
  explicit SharingLog(Cycle epoch_cycles) : epoch_cycles_(epoch_cycles) {}

  bool sees_each_hit() const override { return false; }
  void on_request(const Context& c, const Packet& p) override { add(c.now(), p.line); }
  /// `now` never goes back.
  void add(Cycle now, LineAddr line) {
    if (now >= window_end_) [[unlikely]]
      begin_window(now);
    if (seen_.insert(line)) fresh_.push_back(line.value << 3 | window_);
  }

  /// Ends the epoch that is under way; nothing may be added afterwards.
  void close();
  /// By epoch, up to the last one with an access: the lines accessed (line_log.hpp). Valid when closed.
  std::vector<std::string>& epochs() { return epochs_; }
  /// All lines of the run, in the same form.
  std::string footprint() const;
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, window_end_, epoch_, window_, seen_, fresh_, all_, epochs_);
  }
  /// In a run that has come to `now`.
  void check(Cycle now) const {
    require_state(epoch_ <= now / epoch_cycles_ && epochs_.size() <= epoch_ + 1);
    for (const std::string& log : epochs_) require_state(log.empty() || (log.back() & 0x80) == 0);
  }

 private:
  void begin_window(Cycle now);

  Cycle epoch_cycles_;
  Cycle window_end_ = 0;
  std::uint64_t epoch_ = 0;
  std::uint32_t window_ = 0;          ///< the shortest that has not ended
  LineSet seen_;                      ///< in this epoch
  std::vector<std::uint64_t> fresh_;  ///< line << 3 | window of the members of seen_
  LineSet all_;
  std::vector<std::string> epochs_;
};

}  // namespace atl
