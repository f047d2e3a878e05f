#pragma once
#include <vector>

#include "core/chip/mmu.hpp"
#include "core/chip/out_port.hpp"

namespace atl {

class Links;
class LlcSlice;

/// The request crossbar: one queue and port per cluster and memory-side router, towards LLC slices and inter-chip ports.
class RequestNetwork {
 public:
  explicit RequestNetwork(Context& c);
  void connect(std::vector<LlcSlice>& slices, Links& links) { slices_ = &slices, links_ = &links; }

  bool home_known(LineAddr line) const { return mmu_.home(line) != kUnknownHome; }
  Gate& gate(std::uint32_t port) { return port_[port].gate; }
  /// A request of an SM, which holds a credit of the cluster port if the line's home is known.
  void request(Packet p);
  /// Homes settled by the controller.
  void learn(PageAddr page, std::uint8_t home);

  void on_port(std::uint32_t port) { port_[port].timed = false, pump(port); }
  void on_credit(std::uint32_t port) { port_[port].grant(), pump(port); }
  /// A credit for the first of the requests that waited for their page.
  void on_mmu_credit(std::uint32_t port);

  Mmu& mmu() { return mmu_; }
  std::string describe_stall() const;

 private:
  void enter(std::uint32_t port, const Packet& p);
  void pump(std::uint32_t port);
  bool to_local_slice(const Packet& p) const;

  Context& c_;
  Mmu mmu_;
  std::vector<OutPort> port_;
  std::vector<Fifo<Packet>> resumed_;  ///< [port] requests whose page has its home now and that wait for a credit
  std::vector<LlcSlice>* slices_ = nullptr;
  Links* links_ = nullptr;
};

}  // namespace atl
