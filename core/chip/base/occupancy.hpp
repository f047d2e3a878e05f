#pragma once
#include <cstdint>

#include "core/engine/archive.hpp"
#include "core/engine/types.hpp"

namespace atl {

/// How many requests are at a place, and the time that they have spent there. Nobody carries a time stamp: by Little's law
/// the sum of the times is their number, added up over cycles.
class Occupancy {
 public:
  void enter(Cycle now) { pass(now), ++number_; }
  void leave(Cycle now) { pass(now), --number_; }
  /// Exact whenever the place is empty; while it is not, up to the last coming or going.
  std::uint64_t cycles() const { return cycles_; }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, number_, since_, cycles_); }

 private:
  void pass(Cycle now) {
    cycles_ += number_ * (now - since_);
    since_ = now;
  }
  std::uint64_t number_ = 0, cycles_ = 0;
  Cycle since_ = 0;
};

}  // namespace atl
