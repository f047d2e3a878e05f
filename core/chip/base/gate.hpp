#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "core/chip/base/fifo.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"

namespace atl {

/// Who waits for a credit.
enum class WaiterKind : std::uint8_t { sm, mmu, request_port, slice_queue, slice_out, slice_write, ingress, cluster };
struct Waiter {
  using PlainState = void;
  WaiterKind kind{};
  std::uint8_t sub = 0;
  std::uint16_t index = 0;
};

/// A part of the state that may not be there.
template <class Archive, class T> void carry(Archive& a, std::unique_ptr<T>& part) {
  bool there = part != nullptr;
  carry(a, there);
  if (there && !part) part = std::make_unique<T>();
  if (!there) part.reset();
  if (there) carry(a, *part);
}

/// Credits of one finite queue. Whoever wants to send into it takes a credit first and, if there is none, lines up; a
/// credit that comes free goes to the first in line, so waiting is fair and no credit is stolen on the way.
class Gate {
 public:
  explicit Gate(std::uint32_t capacity = 1) : capacity_(capacity), free_(capacity) {}
  bool acquire() {
    if (free_ == 0) return false;
    --free_;
    return true;
  }
  void wait(Waiter w) {
    ATOLL_ASSERT(free_ == 0);
    if (!line_) line_ = std::make_unique<Fifo<Waiter>>();
    line_->push(w);
  }
  /// A slot was freed. Returns who now holds its credit and must be resumed, if anybody waits.
  std::optional<Waiter> release() {
    if (nobody_waits()) {
      ATOLL_ASSERT(free_ < capacity_);
      ++free_;
      return std::nullopt;
    }
    return line_->take();
  }
  std::uint32_t free() const { return free_; }
  bool full() const { return free_ == capacity_ && nobody_waits(); }  ///< all credits are back
  template <class F> void for_each_waiter(F&& f) const {
    if (line_) line_->for_each(f);
  }
  void check_state() const { require_state(free_ <= capacity_ && (free_ == 0 || nobody_waits())); }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, free_, line_); }

 private:
  bool nobody_waits() const { return !line_ || line_->empty(); }
  std::uint32_t capacity_, free_;
  std::unique_ptr<Fifo<Waiter>> line_;  ///< from the first wait on: most gates of a chip never have one
};

}  // namespace atl
