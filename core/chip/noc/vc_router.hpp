#pragma once
#include <bit>
#include <cstdint>
#include <vector>

#include "core/chip/base/fifo.hpp"
#include "core/chip/base/packet.hpp"
#include "core/engine/archive.hpp"
#include "core/engine/assert.hpp"

namespace atl {

/// A stage of input-queued routers with virtual channels: SelRep's H-Xbar (section IV: 4 virtual channels of 8 flits,
/// iSLIP). A packet waits at its input until the input and its output are both free, and then holds both while its flits
/// pass. What an output may choose from are the heads of the virtual channels: the first `window` packets of an input. So
/// packets that want one output at a time keep each other waiting, and through a full window those behind them: an
/// input-queued switch passes 0.59 (1 channel) to 0.8 (4) of its bandwidth under uniform traffic (Hluchyj and Karol, JSAC
/// 1988), and all of it if every input has an output of its own, as private slices have.
///
/// Inputs and outputs are numbered over all routers of the stage; `members` consecutive inputs, 64 at most, share a router.
/// Free outputs take inputs in turn, free inputs their oldest packet whose output is free. Callers schedule the end of each
/// passage, which `begin(input, output, packet)` announces, and report it to finish().
class VcRouter {
 public:
  static constexpr std::uint32_t kNoLimit = ~std::uint32_t{0};
  /// `capacity`: packets that an input holds; `room`: packets that the far side of an output holds.
  VcRouter(std::uint32_t inputs, std::uint32_t outputs, std::uint32_t members, std::uint32_t window, std::uint32_t capacity,
           std::uint32_t room)
      : in_(inputs),
        out_(outputs),
        idle_(inputs / members, ~std::uint64_t{0}),
        members_(members),
        window_(window),
        capacity_(capacity) {
    for (Output& o : out_) o.room = room;
  }
  bool room(std::uint32_t input) const { return in_[input].fifo.size() + in_[input].busy < capacity_; }
  bool empty() const {
    for (const Input& i : in_)
      if (!i.fifo.empty() || i.busy) return false;
    return true;
  }
  std::uint32_t inputs() const { return static_cast<std::uint32_t>(in_.size()); }
  const Fifo<Packet>& queue(std::uint32_t input) const { return in_[input].fifo; }
  /// Whether an input has packets, and none passes because another's passes to the same output.
  template <class OutputOf> bool conflict(std::uint32_t input, OutputOf&& output_of) const {
    const Input& in = in_[input];
    if (in.busy) return false;
    for (std::size_t k = 0; k < window(in); ++k)
      if (out_[output_of(in.fifo.at(k))].busy) return true;
    return false;
  }

  /// A packet enters. `output_of(packet)`.
  template <class OutputOf, class Begin>
  void arrive(std::uint32_t input, const Packet& p, OutputOf&& output_of, Begin&& begin) {
    Input& in = in_[input];
    ATOLL_ASSERT(in.fifo.size() < capacity_);  // who only asks room() keeps a place for the packet that passes, too
    in.fifo.push(p);
    if (in.fifo.size() > window_) return;
    out_[output_of(p)].wanted |= bit(input);
    if (!in.busy) choose_output(input, output_of, begin);
  }
  /// The packet of `input` has passed.
  template <class OutputOf, class Begin> void finish(std::uint32_t input, OutputOf&& output_of, Begin&& begin) {
    Input& in = in_[input];
    ATOLL_ASSERT(in.busy);
    in.busy = false, out_[in.output].busy = false;
    idle_[input / members_] |= bit(input);
    choose_input(in.output, input / members_, output_of, begin);
    if (!in.busy) choose_output(input, output_of, begin);
  }
  /// The far side of `output`, of router `router`, has room for one packet more.
  template <class OutputOf, class Begin>
  void free(std::uint32_t output, std::uint32_t router, OutputOf&& output_of, Begin&& begin) {
    ++out_[output].room;
    choose_input(output, router, output_of, begin);
  }
  template <class Archive> void serialize(Archive& a, unsigned) { state(a, fixed(in_), fixed(out_), fixed(idle_)); }
  /// `passing`: [input] packets whose passage has been announced and not yet reported.
  template <class OutputOf> void check(const std::vector<std::uint32_t>& passing, OutputOf&& output_of) const {
    std::vector<std::uint64_t> wanted(out_.size()), idle(idle_.size());
    std::vector<bool> busy(out_.size());
    for (std::uint32_t i = 0; i < in_.size(); ++i) {
      const Input& in = in_[i];
      require_state(passing[i] == (in.busy ? 1 : 0) && (!in.busy || (in.output < out_.size() && !busy[in.output])));
      if (in.busy) busy[in.output] = true;
      if (!in.busy) idle[i / members_] |= bit(i);
      for (std::size_t k = 0; k < window(in); ++k) {
        const std::uint32_t o = output_of(in.fifo.at(k));
        require_state(o < out_.size());
        wanted[o] |= bit(i);
      }
    }
    const std::uint64_t all = members_ >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << members_) - 1;
    for (std::size_t r = 0; r < idle.size(); ++r) require_state(idle[r] == (idle_[r] & all));
    for (std::size_t o = 0; o < out_.size(); ++o)
      require_state(out_[o].busy == busy[o] && out_[o].wanted == wanted[o] && out_[o].next < members_);
  }

