#include "inputs/config/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/engine/error.hpp"
#include "inputs/config/link_edges.hpp"
#include "inputs/config/walk.hpp"

namespace atl {
namespace {

class Rules {
 public:
  explicit Rules(const SystemConfig& config) : c_(config) {}

  void ranges() const {
    for_each_leaf(c_, "", [&]<class T>(const T& value, const Field& field, const std::string& key) {
      if constexpr (ConfigNumber<T>) {
        const Range range = legal_range<T>(field);
        require(range.holds(static_cast<double>(value)), "`{}` = {} is out of range: {}", key, value,
                range_text(range, field.unit));
      }
    });
  }

  void sms() const {
    require(c_.sm.warps >= c_.sm.schedulers, "`sm.schedulers` = {} exceeds `sm.warps` = {}: give each scheduler a warp",
            c_.sm.schedulers, c_.sm.warps);
    require(c_.sm.count % c_.noc.sms_per_cluster == 0,
            "`sm.count` = {} is not a multiple of `noc.sms_per_cluster` = {}: clusters must be full", c_.sm.count,
            c_.noc.sms_per_cluster);
  }

  void caches() const {
    power_of_two("line_bytes", c_.line_bytes);
    if (c_.l1.enabled) sets("l1", c_.l1.size_kib, 1, c_.l1.ways, false);
    require(c_.llc.size_kib % c_.scale == 0, "`scale` = {} does not divide `llc.size_kib` = {}: take a power of two",
            c_.scale, c_.llc.size_kib);
    require(c_.llc.remote_mshrs <= c_.llc.mshrs, "`llc.remote_mshrs` = {} are more than `llc.mshrs` = {}",
            c_.llc.remote_mshrs, c_.llc.mshrs);
    // The directories of replication take sets by bits of their number.
    sets("llc", c_.llc.size_kib / c_.scale, c_.llc.slices, c_.llc.ways, c_.llc.replication == Replication::shared);
  }

  void clusters() const {
    if (c_.cluster.sharing == ClusterShare::none) return;
    require(c_.l1.enabled, "`cluster.sharing` = colab serves misses from L1s, but `l1.enabled` = false");
    require(c_.noc.sms_per_cluster >= 2 && c_.noc.sms_per_cluster <= 16,
            "`cluster.sharing` = colab needs clusters of 2 to 16 SMs, but `noc.sms_per_cluster` = {}",
            c_.noc.sms_per_cluster);
    if (c_.cluster.table_sets != 0) power_of_two("cluster.table_sets", c_.cluster.table_sets);
  }

  void organisation() const {
    const PolicyTraits& traits = row_of(c_.llc.organisation).traits;
    const bool plugin = c_.llc.organisation == LlcOrganisation::plugin;
    require(plugin == !c_.llc.policy.empty(),
            "`llc.organisation` = plugin and `llc.policy`, its file, go together: --policy FILE sets both");
    require(plugin || c_.llc.policy_options.empty(),
            "`llc.policy_options` = {} is for a policy of your own: --policy FILE names it", c_.llc.policy_options);
    require(c_.llc.replication != Replication::policy || plugin,
            "`llc.replication` = policy needs a policy that decides degrees: set `llc.organisation` = plugin (--policy)");
    if (traits.roles == Roles(LlcRole::split)) {
      require(c_.llc.local_ways < c_.llc.ways, "`llc.local_ways` = {} leaves none of `llc.ways` = {} for remote lines",
              c_.llc.local_ways, c_.llc.ways);
    }
    if (c_.llc.organisation == LlcOrganisation::dynamic_split) {
      require(2 * c_.dynamic.min_ways <= c_.llc.ways, "`dynamic.min_ways` = {} for either kind exceeds `llc.ways` = {}",
              c_.dynamic.min_ways, c_.llc.ways);
      require(
          c_.dynamic.min_ways <= c_.llc.local_ways && c_.llc.local_ways <= c_.llc.ways - c_.dynamic.min_ways,
          "`llc.local_ways` = {}, with which kernels begin, leaves less than `dynamic.min_ways` = {} of `llc.ways` = {} to "
          "one kind of line",
          c_.llc.local_ways, c_.dynamic.min_ways, c_.llc.ways);
    }
    if (traits.llc_profile) {
      const std::uint32_t sets = c_.llc.size_kib / c_.scale * 1024 / c_.line_bytes / c_.llc.ways, crd = c_.sac.crd_sets;
      require(crd <= sets, "`sac.crd_sets` = {} exceeds the {} sets of a chip's LLC", crd, sets);
      require(c_.llc.slices % crd == 0 || (crd % c_.llc.slices == 0 && sets % crd == 0),
              "`sac.crd_sets` = {} must divide `llc.slices` = {} or be a multiple of it that divides the {} sets of a "
              "chip's LLC, so "
              "that slices are sampled alike",
              crd, c_.llc.slices, sets);
    }
  }

