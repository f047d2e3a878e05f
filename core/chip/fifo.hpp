#pragma once
#include <cstddef>
#include <vector>

#include "core/engine/archive.hpp"

namespace atl {

/// First-in first-out ring. Grows when full and never shrinks: the bound of a modelled queue is its Gate, not its storage.
template <class T> class Fifo {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return slots_[head_]; }
  const T& front() const { return slots_[head_]; }
  const T& at(std::size_t i) const { return slots_[(head_ + i) & (slots_.size() - 1)]; }
  void push(const T& value) {
    if (size_ == slots_.size()) grow();
    slots_[(head_ + size_++) & (slots_.size() - 1)] = value;
  }
  void pop() {
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
  }
  /// Takes the i-th out of the middle; the others keep their order.
  T take_at(std::size_t i) {
    const T value = at(i);
    for (; i > 0; --i) slots_[(head_ + i) & (slots_.size() - 1)] = at(i - 1);
    pop();
    return value;
  }
  T take() {
    const T value = front();
    pop();
    return value;
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, slots_, head_, size_); }

 private:
  void grow() {
    std::vector<T> bigger(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = at(i);
    slots_.swap(bigger);
    head_ = 0;
  }
  std::vector<T> slots_;
  std::size_t head_ = 0, size_ = 0;
};

}  // namespace atl
