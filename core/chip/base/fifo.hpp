#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"
#include "core/engine/prefetch.hpp"

namespace atl {

/// First-in first-out queue: the front lies in the object, since most queues hold one element or none, and a ring has those
/// behind it. Grows when full and never shrinks: the bound of a modelled queue is its Gate, not its storage.
template <class T> class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() {
    ATOLL_ASSERT(size_ != 0);
    return front_;
  }
  const T& front() const {
    ATOLL_ASSERT(size_ != 0);
    return front_;
  }
  const T& at(std::size_t i) const {
    ATOLL_ASSERT(i < size_);
    return i == 0 ? front_ : behind(i);
  }
  void push(const T& value) {
    if (size_ == 0) {
      front_ = value, size_ = 1;
    } else {
      push_behind(value);
    }
  }
  void pop() {
    ATOLL_ASSERT(size_ != 0);
    if (size_ == 0) [[unlikely]]  // without assertions it can only come from a checkpoint's lists that do not fit together
      refuse_course();
    if (--size_ == 0) return;
    front_ = slots_[head_];
    head_ = size_ == 1 ? 0 : (head_ + 1) & mask();
    prefetch_address(&slots_[head_]);  // what the next pop will move
  }
  /// Takes the i-th out of the middle; the others keep their order.
  T take_at(std::size_t i) {
    const T value = at(i);
    for (; i > 1; --i) behind(i) = behind(i - 1);
    if (i == 1) behind(1) = front_;
    pop();
    return value;
  }
  T take() {
    const T value = front_;
    pop();
    return value;
  }
  template <class F> void for_each(F&& f) const {
    for (std::size_t i = 0; i < size_; ++i) f(at(i));
  }
  void check_state() const {
    require_state((slots_.size() & (slots_.size() - 1)) == 0 && size_ <= slots_.size() + 1 &&
                  (head_ == 0 || head_ < slots_.size()));
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, front_, slots_, head_, size_); }

 private:
  std::uint32_t mask() const { return static_cast<std::uint32_t>(slots_.size()) - 1; }
  T& behind(std::size_t i) { return slots_[(head_ + i - 1) & mask()]; }
  const T& behind(std::size_t i) const { return slots_[(head_ + i - 1) & mask()]; }
  void push_behind(const T& value) {
    if (size_ > slots_.size()) grow();
    behind(size_++) = value;
  }
  void grow() {
    std::vector<T> bigger(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 1; i < size_; ++i) bigger[i - 1] = behind(i);
    slots_.swap(bigger);
    head_ = 0;
  }
  T front_{};
  std::vector<T> slots_;
  std::uint32_t head_ = 0, size_ = 0;
};

}  // namespace atl