  void second_level() const {
    const L2Config& l2 = c_.l2;
    if (!l2.present()) return;
    const auto only = [&](bool holds, std::string_view key, const auto& value) {
      require(
          holds,
          "`l2.slices` = {} goes with `llc.organisation` = memory_side, `llc.replication` = shared, "
          "`coherence.protocol` = software or a home's directory and `noc.virtual_channels` = 0 only, not with `{}` = {} "
          "(docs/organisations.md, Two shared levels)",
          l2.slices, key, value);
    };
    only(c_.llc.organisation == LlcOrganisation::memory_side, "llc.organisation", word_of(c_.llc.organisation));
    only(c_.llc.replication == Replication::shared, "llc.replication", word_of(c_.llc.replication));
    if (row_of(c_.coherence.protocol).home.present) {
      require(
          c_.compute_chips() + c_.memory_chips() == c_.chips,
          "`coherence.protocol` = {} tells other chips' L2s of a write, and not the home's own: with `l2.slices` = {} it "
          "takes homes without SMs (`partition.compute_chips`, `memory_chips`), or use software",
          word_of(c_.coherence.protocol), l2.slices);
      require(
          l2.writes == L2Writes::through,
          "`coherence.protocol` = {} needs homes that know of every write: with `l2.slices` = {} set `l2.writes` = through",
          word_of(c_.coherence.protocol), l2.slices);
    } else {
      only(c_.coherence.protocol == CoherenceProtocol::software, "coherence.protocol", word_of(c_.coherence.protocol));
    }
    only(c_.noc.virtual_channels == 0, "noc.virtual_channels", c_.noc.virtual_channels);
    only(c_.llc.network != LlcNetwork::shared, "llc.network", word_of(c_.llc.network));
    require(l2.size_kib % c_.scale == 0, "`scale` = {} does not divide `l2.size_kib` = {}: take a power of two", c_.scale,
            l2.size_kib);
    sets("l2", l2.size_kib / c_.scale, l2.slices, l2.ways, true);
    require(l2.slices % c_.noc.memory_routers == 0,
            "`l2.slices` = {} is not a multiple of `noc.memory_routers` = {}: every router serves equally many slices",
            l2.slices, c_.noc.memory_routers);
    require(c_.dram.channels % l2.slices == 0 || l2.slices % c_.dram.channels == 0,
            "`dram.channels` = {} and `l2.slices` = {}: one must be a multiple of the other", c_.dram.channels, l2.slices);
    if (powers_of_two()) hashable("l2.slices", l2.slices);
  }

