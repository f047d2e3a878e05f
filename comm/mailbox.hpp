#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/engine/assert.hpp"
#include "core/engine/message.hpp"

namespace atl {

/// Messages from one source to one local logical process, kept until the window of their arrival begins.
///
/// A message is handed over at the start of that window, wherever it came from and whenever it came in; so the order in
/// which a process sees messages is (window, source, order of sending) for every layout.
class Mailbox {
 public:
  Mailbox(LpId source, Cycle window) : source_(source), window_(window) {}
  LpId source() const { return source_; }

  /// Takes over the messages of `mail` and leaves it empty. Throws SimulationError if one lies before `now`.
  void put(Mail& mail, Cycle now);
  /// Messages that arrive in window `index`; call for ascending indices. The result is valid until the next call.
  const Mail& take(Cycle index);
  /// Arrival of the earliest message still kept, kNever if none.
  Cycle earliest() const;

  /// All messages still kept, in an order that gives the same hand-overs when put into a box that was restarted.
  Mail undelivered() const;
  /// Of a box that has seen nothing: windows before `index` are over.
  void restart(Cycle index) { current_ = index; }

 private:
  static constexpr Cycle kSlots = 16;
  void place(const Message& m) {
    const Cycle index = m.arrival / window_;
    ATOLL_ASSERT(index >= current_);
    auto& into = index - current_ < kSlots ? slots_[index % kSlots].data : far_.data;
    if (into.capacity() == 0 && !spare_.empty()) {
      into = std::move(spare_.back());
      spare_.pop_back();
    }
    into.push_back(m);
  }
  LpId source_;
  Cycle window_;
  Cycle current_ = 0;  ///< slots cover windows [current, current + kSlots)
  std::array<Mail, kSlots> slots_;
  Mail far_, taken_;
  std::vector<std::vector<Message>> spare_;  ///< of slots that were taken: memory that the host's caches still hold
  std::size_t kept_ = 0;
};

/// Appends `mail` to a byte buffer that crosses ranks, and reads it back. Data packets are copied as they lie in memory.
void encode(const Mail& mail, LpId from, LpId to, std::string& out);
/// Reads one entry at `offset` and moves it on. Returns false at the end of the buffer.
bool decode(const std::string& in, std::size_t& offset, LpId& from, LpId& to, Mail& mail);

}  // namespace atl
