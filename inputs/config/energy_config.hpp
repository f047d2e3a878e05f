#pragma once
#include "inputs/config/field.hpp"

namespace atl {

/// What events cost, and what parts of a chip draw all the time. Nothing simulated depends on it. Sources of the defaults,
/// and what each figure stands for: docs/energy.md.
struct EnergyConfig {
  double warp_instruction_pj = 460;
  double l1_tag_pj = 20;
  double l1_sector_pj = 170;
  double l2_tag_pj = 18;
  double l2_sector_pj = 140;
  double llc_tag_pj = 18;
  double llc_sector_pj = 140;
  double noc_pj_per_byte = 8.5;
  double cluster_pj_per_byte = 2.1;
  double cluster_table_pj = 230;
  double link_pj_per_bit = 0.54;
  double dram_activate_pj = 1818;
  double dram_read_pj_per_bit = 6.3;
  double dram_write_pj_per_bit = 6.3;
  double sm_static_w = 0.5;
  double llc_static_w_per_mib = 0.5;
  double chip_static_w = 10;
  double dram_channel_static_w = 0.3;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.warp_instruction_pj,
      {"warp_instruction_pj", "pJ", 0, 1e6, "one instruction of a whole warp, apart from the caches"});
    v(s.l1_tag_pj, {"l1_tag_pj", "pJ", 0, 1e6, "look-up of a line in the tags of an L1"});
    v(s.l1_sector_pj, {"l1_sector_pj", "pJ", 0, 1e6, "32 bytes into or out of an L1"});
    v(s.l2_tag_pj, {"l2_tag_pj", "pJ", 0, 1e6, "look-up of a line in the tags of an L2 slice"});
    v(s.l2_sector_pj, {"l2_sector_pj", "pJ", 0, 1e6, "32 bytes into or out of an L2 slice"});
    v(s.llc_tag_pj, {"llc_tag_pj", "pJ", 0, 1e6, "look-up of a line in the tags of an LLC slice"});
    v(s.llc_sector_pj, {"llc_sector_pj", "pJ", 0, 1e6, "32 bytes into or out of an LLC slice"});
    v(s.noc_pj_per_byte, {"noc_pj_per_byte", "pJ", 0, 1e6, "a byte through a crossbar, wires included"});
    v(s.cluster_pj_per_byte, {"cluster_pj_per_byte", "pJ", 0, 1e6, "a byte between the L1s of a cluster, wires included"});
    v(s.cluster_table_pj, {"cluster_table_pj", "pJ", 0, 1e6, "look-up of a line in a cluster's ownership table"});
    v(s.link_pj_per_bit, {"link_pj_per_bit", "pJ", 0, 1e6, "a bit over one inter-chip link, both ends included"});
    v(s.dram_activate_pj, {"dram_activate_pj", "pJ", 0, 1e6, "opening and closing a row of dram.row_bytes"});
    v(s.dram_read_pj_per_bit, {"dram_read_pj_per_bit", "pJ", 0, 1e6, "a bit out of an open row to the chip"});
    v(s.dram_write_pj_per_bit, {"dram_write_pj_per_bit", "pJ", 0, 1e6, "a bit from the chip into an open row"});
    v(s.sm_static_w, {"sm_static_w", "W", 0, 1e4, "an SM, its L1 included, whatever it does"});
    v(s.llc_static_w_per_mib, {"llc_static_w_per_mib", "W", 0, 1e4, "leakage of a MiB of LLC or L2"});
    v(s.chip_static_w, {"chip_static_w", "W", 0, 1e4, "the rest of a chip: crossbars, memory controllers, links"});
    v(s.dram_channel_static_w, {"dram_channel_static_w", "W", 0, 1e4, "background and refresh of a DRAM channel"});
  }
};

}  // namespace atl
