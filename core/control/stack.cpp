#include "core/control/stack.hpp"

#include <algorithm>

#include "core/chip/noc/topology.hpp"
#include "core/control/capacity.hpp"

namespace atl {
namespace {

/// What is between two chips, on average over all pairs: hops, and of a hop its latency and bandwidth.
struct Way {
  double hops = 0, latency = 0, gbps = 0;
};
Way mean_way(const SystemConfig& c) {
  if (c.chips == 1) return {1, static_cast<double>(c.link.latency_cycles), c.link.bandwidth_gbps};
  Way mean;
  double links = 0, ports = 0;
  for (std::uint32_t chip = 0; chip < c.chips; ++chip) {
    const ChipTopology topology(c.link, c.chips, chip);
    for (std::uint32_t d = 0; d < c.chips; ++d) mean.hops += topology.hops(d);
    for (const LpId other : topology.neighbours()) mean.latency += topology.latency(other), ++links;
    mean.gbps += topology.bandwidth_out_gbps(), ports += topology.ports();
  }
  return {mean.hops / (c.chips * (c.chips - 1.0)), mean.latency / links, mean.gbps / ports};
}

/// Row activation, column access and what comes on top.
double memory_latency(const SystemConfig& c) {
  const DramTiming& t = c.dram.timing;
  return (t.rcd + t.cl + t.ccd) * c.core_clock_mhz / t.clock_mhz + c.dram.extra_latency_cycles +
         2 * c.noc.memory_latency_cycles;
}

void bound_by_use(Stack& stack, const Counters& counts, const Capacity& capacity, Cycle running) {
  const auto cycles = static_cast<double>(running);
  double use = 0;
  StackPart busiest = StackPart::mshr;
  for (const ResourceInfo& r : resources()) {
    const double most = capacity[r.id] * cycles, part = most > 0 ? work_of(counts, capacity, r.id) / most : 0;
    if (r.id != Resource::issue && part > use) use = part, busiest = r.part;
  }
  bound_mshrs(stack, cycles, busiest, use);
}

}  // namespace

StackMachine stack_machine(const Machine& machine) {
  using enum StackPart;
  const SystemConfig& c = machine.config;
  const double data = c.noc.header_bytes + c.line_bytes, header = c.noc.header_bytes;
  StackMachine m;
  m.issue_slots = static_cast<double>(c.sm.count) * c.sm.schedulers;
  m.l1_latency = c.l1.latency_cycles;

  m.memory_latency = memory_latency(c);

  m.local[l1] = c.l1.latency_cycles;
  m.local[request] = c.noc.request_latency_cycles + header / machine.cluster_bpc;
  m.local[slice] = c.llc.latency_cycles;
  m.local[response] = c.noc.response_latency_cycles + data / machine.slice_bpc + data / machine.cluster_bpc;

  const Way way = mean_way(c);
  const double wire = way.hops * way.latency, link_bpc = machine.per_cycle(way.gbps);
  const double port_bpc = machine.per_cycle(link_port_gbps(c, way.gbps));
  m.remote[request] = c.noc.request_latency_cycles + header / port_bpc;
  m.remote[response] = c.noc.response_latency_cycles + data / port_bpc;
  m.remote[link_out] = wire + way.hops * header / link_bpc;
  m.remote[link_in] = wire + way.hops * data / link_bpc;

  m.fetch = m.remote;
  m.fetch[slice] = c.llc.latency_cycles;
  if (machine.home_directory) m.fetch[coherence] = c.coherence.directory_latency_cycles;
  m.fetch[response] += data / machine.slice_bpc;
  // Past the slices of the home, where nothing tells whose read its memory has.
  const bool past = row_of(c.llc.organisation).traits.roles.has(LlcRole::sm_side);
  if (past && !machine.home_directory) m.fetch[dram] = memory_latency(c);

  if (machine.has_l2) {  // loads end there; fetches go to the LLCs of all chips
    m.local[slice] = 0, m.local[l2] = c.l2.latency_cycles;
    m.fetch[request] = 2 * machine.l2.below + header / machine.l2_memory_bpc + header / port_bpc;
    m.fetch[response] = 2 * machine.l2.below + data / machine.slice_bpc + data / port_bpc;
    m.fetch_near[request] = machine.l2.below + header / machine.l2_memory_bpc;
    m.fetch_near[slice] = c.llc.latency_cycles;
    m.fetch_near[response] = machine.l2.below + data / machine.slice_bpc + data / machine.l2_memory_bpc;
  }

  for (std::uint32_t chip = 0; chip < c.chips; ++chip) {
    const auto next = ChipTopology(c.link, c.chips, chip).neighbours();
    m.neighbours.emplace_back(next.begin(), next.end());
  }
  return m;
}

StackResult stack_of_run(const Machine& machine, const RunResult& result, const std::vector<std::vector<WaitCensus>>& census,
                         const std::vector<std::vector<Counters>>& counts) {
  const StackMachine m = stack_machine(machine);
  const Capacities capacities = capacities_of(machine.config);
  StackResult out;
  std::size_t begun = 0;  // kernels that are not simulated have no counts
  for (std::size_t k = 0; k < result.kernels.size(); ++k) {
    const KernelResult& kernel = result.kernels[k];
    KernelSpan span{kernel.launched, kernel.started, kernel.finished};
    // A run that was stopped: what it did not come to takes no time.
    for (Cycle* at : {&span.launched, &span.started, &span.finished}) *at = std::min(*at, result.cycles);
    const std::size_t at = kernel.started == kNever ? result.kernels.size() : begun++;
    std::vector<WaitCensus> chips;
    for (const auto& kernels : census) chips.push_back(at < kernels.size() ? kernels[at] : WaitCensus(census.size()));
    out.push_back(bottleneck_stack(m, span, chips));
    for (std::uint32_t c = machine.config.compute_chips(); c < chips.size(); ++c) out[k][c] = {};  // spends no time on it
    for (std::size_t c = 0; c < chips.size() && at < counts.size(); ++c)
      bound_by_use(out[k][c], counts[at][c], capacities[c], chips[c].span[static_cast<std::size_t>(Span::running)]);
  }
  fill_unseen(out);
  return out;
}

}  // namespace atl
