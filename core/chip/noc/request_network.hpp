#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "core/chip/base/census.hpp"
#include "core/chip/noc/mmu.hpp"
#include "core/chip/noc/out_port.hpp"
#include "core/engine/archive.hpp"

namespace atl {

class Links;
class LlcSlice;

/// The request crossbar: one queue and port per cluster and memory-side router, towards LLC slices and inter-chip ports.
class RequestNetwork {
 public:
  RequestNetwork(Context& c, std::uint32_t directions);
  /// `slices`: all of the chip.
  void connect(std::span<LlcSlice> slices, Links& links);

  /// Fills in the packet's home. Returns the gate of the queue that it needs a credit of; nullptr if nobody knows the
  /// home yet, or if it has to stay behind a request that waited for it: then it will wait here and needs none.
  Gate* gate_for(Packet& p);
  /// A request of an SM that holds the credit that gate_for() names.
  void request(const Packet& p);
  /// Homes settled by the controller.
  void learn(PageAddr page, std::uint8_t home);
  /// The queue that the first request will enter that waits for the page.
  void prefetch(PageAddr page, std::uint8_t home) const;

  void on_port(std::uint32_t port) { port_[port].timed = false, pump(port); }
  void on_credit(std::uint32_t port, std::uint32_t lane) { port_[port].grant(lane), pump(port); }
  /// A credit for the first of the requests that waited for their page.
  void on_mmu_credit(std::uint32_t port, std::uint32_t lane);

  Mmu& mmu() { return mmu_; }
  std::string describe_stall() const;
  // census.cpp
  void take_census(Census& census) const;
  /// What SM `sm` waits for that lined up for a credit of one of its ports.
  Wait wait_behind(const Gate& gate, std::uint32_t sm) const;
  bool credits_home() const {
    return std::all_of(port_.begin(), port_.end(), [](const OutPort& p) { return p.idle(); });
  }
  template <class F> void for_each_gate(F&& f) {
    for (OutPort& p : port_) p.for_each_gate(f);
  }
  template <class Archive> void serialize(Archive& a, unsigned) {
    state(a, mmu_, packets_, port_, fixed(resumed_), resuming_);
  }
  void check(StateCheck& s) const;  // state_check.cpp
  std::uint32_t ports() const { return static_cast<std::uint32_t>(port_.size()); }
  std::uint32_t lanes() const { return lanes_; }

 private:
  void enter(const Packet& p);
  bool behind_resumed(const Packet& p);
  void resume_later(const Packet& p);
  std::uint32_t port_of(const Packet& p) const { return c_.machine.cluster_port(p.sm, p.slice); }
  std::uint32_t lane_of(const Packet& p) const;
  Fifo<Packet>& resumed(std::uint32_t port, std::uint32_t lane) { return resumed_[port * lanes_ + lane]; }
  void pump(std::uint32_t port);
  bool to_local_slice(const Packet& p) const;
  Wait wait_of(const OutPort& port, std::uint32_t lane) const;

  Context& c_;
  Mmu mmu_;
  PacketQueues packets_;  ///< of all ports
  std::vector<OutPort> port_;
  std::uint32_t lanes_;
  std::vector<Fifo<Packet>> resumed_;  ///< [port][lane] requests whose page has its home now and that wait for a credit
  std::uint32_t resuming_ = 0;         ///< requests in these queues
  std::span<LlcSlice> slices_;         ///< that SMs ask
  std::uint32_t first_slice_ = 0;      ///< of these, among all of the chip
  Links* links_ = nullptr;
};

}  // namespace atl
