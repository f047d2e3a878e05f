#pragma once
#include <cstdint>
#include <memory>
#include <string>

namespace atl {

/// Shows the newest state of a run to browsers and `atoll watch` of this machine (docs/monitor.md), from a thread of its
/// own. Connections, requests and the time that each takes are bounded; nothing that a client does reaches the simulation.
class MonitorServer {
 public:
  /// Listens on 127.0.0.1. `port` 0: any that is free. Throws InputError.
  explicit MonitorServer(std::uint16_t port);
  MonitorServer(const MonitorServer&) = delete;
  MonitorServer& operator=(const MonitorServer&) = delete;
  ~MonitorServer();

  std::string url() const;
  /// Any thread. `state`: JSON. Whoever waits for it gets it.
  void publish(std::string state);
  /// The last state. Returns when all who were watching have it, but waits no longer than some seconds.
  void end(std::string state);

 private:
  class Loop;
  std::unique_ptr<Loop> loop_;
};

}  // namespace atl
