#include "tests/bench/work_log.hpp"

#include <memory>

#include "comm/serial_transport.hpp"
#include "core/chip/noc/topology.hpp"
#include "core/control/local_system.hpp"

namespace atl::bench {
namespace {

std::vector<Edge> same_edges(const LogicalProcess& of) {
  std::vector<Edge> out;
  for (const Edge& e : of.edges()) out.push_back({e.to, e.latency});
  return out;
}

/// In the place of another process: counts what that one handles in each window.
class Counted final : public LogicalProcess {
 public:
  Counted(LogicalProcess& of, std::size_t processes, WorkLog& log)
      : LogicalProcess(of.id(), same_edges(of)), of_(of), processes_(processes), log_(log) {}

  void receive(std::span<const Message> messages) override { of_.receive(messages); }
  void receive(const ControlMessage& message) override { of_.receive(message); }
  Cycle next_event() const override { return of_.next_event(); }
  std::uint64_t digest() const override { return of_.digest(); }
  std::uint64_t events() const override { return of_.events(); }

  void run_until(Cycle end) override {
    const std::uint64_t before = of_.events();
    of_.run_until(end);
    const auto handled = static_cast<std::uint32_t>(of_.events() - before);
    const Cycle index = end / log_.length - 1;
    if (log_.windows.empty() || log_.windows.back().index != index)
      log_.windows.push_back({index, std::vector<std::uint32_t>(processes_)});
    log_.windows.back().events[id()] = handled;
    log_.events += handled;
    std::swap(outbox(), of_.outbox());
  }

 private:
  LogicalProcess& of_;
  std::size_t processes_;
  WorkLog& log_;
};

}  // namespace

WorkLog log_work(const SystemConfig& config, Workload& workload) {
  SerialTransport transport;
  LocalSystem system;
  system.build(transport, config, workload, RankMap::spread(config.chips, 1), {});
  system.synchronise(transport);
  WorkLog log;
  std::vector<std::unique_ptr<Counted>> counted;
  std::vector<LogicalProcess*> processes;
  for (LogicalProcess* p : system.processes)
    processes.push_back(counted.emplace_back(std::make_unique<Counted>(*p, system.processes.size(), log)).get());
  Synchroniser synchroniser(transport, processes, std::vector<int>(processes.size(), 0), system_edges(config));
  log.length = synchroniser.window();
  synchroniser.run();
  return log;
}

}  // namespace atl::bench