  void replication() const {
    if (c_.llc.replication == Replication::shared) return;
    const std::uint32_t slices = c_.llc.slices / c_.noc.memory_routers;
    require(std::has_single_bit(slices) && slices > 1,
            "`llc.replication` needs a power of two of slices per memory-side router, not {} (`llc.slices` / "
            "`noc.memory_routers`): use shared",
            slices);
    const std::uint32_t degree = fixed_degree(c_.llc.replication, slices);
    require(degree <= slices, "`llc.replication` = degree_{} exceeds the {} slices of a memory-side router", degree, slices);
    require(
        !row_of(c_.coherence.protocol).full_map,
        "`llc.replication` puts copies where `coherence.protocol` = full_map does not look for a chip's dirty lines: use "
        "software, or llc.replication = shared");
    require(c_.llc.replication != Replication::adaptive || c_.coherence.protocol == CoherenceProtocol::software,
            "`llc.replication` = adaptive keeps copies of written lines that `coherence.protocol` = {} does not invalidate: "
            "use software, or another replication",
            word_of(c_.coherence.protocol));
    require(
        c_.llc.remote_writes == RemoteWrites::through || !row_of(c_.llc.replication).read_only,
        "`llc.remote_writes` = back lets a dirty line reach its home when the home's LLC has been emptied, and stay in one "
        "slice while `llc.replication` reads others: use through, or llc.replication = shared");
    const std::uint32_t sets = c_.llc.size_kib / c_.scale * 1024 / c_.line_bytes / c_.llc.ways / c_.llc.slices;
    const bool shadow = c_.selrep.directory == DegreePrediction::shadow_tags;
    const ReplicationRow& row = row_of(c_.llc.replication);
    require(!row.profiles || slices <= 64,
            "`llc.replication` = {} chooses among the degrees of at most 64 slices per memory-side router, not {}: set more "
            "`noc.memory_routers`, or a fixed degree",
            row.word, slices);
    if (row.profiles && row.read_only) {
      const std::uint32_t most = shadow ? sets : sets * slices;
      require(c_.selrep.limit == DegreeLimit::slices || c_.noc.virtual_channels > 0,
              "`selrep.limit` = replies counts at the routers of `noc.virtual_channels`, which are not there: set both, or "
              "limit = slices");
      require(c_.selrep.directory_sets <= most, "`selrep.directory_sets` = {} exceeds the {} sets there are to sample",
              c_.selrep.directory_sets, most);
    }
    if (c_.llc.replication == Replication::adaptive) {
      require(c_.adaptive.directory_sets <= sets * slices,
              "`adaptive.directory_sets` = {} exceeds the {} sets there are to sample", c_.adaptive.directory_sets,
              sets * slices);
    }
  }

  void coherence() const {
    const Roles roles = row_of(c_.llc.organisation).traits.roles;
    const bool split = roles == Roles(LlcRole::split);
    const ProtocolRow& p = row_of(c_.coherence.protocol);
    require(!p.full_map || !split,
            "`coherence.protocol` = full_map is defined for slices that write their copies back (`llc.organisation` = "
            "sm_side or sac), not for static and dynamic: use software");
    // A plug-in's modes are checked when it returns them.
    require(
        p.llc_keeps_remote || !row_of(c_.llc.organisation).traits.switches || c_.llc.organisation == LlcOrganisation::plugin,
        "`coherence.protocol` = {} leaves no remote lines for `llc.organisation` = {} to place: use sm_side or memory_side",
        p.word, word_of(c_.llc.organisation));
    require(
        p.llc_keeps_remote || !split,
        "`coherence.protocol` = {} leaves no remote lines for `llc.organisation` = {} to place: use sm_side or memory_side",
        p.word, word_of(c_.llc.organisation));
    require(!split || c_.llc.remote_writes == RemoteWrites::through || !c_.llc.write_back_at_end,
            "`llc.remote_writes` = back brings dirty lines home when the homes' have been written back for "
            "`llc.write_back_at_end` = true: use through, or false");
    if (!p.home.present) return;
    require(
        !split || c_.llc.remote_writes == RemoteWrites::through,
        "`llc.remote_writes` = back contradicts `coherence.protocol` = {}, which writes remote lines through: use through",
        p.word);
    if (!p.home.unbounded) directory();
  }

