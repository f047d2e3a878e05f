#include "inputs/config/keys_at_odds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "inputs/config/link_edges.hpp"

namespace atl {

namespace {

/// Directories of tags that foretell what another organisation would hit.
void directories_unlike_the_llc(const SystemConfig& c, std::vector<std::string>& out) {
  const auto ways = [&](const char* key, std::uint32_t of_directory) {
    if (of_directory != c.llc.ways)
      out.push_back(
          fmt::format("`{}` = {} is not `llc.ways` = {}: its sets hold what no set of the LLC does, and hits are foretold "
                      "by it",
                      key, of_directory, c.llc.ways));
  };
  if (c.llc.organisation == LlcOrganisation::sac && c.chips > 1) ways("sac.crd_ways", c.sac.crd_ways);
  if (c.llc.replication != Replication::selrep) return;
  ways("selrep.directory_ways", c.selrep.directory_ways);
  if (c.llc.sectored)
    out.emplace_back(
        "`llc.replication` = selrep with `llc.sectored` = true: its directory knows lines and no sectors, and foretells "
        "hits on sectors that nobody has fetched");
}

}  // namespace

std::vector<std::string> keys_at_odds(const SystemConfig& c) {
  std::vector<std::string> out;
  directories_unlike_the_llc(c, out);
  const std::uint32_t held = c.noc.virtual_channels * c.noc.channel_flits * c.noc.flit_bytes;
  const std::uint32_t line = c.noc.header_bytes + c.line_bytes;
  if (c.noc.virtual_channels != 0 && held < line)
    out.push_back(
        fmt::format("`noc.virtual_channels` = {} of `noc.channel_flits` = {} hold {} B with `noc.flit_bytes` = {}, and a "
                    "line with its header is {} B: a router's inputs hold one packet each, whatever these keys say",
                    c.noc.virtual_channels, c.noc.channel_flits, held, c.noc.flit_bytes, line));
  if (c.chips == 1 && c.llc.organisation == LlcOrganisation::sac)
    out.emplace_back(
        "`llc.organisation` = sac on one chip: nothing is remote, so that SM-side caching only adds flushes at the ends of "
        "kernels, and it decides by the error of its samples; memory_side is that machine without them");
  if (c.chips == 1 && c.llc.organisation == LlcOrganisation::sm_side)
    out.emplace_back(
        "`llc.organisation` = sm_side on one chip: nothing is remote, so that it only adds flushes at the ends of kernels; "
        "memory_side is that machine without them");
  const bool split =
      c.llc.organisation == LlcOrganisation::fixed_split || c.llc.organisation == LlcOrganisation::dynamic_split;
  if (c.chips == 1 && split)
    out.push_back(fmt::format(
        "`llc.organisation` = {} on one chip: nothing is remote, so that the ways for remote lines stay empty; memory_side "
        "is that machine with all of them",
        row_of(c.llc.organisation).word));
  if (c.chips == 1) return out;
  const HomeDirectoryTraits home = row_of(c.coherence.protocol).home;
  const std::uint32_t widest_range = home.range_per_kernel ? c.rec_adaptive.max_range_bytes : c.coherence.range_bytes;
  if (home.ranges && widest_range > c.partition.page_kib * 1024)
    out.push_back(fmt::format(
        "`{}` = {} is more than `partition.page_kib` = {} holds: an entry of the directory covers pages of a home "
        "that are not neighbours; REC's entries cover at most one page",
        home.range_per_kernel ? "rec_adaptive.max_range_bytes" : "coherence.range_bytes", widest_range,
        c.partition.page_kib));
  const std::vector<Wire> all = wires(c);
  const Wire& widest = *std::ranges::max_element(all, {}, &Wire::gbps);
  if (link_port_gbps(c, widest.gbps) < widest.gbps)
    out.push_back(
        fmt::format("`noc.link_port_gbps` = {} is less than {} = {}: the port limits what comes over a link; 0 fits "
                    "any link",
                    c.noc.link_port_gbps, widest.name, widest.gbps));
  const std::uint32_t packet =
      (c.line_bytes + c.noc.header_bytes + c.link.slot_bytes - 1) / c.link.slot_bytes * c.link.slot_bytes;
  // Behind a switch a port has buffers for each other chip, which share its bandwidth.
  const std::uint32_t channels = c.link.topology == Topology::switched ? c.chips - 1 : 1;
  // A buffer is free for the next packet once the packet has come and word of its leaving has gone back.
  const auto there_and_back = [&](const Wire& w) { return 2.0 * w.latency_cycles + c.link.credit_cycles; };
  const auto needed = [&](const Wire& w) {
    return std::ceil(w.gbps * 1000 / c.core_clock_mhz * there_and_back(w) / packet / channels);
  };
  const Wire& longest = *std::ranges::max_element(all, {}, needed);
  if (c.link.buffer_packets < needed(longest))
    out.push_back(
        fmt::format("`link.buffer_packets` = {} hold {:.0f} % of what {} = {} carries in the {:.0f} cycles there and back: "
                    "links wait for buffers; {:.0f} would do",
                    c.link.buffer_packets, 100 * c.link.buffer_packets / needed(longest), longest.name, longest.gbps,
                    there_and_back(longest), needed(longest)));
  return out;
}

std::vector<std::string> unlike_base(const SystemConfig& base, const SystemConfig& changed,
                                     const std::vector<std::string>& given) {
  std::vector<std::string> out;
  const auto is_given = [&](std::string_view of) {
    return std::ranges::any_of(given, [&](const std::string& key) { return key.starts_with(of); });
  };
  if (base.chips == 1 && changed.chips > 1 && !is_given("link"))
    out.push_back(
        fmt::format("`chips` = {} of a system of one chip, whose links are the default: a {} of {:g} GB/s each way "
                    "and {} cycles; set `link.topology`, `link.bandwidth_gbps` and `link.latency_cycles`",
                    changed.chips, words<Topology>()[static_cast<std::size_t>(changed.link.topology)].word,
                    changed.link.bandwidth_gbps, changed.link.latency_cycles));
  if (base.core_clock_mhz != changed.core_clock_mhz && !is_given("noc.cluster_gbps") && !is_given("noc.slice_gbps") &&
      !is_given("llc.slice_gbps"))
    out.push_back(
        fmt::format("`core_clock_mhz` = {:g} is not the base's {:g}, and `noc.cluster_gbps`, `noc.slice_gbps` and "
                    "`llc.slice_gbps` are: a port passes {:.4g} B per cycle where it passed {:.4g}",
                    changed.core_clock_mhz, base.core_clock_mhz, changed.noc.cluster_gbps * 1000 / changed.core_clock_mhz,
                    base.noc.cluster_gbps * 1000 / base.core_clock_mhz));
  return out;
}

std::string other_memory(const SystemConfig& base, const SystemConfig& changed) {
  const auto prices = [](const EnergyConfig& e) {
    return std::tuple(e.dram_activate_pj, e.dram_read_pj_per_bit, e.dram_write_pj_per_bit, e.dram_channel_static_w);
  };
  if (base.dram.preset == changed.dram.preset || prices(base.energy) != prices(changed.energy)) return "";
  const auto name = [](DramPreset p) { return words<DramPreset>()[static_cast<std::size_t>(p)].word; };
  return fmt::format(
      "`dram.preset` = {}, and `energy.dram_read_pj_per_bit` = {:g} is still {}'s: set it and "
      "`energy.dram_write_pj_per_bit` as well, or energies of memory mean nothing (docs/energy.md)",
      name(changed.dram.preset), changed.energy.dram_read_pj_per_bit, name(base.dram.preset));
}

}  // namespace atl