 private:
  struct Input {
    Fifo<Packet> fifo;
    std::uint32_t output = 0;  ///< where its packet passes, while busy
    bool busy = false;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, fifo, output, busy); }
  };
  struct Output {
    std::uint64_t wanted = 0;  ///< members whose window has a packet for it
    std::uint32_t next = 0;    ///< member that has the first choice
    std::uint32_t room = 0;
    bool busy = false;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, wanted, next, room, busy); }
  };
  std::uint64_t bit(std::uint32_t input) const { return std::uint64_t{1} << input % members_; }
  std::size_t window(const Input& in) const { return in.fifo.size() < window_ ? in.fifo.size() : window_; }

  template <class OutputOf, class Begin>
  void choose_input(std::uint32_t output, std::uint32_t router, OutputOf&& output_of, Begin&& begin) {
    Output& out = out_[output];
    const std::uint64_t ready = out.wanted & idle_[router];
    if (out.busy || out.room == 0 || ready == 0) return;
    const std::uint64_t later = ready >> out.next << out.next;
    const std::uint32_t input = router * members_ + static_cast<std::uint32_t>(std::countr_zero(later != 0 ? later : ready));
    for (std::size_t k = 0;; ++k) {
      require_course(k < in_[input].fifo.size());
      if (output_of(in_[input].fifo.at(k)) == output) return pass(input, k, output_of, begin);
    }
  }
  template <class OutputOf, class Begin> void choose_output(std::uint32_t input, OutputOf&& output_of, Begin&& begin) {
    const Input& in = in_[input];
    for (std::size_t k = 0; k < window(in); ++k) {
      const Output& out = out_[output_of(in.fifo.at(k))];
      if (!out.busy && out.room != 0) return pass(input, k, output_of, begin);
    }
  }
  template <class OutputOf, class Begin> void pass(std::uint32_t input, std::size_t k, OutputOf&& output_of, Begin&& begin) {
    Input& in = in_[input];
    const Packet p = in.fifo.take_at(k);
    in.output = output_of(p), in.busy = true;
    idle_[input / members_] &= ~bit(input);
    Output& out = out_[in.output];
    out.busy = true;
    if (out.room != kNoLimit) --out.room;
    out.next = (input % members_ + 1) % members_;
    out.wanted &= ~bit(input);
    for (std::size_t i = 0; i < window(in); ++i) out_[output_of(in.fifo.at(i))].wanted |= bit(input);
    begin(input, in.output, p);
  }

  std::vector<Input> in_;
  std::vector<Output> out_;
  std::vector<std::uint64_t> idle_;  ///< [router] members whose packets do not pass
  std::uint32_t members_, window_, capacity_;
};

}  // namespace atl