  void directory() const {
    const CoherenceConfig& d = c_.coherence;
    const std::uint32_t set = c_.scale * d.directory_ways, sets = d.directory_entries / set;
    require(d.directory_entries % set == 0 && sets != 0,
            "`coherence.directory_entries` = {} over `coherence.directory_ways` = {} and `scale` = {} gives no whole "
            "number of sets",
            d.directory_entries, d.directory_ways, c_.scale);
    if (!row_of(d.protocol).home.ranges) return;
    power_of_two("coherence.range_bytes", d.range_bytes);
    require(
        d.range_bytes > c_.line_bytes,
        "`coherence.range_bytes` = {} is one line of `line_bytes` = {}: use `coherence.protocol` = directory, or a wider "
        "range",
        d.range_bytes, c_.line_bytes);
    if (!row_of(d.protocol).home.range_per_kernel) return;
    const RecAdaptiveConfig& r = c_.rec_adaptive;
    power_of_two("rec_adaptive.min_range_bytes", r.min_range_bytes);
    power_of_two("rec_adaptive.max_range_bytes", r.max_range_bytes);
    require(r.min_range_bytes > c_.line_bytes, "`rec_adaptive.min_range_bytes` = {} is one line of `line_bytes` = {}",
            r.min_range_bytes, c_.line_bytes);
    require(r.min_range_bytes <= d.range_bytes && d.range_bytes <= r.max_range_bytes,
            "`coherence.range_bytes` = {}, the first kernel's, is not from `rec_adaptive.min_range_bytes` = {} to "
            "`rec_adaptive.max_range_bytes` = {}",
            d.range_bytes, r.min_range_bytes, r.max_range_bytes);
    require(r.narrow_below < r.widen_above,
            "`rec_adaptive.narrow_below` = {} must be less than `rec_adaptive.widen_above` = {}", r.narrow_below,
            r.widen_above);
  }

  void network() const {
    require(c_.llc.slices % c_.noc.memory_routers == 0,
            "`llc.slices` = {} is not a multiple of `noc.memory_routers` = {}: every router serves equally many slices",
            c_.llc.slices, c_.noc.memory_routers);
    require(c_.dram.channels % c_.noc.memory_routers == 0,
            "`dram.channels` = {} is not a multiple of `noc.memory_routers` = {}: every router serves equally many channels",
            c_.dram.channels, c_.noc.memory_routers);
    if (c_.noc.virtual_channels == 0) return;
    require(c_.chips == 1,
            "`noc.virtual_channels` = {} needs `chips` = 1, not {}: other chips' answers do not pass these routers; use 0",
            c_.noc.virtual_channels, c_.chips);
    require(c_.llc.slices / c_.noc.memory_routers <= 64,
            "`noc.virtual_channels` = {} needs at most 64 slices at a router, not `llc.slices` / `noc.memory_routers` = {}",
            c_.noc.virtual_channels, c_.llc.slices / c_.noc.memory_routers);
    require(c_.noc.cluster_gbps == c_.noc.slice_gbps,
            "`noc.virtual_channels` = {} needs channels of one width: `noc.cluster_gbps` = {}, `noc.slice_gbps` = {}",
            c_.noc.virtual_channels, c_.noc.cluster_gbps, c_.noc.slice_gbps);
  }

  void links() const {
    const bool graph = c_.link.topology == Topology::graph;
    require(graph == !c_.link.edges.empty(), "`link.topology` = graph and `link.edges`, its links, go together{}",
            graph ? ": name them, such as \"0-1 1-2\"" : "; set the topology, or leave the links out");
    if (graph) link_edges(c_.link, c_.chips);
  }

