#include "inputs/config/idle_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "inputs/config/organisations.hpp"

namespace atl {
namespace {

using C = SystemConfig;

bool chooses(const C& c, LlcOrganisation any) {
  // What a plug-in reads is not known.
  return c.llc.organisation == LlcOrganisation::plugin || c.llc.organisation == any;
}
/// By what organisations may do, so that a new one need not be told here; a plug-in may do anything.
const PolicyTraits& traits(const C& c) { return row_of(c.llc.organisation).traits; }
bool only_memory_side(const C& c) { return traits(c).roles == Roles(LlcRole::memory_side); }
/// Lines of any chip may be cached away from their home: in SM-side slices, or in an L2.
bool caches_remote(const C& c) { return !only_memory_side(c) || c.l2.slices != 0; }
/// A home directory has lines to track.
bool tracks(const C& c) { return row_of(c.coherence.protocol).home.present && c.chips > 1 && caches_remote(c); }
bool has_split(const C& c) { return traits(c).roles.has(LlcRole::split); }
bool has_links(const C& c) { return c.chips > 1; }
/// Slices of the home that do not keep a line are asked for it by those of other chips that will.
bool passes_by(const C& c) {
  const ProtocolRow& protocol = row_of(c.coherence.protocol);
  return c.chips > 1 && c.l2.slices == 0 && traits(c).roles.has(LlcRole::sm_side) && protocol.llc_keeps_remote &&
         !protocol.home.present;
}
bool has_l1(const C& c) { return c.l1.enabled; }
bool has_l2(const C& c) { return c.l2.slices != 0; }
bool has_colab(const C& c) { return c.cluster.sharing == ClusterShare::colab; }
bool has_bounded_directory(const C& c) { return tracks(c) && !row_of(c.coherence.protocol).home.unbounded; }

struct Rule {
  std::string_view keys;  ///< a key, or a section with its dot
  std::string_view but;   ///< of the section
  bool (*counts)(const C&);
  std::string_view needs;
};

constexpr std::array kRules{
    Rule{"sac.", "", [](const C& c) { return traits(c).llc_profile; }, "`llc.organisation` = sac"},
    Rule{"dynamic.", "", [](const C& c) { return chooses(c, LlcOrganisation::dynamic_split); },
         "`llc.organisation` = dynamic"},
    Rule{"selrep.", "selrep.flush", [](const C& c) { return row_of(c.llc.replication).profiles; },
         "`llc.replication` = selrep, adaptive or policy"},
    Rule{"selrep.flush", "", [](const C& c) { return c.llc.replication != Replication::shared; },
         "an `llc.replication` other than shared"},
    Rule{"adaptive.", "", [](const C& c) { return c.llc.replication == Replication::adaptive; },
         "`llc.replication` = adaptive"},
    Rule{"rec_adaptive.", "", [](const C& c) { return c.coherence.protocol == CoherenceProtocol::rec_adaptive; },
         "`coherence.protocol` = rec_adaptive"},
    Rule{"cluster.", "cluster.sharing", has_colab, "`cluster.sharing` = colab"},
    Rule{"energy.cluster_pj_per_byte", "", has_colab, "`cluster.sharing` = colab"},
    Rule{"energy.cluster_table_pj", "", has_colab, "`cluster.sharing` = colab"},
    Rule{"l2.", "l2.slices", has_l2, "`l2.slices` above 0"},
    Rule{"energy.l2_tag_pj", "", has_l2, "`l2.slices` above 0"},
    Rule{"energy.l2_sector_pj", "", has_l2, "`l2.slices` above 0"},
    Rule{"link.", "", has_links, "more than one chip"},
    Rule{"noc.link_port_gbps", "", has_links, "more than one chip"},
    Rule{"energy.link_pj_per_bit", "", has_links, "more than one chip"},
    Rule{"noc.channel_flits", "", [](const C& c) { return c.noc.virtual_channels != 0; }, "`noc.virtual_channels` above 0"},
    Rule{"llc.local_ways", "", has_split, "`llc.organisation` = static or dynamic"},
    Rule{"llc.remote_writes", "", has_split, "`llc.organisation` = static or dynamic"},
    Rule{"llc.remote_mshrs", "", [](const C& c) { return has_links(c) && (has_split(c) || tracks(c)); },
         "`llc.organisation` = static or dynamic, or a home directory"},
    Rule{"llc.bypass", "", [](const C& c) { return passes_by(c) && !row_of(c.coherence.protocol).full_map; },
         "SM-side caching without a directory"},
    Rule{"llc.bypass_reads", "", passes_by, "SM-side caching without a home directory"},
    Rule{"llc.network", "", [](const C& c) { return has_links(c) && !has_l2(c) && !only_memory_side(c); },
         "SM-side caching, or a split LLC, without an L2"},
    Rule{"l1.size_kib", "", has_l1, "`l1.enabled` = true"},
    Rule{"l1.ways", "", has_l1, "`l1.enabled` = true"},
    Rule{"l1.index", "", has_l1, "`l1.enabled` = true"},
    Rule{"l1.mshr_merges", "", has_l1, "`l1.enabled` = true"},
    // On one chip as well: directories spare SM-side slices the flush at the end of a kernel.
    Rule{"coherence.protocol", "", [](const C& c) { return !row_of(c.coherence.protocol).home.present || caches_remote(c); },
         "SM-side caching or an L2, as a home directory has nothing to track"},
    Rule{"coherence.directory_entries", "", has_bounded_directory, "a home directory, and SM-side caching or an L2"},
    Rule{"coherence.directory_ways", "", has_bounded_directory, "a home directory, and SM-side caching or an L2"},
    Rule{"coherence.directory_replacement", "", has_bounded_directory, "a home directory, and SM-side caching or an L2"},
    Rule{"coherence.directory_index", "", has_bounded_directory, "a home directory, and SM-side caching or an L2"},
    Rule{"coherence.range_bytes", "", [](const C& c) { return tracks(c) && row_of(c.coherence.protocol).home.ranges; },
         "`coherence.protocol` = rec or rec_adaptive, and SM-side caching or an L2"},
    Rule{"coherence.directory_latency_cycles", "", tracks, "a home directory, and SM-side caching or an L2"},
    Rule{"coherence.invalidation_queue", "", tracks, "a home directory, and SM-side caching or an L2"},
    Rule{"coherence.invalidate", "", tracks, "a home directory, and SM-side caching or an L2"},
    Rule{"partition.placement", "", has_links, "more than one chip"},
    Rule{"partition.cta_to_chip", "", has_links, "more than one chip"},
    Rule{"partition.fixed_chip", "", [](const C& c) { return c.partition.placement == Placement::fixed; },
         "`partition.placement` = fixed"},
    Rule{"partition.interleave_kib", "", [](const C& c) { return c.partition.placement == Placement::interleaved; },
         "`partition.placement` = interleaved"},
    Rule{"partition.bcs_block", "", [](const C& c) { return c.partition.cta_to_sm == CtaToSm::bcs; },
         "`partition.cta_to_sm` = bcs"},
    Rule{"observe.sharing_window_cycles", "", [](const C& c) { return c.observe.sharing; }, "`observe.sharing` = true"},
    Rule{"observe.sm_window_cycles", "", [](const C& c) { return c.observe.sm_sharing; }, "`observe.sm_sharing` = true"},
};

bool is_of(std::string_view key, const Rule& rule) {
  return (rule.keys.ends_with('.') ? key.starts_with(rule.keys) : key == rule.keys) && key != rule.but;
}

}  // namespace

std::vector<std::string> idle_keys(const SystemConfig& config, std::span<const std::string> keys) {
  std::vector<std::string> out;
  C with_links = config;
  with_links.chips = std::max(config.chips, 2u);
  for (const std::string& key : keys)
    for (const Rule& rule : kRules)
      if (is_of(key, rule) && !rule.counts(config))
        out.push_back(fmt::format("`{}` has no effect: it needs {}", key,
                                  rule.counts(with_links) ? "more than one chip" : rule.needs));
  return out;
}

}  // namespace atl
