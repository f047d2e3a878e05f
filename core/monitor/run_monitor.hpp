#pragma once
#include "core/monitor/live_view.hpp"
#include "core/monitor/server.hpp"

namespace atl {

/// Of a run that is watched, in the controller's process: what it did lately, for whoever asks.
class RunMonitor {
 public:
  RunMonitor(std::uint16_t port, const SystemConfig& config, LiveRun run, bool resumed)
      : server_(port), view_(config, std::move(run), resumed) {
    server_.publish(view_.state());
  }
  std::string url() const { return server_.url(); }
  void update(const LiveSample& sample) {
    if (auto state = view_.update(sample)) server_.publish(std::move(*state));
  }
  /// Nothing may follow. Waits for those who watch to hear of it, but not long.
  void end(const LiveEnd& end) { server_.end(view_.ended(end)); }

 private:
  MonitorServer server_;
  LiveView view_;
};

}  // namespace atl
