#pragma once
#include <algorithm>
#include <array>
#include <span>
#include <string>
#include <vector>

#include "core/engine/assert.hpp"
#include "core/engine/message.hpp"

namespace atl {

/// Messages to one local logical process, kept until the window of their arrival begins.
///
/// A message is handed over at the start of that window, wherever it came from and whenever it came in; so the order in
/// which a process sees messages is (window, source, order of sending) for every layout. What arrives in one window lies
/// in one place, whoever sent it: of a system of 64 chips, each hears from 64 others in every window.
class Mailbox {
 public:
  /// Memory of messages that were read, which the host's caches still hold: of all mailboxes of a rank.
  using Spare = std::vector<std::vector<Message>>;

  /// `sources`: ascending. `spare` must outlive the mailbox.
  Mailbox(std::vector<LpId> sources, Cycle window, Spare& spare)
      : sources_(std::move(sources)), window_(window), spare_(&spare) {}
  const std::vector<LpId>& sources() const { return sources_; }

  /// Takes over the messages of one source and leaves `mail` empty. Throws SimulationError if one lies before `now`.
  void put(LpId source, Mail& mail, Cycle now);
  void put(LpId source, const Message& message, Cycle now);
  void put(LpId source, ControlMessage&& message, Cycle now);
  /// Hands over what arrives in window `index`; call for ascending indices. Source by source in ascending order: calls
  /// data(messages) one or several times, then control(message) for each.
  template <class Data, class Control> void take(Cycle index, Data&& data, Control&& control) {
    if (!open(index)) return;
    auto controls = taken_.control_runs.begin();
    const auto controls_before = [&](LpId source) {
      for (; controls != taken_.control_runs.end() && controls->source < source; ++controls)
        for (std::uint32_t i = controls->begin; i < controls->end; ++i) control(taken_.control[i]);
    };
    for (const Run& run : taken_.runs) {
      controls_before(run.source);
      data(std::span<const Message>(taken_.data).subspan(run.begin, run.end - run.begin));
    }
    controls_before(kNobody);
    put_away();
  }
  /// Arrival of the earliest message still kept, kNever if none.
  Cycle earliest() const;

  /// By source, all messages still kept, in an order that gives the same hand-overs when put into a box that was restarted.
  std::vector<Mail> undelivered() const;
  /// Of a box that has seen nothing: windows before `index` are over.
  void restart(Cycle index) { current_ = index; }

 private:
  static constexpr Cycle kSlots = 16;
  static constexpr LpId kNobody = ~LpId{0};
  /// Messages of one source that lie one behind the other.
  struct Run {
    LpId source;
    std::uint32_t begin, end;
  };
  struct Slot {
    std::vector<Message> data;
    std::vector<Run> runs;  ///< of data
    std::vector<ControlMessage> control;
    std::vector<Run> control_runs;
    void place(LpId source, const Message& m) {
      extend(runs, source, data.size());
      data.push_back(m);
    }
    void place(LpId source, ControlMessage&& m) {
      extend(control_runs, source, control.size());
      control.push_back(std::move(m));
    }
    static void extend(std::vector<Run>& runs, LpId source, std::size_t size) {
      const auto at = static_cast<std::uint32_t>(size);
      if (runs.empty() || runs.back().source != source) runs.push_back({source, at, at});
      runs.back().end = at + 1;
    }
  };
  bool near(Cycle index) const { return index - current_ < kSlots; }
  Slot& slot(Cycle index) {
    Slot& s = slots_[index % kSlots];
    if (s.data.capacity() == 0 && !spare_->empty()) {
      s.data = std::move(spare_->back());
      spare_->pop_back();
    }
    return s;
  }
  Mail& far(Cycle index) {
    far_first_ = std::min(far_first_, index);
    return far_;
  }
  bool open(Cycle index);
  void sort_far(Cycle index);
  void put_away();

  std::vector<LpId> sources_;
  Cycle window_;
  Cycle current_ = 0;  ///< slots cover windows [current, current + kSlots)
  std::array<Slot, kSlots> slots_;
  Slot taken_;
  Mail far_;                  ///< what arrives beyond the slots
  Cycle far_first_ = kNever;  ///< window of the first of far_
  Spare* spare_;
  std::size_t kept_ = 0;
};

/// Appends `mail` to a byte buffer that crosses ranks, and reads it back. Data packets are copied as they lie in memory.
void encode(const Mail& mail, LpId from, LpId to, std::string& out);
/// Reads one entry at `offset` and moves it on. Returns false at the end of the buffer.
bool decode(const std::string& in, std::size_t& offset, LpId& from, LpId& to, Mail& mail);

}  // namespace atl
