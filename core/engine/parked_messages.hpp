#pragma once
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"
#include "core/engine/message.hpp"

namespace atl {

/// Control messages between their hand-over and the event of their arrival, which carries the number they were parked under.
class ParkedMessages {
 public:
  std::uint32_t put(const ControlMessage& message) {
    if (free_.empty()) free_.push_back(static_cast<std::uint32_t>(parked_.size())), parked_.emplace_back();
    const std::uint32_t number = free_.back();
    free_.pop_back();
    parked_[number] = message;
    return number;
  }
  ControlMessage take(std::uint32_t number) {
    ATOLL_ASSERT(number < parked_.size() && std::find(free_.begin(), free_.end(), number) == free_.end());
    free_.push_back(number);
    return std::exchange(parked_[number], {});
  }
  /// The numbers that are not given out; what is not among them waits for its event.
  std::vector<bool> taken() const {
    std::vector<bool> taken = require_places(free_, parked_.size());
    taken.flip();
    return taken;
  }
  LpId source(std::uint32_t number) const { return parked_[number].source; }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, parked_, free_); }

 private:
  std::vector<ControlMessage> parked_;
  std::vector<std::uint32_t> free_;
};

}  // namespace atl
