#pragma once
#include "comm/transport.hpp"

namespace atl {

/// One rank: nobody to talk to, so nothing of a transport is on the hot path.
class SerialTransport final : public Transport {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange(std::vector<Peer*>& peers) override {
    for (Peer* p : peers) p->receive = p->send;
  }
  std::uint64_t all_min(std::uint64_t value) override { return value; }
  void broadcast(std::string&, int) override {}
  std::vector<std::string> all_gather(const std::string& body) override { return {body}; }
};

}  // namespace atl
