#include "core/stats/utilisation.hpp"

#include <algorithm>

#include "core/stats/metric.hpp"

namespace atl {
namespace {

constexpr std::array<ResourceInfo, kResources> kResourceTable{{
    {Resource::issue, StackPart::issue, "issue", "issue slots"},
    {Resource::l1, StackPart::l1, "l1", "L1 ports"},
    {Resource::request, StackPart::request, "request", "request crossbar"},
    {Resource::l2, StackPart::l2, "l2", "L2 slices"},
    {Resource::slice, StackPart::slice, "slice", "LLC slices"},
    {Resource::response, StackPart::response, "response", "response crossbar"},
    {Resource::link_out, StackPart::link_out, "link_out", "links outwards"},
    {Resource::link_in, StackPart::link_in, "link_in", "links inwards"},
    {Resource::dram, StackPart::dram, "dram", "DRAM data buses"},
}};

Cycle length_of(const RunResult& result, std::size_t sample) {
  return result.samples[sample].end - (sample == 0 ? 0 : result.samples[sample - 1].end);
}

}  // namespace

std::span<const ResourceInfo, kResources> resources() { return kResourceTable; }

double work_of(const Counters& c, const Capacity& capacity, Resource resource) {
  const auto n = [&](Counter counter) { return static_cast<double>(c[counter]); };
  switch (resource) {
    case Resource::issue:
      return n(Counter::sm_issue_busy);
    case Resource::l1: {
      // Loads that pass the L1 and atomics are the requests that are neither misses nor stores; and owners look up for
      // others.
      const double own = n(Counter::l1_accesses) + n(Counter::l1_stores);
      const double asked = n(Counter::requests_local) + n(Counter::requests_remote) + n(Counter::cluster_served);
      return own + std::max(asked - n(Counter::l1_misses) - n(Counter::l1_stores), 0.0) + n(Counter::cluster_served) +
             n(Counter::cluster_false_positives);
    }
    case Resource::request:
      return n(Counter::noc_request_bytes);
    case Resource::l2:
      return std::max(n(Counter::l2_lookup_bytes),  // which older files do not have
                      capacity.l2_line_bytes > 0 ? n(Counter::l2_accesses) * capacity.l2_line_bytes
                                                 : n(Counter::l2_sector_accesses) * 32);
    case Resource::slice:
      return std::max(
          n(Counter::llc_lookup_bytes),  // likewise
          capacity.line_bytes > 0 ? n(Counter::llc_accesses) * capacity.line_bytes : n(Counter::llc_sector_accesses) * 32);
    case Resource::response:
      return n(Counter::noc_response_bytes);
    case Resource::link_out:
      return std::max(n(Counter::link_bytes), n(Counter::link_busiest_bytes));  // likewise
    case Resource::link_in:
      return std::max(n(Counter::link_received_bytes), n(Counter::link_busiest_received_bytes));
    case Resource::dram:
      return n(Counter::dram_bus_busy);
    case Resource::count_:
      break;
  }
  return 0;
}

std::size_t periods_with_rates(const RunResult& result) {
  const std::size_t n = result.samples.size();
  if (n < 2) return n;
  const Cycle whole = n > 2 ? length_of(result, n - 2) : sample_cycles(result);  // the first has the launch in it
  return length_of(result, n - 1) < whole ? n - 1 : n;
}

Utilisation utilisation(const RunResult& result, const Capacities& capacities, std::size_t chip, Resource resource) {
  const Capacity& capacity = capacities[chip];
  const double most = capacity[resource];
  Utilisation u;
  if (most <= 0 || result.cycles == 0) return u;
  u.mean = work_of(result.chips[chip].totals, capacity, resource) / (most * static_cast<double>(result.cycles));
  u.most = u.mean;
  for (std::size_t s = 0; s < periods_with_rates(result); ++s) {
    const Cycle length = length_of(result, s);
    const double part = work_of(result.samples[s].chips[chip], capacity, resource) / (most * static_cast<double>(length));
    u.most = std::max(u.most, part);
  }
  return u;
}

}  // namespace atl
