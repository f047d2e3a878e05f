#pragma once
#include <span>
#include <vector>

#include "core/chip/base/census.hpp"
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
  Links(Context& c, std::vector<Edge>& edges);
  /// `slices`: all of the chip.
  void connect(std::span<LlcSlice> slices, ResponseNetwork& responses) { slices_ = slices, responses_ = &responses; }

  /// Channel by which a packet leaves this chip for its destination.
  std::uint32_t channel_for(const Packet& p, std::uint32_t arrived_on = ChipTopology::kStart) const {
    return topology_.route(p.destination(), p.line.value, is_response(p.kind), arrived_on);
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

  std::string describe_stall() const;
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
    state(a, fixed(state_), fixed(freed_), fixed(port_), credits_timed_);
  }
  void check(StateCheck& s) const;  // state_check.cpp
  /// Of messages that have not been handed over.
  void check(const StateCheck& s, const Message& m) const;
  std::uint32_t channels() const { return static_cast<std::uint32_t>(state_.size()); }
  std::uint32_t ports() const { return static_cast<std::uint32_t>(port_.size()); }

 private:
  struct Passing {
    Packet packet;
    std::uint32_t arrived_on;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, packet, arrived_on); }
  };
  struct ChannelState {
    Fifo<Packet> out;       ///< of this chip
    Fifo<Passing> through;  ///< of others; each still occupies the buffer it arrived in
    Fifo<Packet> in;        ///< for this chip
    bool through_next = true;
    Gate out_gate;
    std::uint32_t credits = 0;  ///< free buffers at the other end
    bool waiting = false, granted = false;
    template <class Archive> void serialize(Archive& a, unsigned) {
      state(a, out, through, in, through_next, out_gate, credits, waiting, granted);
    }
  };
  struct Port {
    Server out, in;
    std::uint32_t next = 0, next_in = 0;  ///< channel to serve first
    bool out_timed = false, in_timed = false;
    std::vector<std::uint32_t> channels;
    template <class Archive> void serialize(Archive& a, unsigned) { state(a, out, in, next, next_in, out_timed, in_timed); }
  };

  void send(std::uint32_t channel, const Packet& p);
  void pump_out(std::uint32_t port);
  void pump_in(std::uint32_t channel);
  bool to_slice(const Packet& p) const { return is_response(p.kind) && p.has(kToSlice); }
  void free_buffer(std::uint32_t channel);
  Gate* destination_gate(const Packet& p);
  std::uint32_t slice_for(const Packet& p) const;
  LlcSlice& fetcher(const Packet& p) const;
  void hand_on(const Packet& p, Cycle depart);
  Mail& outbox(std::uint32_t neighbour) { return edges_[edge_of_[neighbour]].outbox; }

  Context& c_;
  ChipTopology topology_;
  std::vector<Edge>& edges_;
  std::vector<std::uint32_t> edge_of_;  ///< [chip]
  std::vector<ChannelState> state_;
  std::vector<std::uint32_t> freed_;          ///< [channel] buffers freed here, not yet reported: all are looked at together
  std::vector<std::uint32_t> channel_index_;  ///< [channel] its place in its port
  std::vector<Port> port_;
  const bool shared_;  ///< several chips send to a port, behind a switch
  bool credits_timed_ = false;
  std::span<LlcSlice> slices_;
  ResponseNetwork* responses_ = nullptr;
};

}  // namespace atl
