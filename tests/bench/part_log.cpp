#include "tests/bench/part_log.hpp"

#include <algorithm>
#include <numeric>

#include "comm/serial_transport.hpp"
#include "core/chip/base/event.hpp"
#include "core/chip/base/observer.hpp"
#include "core/chip/chip_halves.hpp"
#include "core/chip/context.hpp"
#include "core/control/simulation.hpp"

namespace atl::bench {
namespace {

class PartCounter final : public ChipObserver {
 public:
  PartCounter(const SystemConfig& config, PartLog& log) : config_(config), log_(log) {
    clusters_ = (config.sm.count + config.noc.sms_per_cluster - 1) / config.noc.sms_per_cluster;
    each_ = clusters_ + config.llc.slices + config.l2.slices + 1;
    log.parts = each_ * config.chips;
  }

  void on_event(const Context& c, const Event& e) override {
    // Chips run one after the other within a window: a step of one may be long over for the next.
    const Cycle step = c.now() / log_.length;
    if (rows_.size() <= step) rows_.resize(std::max<std::size_t>(step + 1, 2 * rows_.size()), kNone);
    if (rows_[step] == kNone) {
      rows_[step] = log_.steps();
      log_.events.resize(log_.events.size() + log_.parts);
    }
    ++log_.events[rows_[step] * log_.parts + c.chip * each_ + part(e)];
    ++log_.total;
    log_.uncore += of_uncore(e);
  }

  /// Steps in their order.
  void sort() {
    std::vector<std::uint32_t> sorted;
    for (const std::size_t row : rows_)
      if (row != kNone)
        sorted.insert(sorted.end(), log_.events.begin() + static_cast<std::ptrdiff_t>(row * log_.parts),
                      log_.events.begin() + static_cast<std::ptrdiff_t>((row + 1) * log_.parts));
    log_.events = std::move(sorted);
  }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};

  std::uint32_t sm(std::uint32_t index) const { return index / config_.noc.sms_per_cluster; }
  std::uint32_t slice(std::uint32_t index) const { return clusters_ + index; }
  std::uint32_t rest() const { return each_ - 1; }

  std::uint32_t part(const Event& e) const {
    switch (e.kind) {
      case EventKind::warp_ready:
      case EventKind::issue:
      case EventKind::access_done:
      case EventKind::lsu:
      case EventKind::l1_fill:
      case EventKind::cluster_access:
      case EventKind::cluster_miss:
        return sm(e.index);
      case EventKind::cluster_table:
        return e.index;
      case EventKind::request_port:
      case EventKind::response_port:
      case EventKind::response_arrive:
        return e.index < clusters_ ? e.index : rest();
      case EventKind::slice_arrive:
      case EventKind::slice:
      case EventKind::slice_out:
      case EventKind::slice_write:
      case EventKind::slice_flush:
      case EventKind::slice_acks:
        return slice(e.index);
      case EventKind::dram_pick:
      case EventKind::dram_done:
        return slice(e.index * config_.llc.slices / config_.dram.channels);
      case EventKind::egress_arrive:
      case EventKind::egress:
      case EventKind::ingress_arrive:
      case EventKind::ingress:
      case EventKind::credits_arrive:
      case EventKind::credits_send:
      case EventKind::resume:
      case EventKind::dispatch:
      case EventKind::touch_send:
      case EventKind::control:
      case EventKind::sample:
      case EventKind::epoch:
        return rest();
    }
    return rest();
  }

  const SystemConfig& config_;
  PartLog& log_;
  std::uint32_t clusters_ = 0, each_ = 0;
  std::vector<std::size_t> rows_;  ///< [step] row of the log
};

}  // namespace

PartLog log_parts(const SystemConfig& config, Workload& workload) {
  PartLog log;
  log.length = std::max<Cycle>(1, std::min(config.noc.request_latency_cycles, config.noc.response_latency_cycles));
  PartCounter counter(config, log);
  SerialTransport transport;
  SimulationOptions options;
  options.prepare_chip = [&](Chip& chip) { chip.observe(&counter); };
  simulate(transport, config, workload, RankMap::spread(config.chips, 1), options);
  counter.sort();
  return log;
}

double speed_up(const PartLog& log, std::uint32_t threads, double sync) {
  std::vector<std::uint64_t> work(log.parts);
  for (std::size_t i = 0; i < log.events.size(); ++i) work[i % log.parts] += log.events[i];
  std::vector<std::uint32_t> order(log.parts), thread(log.parts);
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) { return work[a] > work[b]; });
  std::vector<std::uint64_t> load(threads);
  for (const std::uint32_t part : order) {
    thread[part] = static_cast<std::uint32_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[thread[part]] += work[part];
  }
  double time = 0;
  std::vector<std::uint64_t> step(threads);
  for (std::size_t s = 0; s < log.steps(); ++s) {
    std::fill(step.begin(), step.end(), 0);
    for (std::uint32_t p = 0; p < log.parts; ++p) step[thread[p]] += log.events[s * log.parts + p];
    time += static_cast<double>(*std::max_element(step.begin(), step.end())) + (threads > 1 ? sync : 0);
  }
  return time > 0 ? static_cast<double>(log.total) / time : 1;
}

}  // namespace atl::bench
