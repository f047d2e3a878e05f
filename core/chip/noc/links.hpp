#pragma once
#include <span>
#include <vector>

#include "core/chip/base/census.hpp"
#include "core/chip/base/turns.hpp"
#include "core/chip/noc/out_port.hpp"
#include "core/chip/noc/topology.hpp"
#include "core/engine/archive.hpp"

namespace atl {

class LlcSlice;
class ResponseNetwork;

/// The inter-chip ports of one chip: what leaves, what arrives, what passes through.
///
/// Each virtual channel has a finite queue here and a finite buffer at the other end, whose credits travel back with the
/// link's latency, gathered over `link.credit_cycles`. A port's bandwidth is shared by its channels in turn.
class Links {
 public:
  Links(Context& c, Outbox& outbox);
  /// `slices`: all of the chip.
  void connect(std::span<LlcSlice> slices, ResponseNetwork& responses) { slices_ = slices, responses_ = &responses; }

  /// Channel by which a packet leaves this chip for its destination.
  std::uint32_t channel_for(const Packet& p, std::uint32_t arrived_on = ChipTopology::kStart) const {
    return topology_.route(p.destination(), p.line.value, is_response(p.kind), arrived_on);
  }
  /// What a packet touches that comes to the channel.
  void prefetch(std::uint32_t channel) const {
    prefetch_address(&state_[channel]), prefetch_address(&port_[topology_.channels()[channel].port]);
  }
  std::uint32_t directions() const { return topology_.directions(); }
  /// Lane of a crossbar port for a packet that leaves the chip.
  std::uint32_t lane_for(const Packet& p) const { return 1 + topology_.direction_of(channel_for(p)); }
  Gate& out_gate(std::uint32_t channel) { return state_[channel].out_gate; }

  /// Message ports: a channel, or a channel's credits.
  static constexpr std::uint32_t kCreditPort = 0x80000000;
  void receive(std::span<const Message> messages);

  // Events.
  void on_egress_arrive(std::uint32_t channel, const Packet& p) {
    if (p.has(kToSlice) || is_response(p.kind)) c_.count[Counter::noc_link_bytes] += c_.machine.bytes(p);  // from a slice
    send(channel, p);
  }
  void on_egress(std::uint32_t port) { port_[port].out_timed = false, pump_out(port); }
  void on_ingress_arrive(std::uint32_t channel, const Packet& p);
  void on_ingress(std::uint32_t port);
  void on_credits(std::uint32_t channel, std::uint32_t number);
  void on_send_credits();
  void on_credit(std::uint32_t channel);

  /// Adds to the counters what the chip's ports would have passed since the last call, had each been as busy as the
  /// busiest: where one of several is full, the mean of all says nothing.
  void count_busiest();

  std::string describe_stall() const;
  /// When the first of the ports that send is free again; kNever if all are. What they send is on its way: no event here.
  Cycle next_sent() const;
  // census.cpp
  void take_census(Census& census) const;
  /// What packets wait for that are to leave by this channel.
  Wait wait_of(std::uint32_t channel) const;
  /// Nothing is queued, and every buffer at the other ends is known to be free.
  bool credits_home() const;
  template <class F> void for_each_gate(F&& f) {
    for (ChannelState& s : state_) f(s.out_gate);
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, fixed(state_), packets_, fixed(freed_), fixed(port_), fixed(sent_), fixed(received_), counted_, credits_timed_);
  }
  void check(StateCheck& s) const;  // state_check.cpp
  /// Of messages that have not been handed over.
  void check(const StateCheck& s, const Message& m) const;
  std::uint32_t channels() const { return static_cast<std::uint32_t>(state_.size()); }
  std::uint32_t ports() const { return static_cast<std::uint32_t>(port_.size()); }

 private:
  /// One cache line of the host: with links between all, a chip has two for each other one.
  struct alignas(64) ChannelState {
    Gate out_gate;
    PacketQueues::Queue out;      ///< of this chip
    PacketQueues::Queue through;  ///< of others, with the channel whose buffer each still occupies
    PacketQueues::Queue in;       ///< for this chip
    std::uint32_t credits = 0;    ///< free buffers at the other end
    std::uint32_t freed = 0;      ///< buffers freed here and not yet reported
    bool through_next = true;
    bool waiting = false, granted = false;
    template <class Archive> void serialize(Archive& a, unsigned) {
      state(a, out_gate, out, through, in, credits, freed, through_next, waiting, granted);
    }
  };
  static_assert(sizeof(ChannelState) == 64);
  struct alignas(64) Port {
    Server out, in;
    Turns can_send;                       ///< channels of it that can_send()
    std::uint32_t next = 0, next_in = 0;  ///< channel to serve first
    bool out_timed = false, in_timed = false;
    template <class Archive> void serialize(Archive& a, unsigned) {
      state(a, out, in, can_send, next, next_in, out_timed, in_timed);
    }
  };

  void send(std::uint32_t channel, const Packet& p);
  static bool can_send(const ChannelState& s) { return (!s.out.empty() || !s.through.empty()) && s.credits != 0; }
  /// Place of a channel among those of its port, which follow each other.
  std::uint32_t place_of(std::uint32_t channel) const {
    return channel - topology_.channels()[channel].port * channels_per_port_;
  }
  /// After any change of its queues or credits.
  void note_turn(std::uint32_t channel) {
    port_[topology_.channels()[channel].port].can_send.set(place_of(channel), can_send(state_[channel]));
  }
  void pump_out(std::uint32_t port);
  void pump_in(std::uint32_t channel);
  bool to_slice(const Packet& p) const { return is_response(p.kind) && p.has(kToSlice); }
  void free_buffer(std::uint32_t channel);
  Gate* destination_gate(const Packet& p);
  std::uint32_t slice_for(const Packet& p) const;
  LlcSlice& fetcher(const Packet& p) const;
  void hand_on(const Packet& p, Cycle depart);

  Context& c_;
  ChipTopology topology_;
  Outbox& outbox_;
  std::vector<ChannelState> state_;
  PacketQueues packets_;              ///< of all channels
  std::vector<std::uint64_t> freed_;  ///< channels with buffers that were freed here and not yet reported, one bit each
  std::vector<Port> port_;
  std::vector<std::uint64_t> sent_, received_;  ///< [port] bytes that count_busiest() has not counted
  Cycle counted_ = 0;                           ///< its last call
  std::uint32_t channels_per_port_ = 1;
  const bool shared_;  ///< several chips send to a port, behind a switch
  bool credits_timed_ = false;
  std::span<LlcSlice> slices_;
  ResponseNetwork* responses_ = nullptr;
};

}  // namespace atl