  void memory() const {
    const auto& d = c_.dram;
    const auto& t = d.timing;
    require(d.channels % c_.llc.slices == 0 || c_.llc.slices % d.channels == 0,
            "`dram.channels` = {} and `llc.slices` = {}: one must be a multiple of the other", d.channels, c_.llc.slices);
    power_of_two("dram.row_bytes", d.row_bytes);
    power_of_two("dram.timing.burst_bytes", t.burst_bytes);
    require(t.burst_bytes <= c_.line_bytes,
            "`dram.timing.burst_bytes` = {} exceeds `line_bytes` = {}: use shorter bursts (and a higher clock)",
            t.burst_bytes, c_.line_bytes);
    require(t.banks % t.bank_groups == 0,
            "`dram.timing.banks` = {} is not a multiple of `dram.timing.bank_groups` = {}: groups must be equally large",
            t.banks, t.bank_groups);
    at_most("ccd", t.ccd, "ccdl", t.ccdl);
    at_most("rcd", t.rcd, "ras", t.ras);
    // Not RAS + RP <= RC: two of GPGPU-Sim's own timing sets break that by a few clocks.
    at_most("ras", t.ras, "rc", t.rc);
    if (t.faw != 0) at_most("rrd", t.rrd, "faw", t.faw);
  }

  void observe() const {
    require(!c_.observe.sharing || !c_.observe.sm_sharing,
            "`observe.sharing` and `observe.sm_sharing` cannot both be true: a chip has one observer; run twice");
  }

  /// Compute dies and base dies.
  void kinds_of_chips() const {
    const auto& p = c_.partition;
    if (p.compute_chips == 0 && p.memory_chips == 0) return;
    require(
        p.compute_chips <= c_.chips && p.memory_chips <= c_.chips && c_.compute_chips() + c_.memory_chips() >= c_.chips,
        "`partition.compute_chips` = {} and `partition.memory_chips` = {} do not make up `chips` = {}: each chip has SMs, "
        "memory, or both",
        p.compute_chips, p.memory_chips, c_.chips);
    require(p.placement != Placement::fixed || c_.has_memory(p.fixed_chip),
            "`partition.fixed_chip` = {} has no memory: it is one of the last `partition.memory_chips` = {} of {}",
            p.fixed_chip, p.memory_chips, c_.chips);
    const Roles roles = row_of(c_.llc.organisation).traits.roles;
    require(
        roles == Roles(LlcRole::memory_side) || roles == Roles(LlcRole::sm_side),
        "`llc.organisation` = {} weighs chips that are alike, and `partition.compute_chips` and `memory_chips` make them "
        "unlike: use memory_side or sm_side",
        word_of(c_.llc.organisation));
    require(c_.llc.replication == Replication::shared,
            "`llc.replication` = {} weighs chips that are alike, and `partition.compute_chips` and `memory_chips` make them "
            "unlike: use shared",
            word_of(c_.llc.replication));
  }

  void partition() const {
    const auto& p = c_.partition;
    const double below = std::exp2(std::floor(std::log2(p.page_kib)));
    require(below == p.page_kib, "`partition.page_kib` = {} must be a power of two: take {} or {}", p.page_kib, below,
            2 * below);
    require(p.placement != Placement::interleaved || std::fmod(p.interleave_kib, p.page_kib) == 0,
            "`partition.interleave_kib` = {} is not a multiple of `partition.page_kib` = {}: chunks are whole pages",
            p.interleave_kib, p.page_kib);
    require(p.fixed_chip < c_.chips, "`partition.fixed_chip` = {} does not exist: `chips` = {}, counted from 0",
            p.fixed_chip, c_.chips);
    kinds_of_chips();
    if (p.cta_to_sm == CtaToSm::bcs) {
      require(p.bcs_block <= c_.sm.ctas, "`partition.bcs_block` = {} exceeds `sm.ctas` = {}: a block must fit on an SM",
              p.bcs_block, c_.sm.ctas);
    }
    if (powers_of_two()) {
      hashable("dram.channels", c_.dram.channels);
      require(c_.dram.channels <= 64, "`dram.channels` = {} exceeds 64 with `partition.mapping` = {}: use hashed",
              c_.dram.channels, word_of(p.mapping));
      hashable("llc.slices", c_.llc.slices);
      hashable("dram.timing.banks", c_.dram.timing.banks);
    }
  }

