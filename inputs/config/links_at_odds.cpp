#include "inputs/config/links_at_odds.hpp"

#include <fmt/format.h>

#include <cmath>

namespace atl {

std::vector<std::string> links_at_odds(const SystemConfig& c) {
  std::vector<std::string> out;
  if (c.chips == 1) return out;
  if (link_port_gbps(c, c.link.bandwidth_gbps) < c.link.bandwidth_gbps)
    out.push_back(
        fmt::format("`noc.link_port_gbps` = {} is less than `link.bandwidth_gbps` = {}: the port limits what "
                    "comes over a link; 0 fits any link",
                    c.noc.link_port_gbps, c.link.bandwidth_gbps));
  // A buffer is free for the next packet once the packet has come and word of its leaving has gone back.
  const double there_and_back = 2.0 * c.link.latency_cycles + c.link.credit_cycles;
  const double in_flight = c.link.bandwidth_gbps * 1000 / c.core_clock_mhz * there_and_back;
  const std::uint32_t packet =
      (c.line_bytes + c.noc.header_bytes + c.link.slot_bytes - 1) / c.link.slot_bytes * c.link.slot_bytes;
  // Behind a switch a port has buffers for each other chip, which share its bandwidth.
  const std::uint32_t channels = c.link.topology == Topology::switched ? c.chips - 1 : 1;
  const double needed = std::ceil(in_flight / packet / channels);
  if (c.link.buffer_packets < needed)
    out.push_back(fmt::format(
        "`link.buffer_packets` = {} hold {:.0f} % of what `link.bandwidth_gbps` = {} carries in the {:.0f} cycles there "
        "and back: links wait for buffers; {:.0f} would do",
        c.link.buffer_packets, 100 * c.link.buffer_packets / needed, c.link.bandwidth_gbps, there_and_back, needed));
  return out;
}

}  // namespace atl
