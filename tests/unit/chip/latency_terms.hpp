#pragma once
#include "run.hpp"

/// The terms of which the latencies of an idle machine are made, by name.
namespace atl::test {

struct Terms {
  explicit Terms(const SystemConfig& c) : config(c) {}
  const SystemConfig config;

  std::uint32_t header() const { return config.noc.header_bytes; }
  std::uint32_t data(std::uint32_t sectors) const { return header() + 32 * sectors; }
  std::uint32_t line() const { return header() + config.line_bytes; }

  /// SM to where the request crossbar ends.
  Cycle to_crossbar_end(std::uint32_t bytes) const {
    return pass(bytes, config.noc.cluster_gbps) + config.l1.latency_cycles + config.noc.request_latency_cycles;
  }
  Cycle slice_lookup() const { return config.llc.latency_cycles; }
  /// A slice's response port to where the response crossbar ends.
  Cycle from_slice(std::uint32_t bytes) const {
    return pass(bytes, config.noc.slice_gbps) + config.noc.response_latency_cycles;
  }
  Cycle into_sm(std::uint32_t bytes) const { return pass(bytes, config.noc.cluster_gbps); }
  Cycle hop(std::uint32_t bytes) const { return pass(bytes, config.link.bandwidth_gbps) + config.link.latency_cycles; }
  Cycle out_of_link(std::uint32_t bytes) const { return pass(bytes, config.noc.link_port_gbps); }
  Cycle to_slice_from_link(std::uint32_t bytes) const {
    return out_of_link(bytes) + config.noc.request_latency_cycles + slice_lookup();
  }

  Cycle activate() const { return config.dram.timing.rcd; }
  Cycle precharge() const { return config.dram.timing.rp; }
  /// Column command to the data at the slice.
  Cycle column(std::uint32_t bytes) const {
    const auto& t = config.dram.timing;
    return t.cl + bytes / t.burst_bytes * t.ccd + config.dram.extra_latency_cycles + 2 * config.noc.memory_latency_cycles;
  }

  /// Sizes of request and response differ between reads, stores and atomics.
  Cycle local_llc_hit(std::uint32_t request, std::uint32_t response) const {
    return to_crossbar_end(request) + slice_lookup() + from_slice(response) + into_sm(response);
  }
  Cycle remote_llc_hit(std::uint32_t request, std::uint32_t response, std::uint32_t hops) const {
    return to_crossbar_end(request) + hops * hop(request) + to_slice_from_link(request) +  // there
           from_slice(response) + hops * hop(response) + out_of_link(response) +           // and back
           config.noc.response_latency_cycles + into_sm(response);
  }
};

/// First line after `from`, by byte address, for which `wanted(line)` holds.
template <class Wanted> std::uint64_t find_line(const SystemConfig& c, std::uint64_t from, Wanted&& wanted) {
  LineAddr line{from / c.line_bytes + 1};
  while (!wanted(line)) ++line.value;
  return line.value * c.line_bytes;
}

}  // namespace atl::test