 private:
  template <class... Args> void require(bool holds, fmt::format_string<Args...> text, Args&&... args) const {
    if (!holds) throw InputError("system " + c_.name, fmt::format(text, std::forward<Args>(args)...));
  }

  bool powers_of_two() const { return c_.partition.mapping == Mapping::pae || c_.partition.mapping == Mapping::ipoly; }

  void power_of_two(std::string_view key, std::uint32_t value) const {
    require(std::has_single_bit(value), "`{}` = {} must be a power of two: take {} or {}", key, value, std::bit_floor(value),
            std::bit_ceil(value));
  }

  void hashable(std::string_view key, std::uint32_t value) const {
    require(std::has_single_bit(value),
            "`{}` = {} is not a power of two, which `partition.mapping` = {} needs: use `partition.mapping` = hashed", key,
            value, word_of(c_.partition.mapping));
  }

  void at_most(std::string_view small, std::uint32_t a, std::string_view large, std::uint32_t b) const {
    require(a <= b, "`dram.timing.{}` = {} exceeds `dram.timing.{}` = {}: lower the first or raise the second", small, a,
            large, b);
  }

  /// A cache array must come out as a whole number of sets, and as a power of two where sets are chosen by address bits.
  void sets(std::string_view section, std::uint32_t size_kib, std::uint32_t slices, std::uint32_t ways, bool any) const {
    const std::uint64_t bytes = std::uint64_t{size_kib} * 1024;
    const std::string size = section == "l1" || c_.scale == 1 ? fmt::format("`{}.size_kib` = {}", section, size_kib)
                                                              : fmt::format("`{}.size_kib` = {} divided by `scale` = {}",
                                                                            section, size_kib * c_.scale, c_.scale);
    const std::uint64_t set_bytes = std::uint64_t{slices} * ways * c_.line_bytes;
    const std::string parts = slices == 1 ? fmt::format("`{}.ways` = {} x `line_bytes` = {}", section, ways, c_.line_bytes)
                                          : fmt::format("`{0}.slices` = {1} x `{0}.ways` = {2} x `line_bytes` = {3}",
                                                        section, slices, ways, c_.line_bytes);
    require(bytes % set_bytes == 0 && bytes > 0, "{} cannot be divided into sets of {}: it must be a multiple of {} bytes",
            size, parts, set_bytes);
    require(any || std::has_single_bit(bytes / set_bytes),
            "{} over {} gives {} sets, which must be a power of two: change the size or the ways", size, parts,
            bytes / set_bytes);
  }

  const SystemConfig& c_;
};

}  // namespace

SystemConfig scaled(SystemConfig config) {
  if (config.l2.present()) config.l2.size_kib /= config.scale;
  config.llc.size_kib /= config.scale;
  config.coherence.directory_entries /= config.scale;
  config.scale = 1;
  return config;
}

double link_port_gbps(const SystemConfig& config, double link_gbps) {
  constexpr double kLeast = 250;  // well above the links of the published machines (docs/systems.md)
  return config.noc.link_port_gbps != 0 ? config.noc.link_port_gbps : std::max(kLeast, link_gbps);
}

void validate(const SystemConfig& config) {
  const Rules rules(config);
  rules.ranges();  // first: the other rules divide by what it proves non-zero
  rules.sms();
  rules.caches();
  rules.clusters();
  rules.organisation();
  rules.coherence();
  rules.network();
  rules.links();
  rules.replication();
  rules.memory();
  rules.second_level();
  rules.partition();
  rules.observe();
}

}  // namespace atl
