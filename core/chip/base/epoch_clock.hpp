#pragma once
#include <algorithm>
#include <cstdint>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// When epochs of one length end, of which the first may have begun before.
class EpochClock {
 public:
  /// `cycles` = 0: it has none.
  void start(Cycle now, std::uint32_t cycles, std::uint32_t gone) {
    cycles_ = cycles;
    end_ = cycles == 0 ? kNever : now + cycles - std::min(gone, cycles - 1);
  }
  Cycle end() const { return end_; }
  void pass(Cycle now) {
    if (cycles_ != 0 && end_ <= now) end_ = now + cycles_;
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, cycles_, end_);
    require_state((cycles_ == 0) == (end_ == kNever));
  }

 private:
  std::uint32_t cycles_ = 0;
  Cycle end_ = kNever;
};

}  // namespace atl
