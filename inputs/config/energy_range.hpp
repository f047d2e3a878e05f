#pragma once
#include <array>
#include <string_view>

#include "inputs/config/energy_config.hpp"

namespace atl {

/// How uncertain a price is: the true one is taken to be between price / factor and price x factor, whatever the system.
/// Sources of both ends: docs/energy.md.
struct EnergyRange {
  std::string_view key;
  double EnergyConfig::*price;
  double factor;
};

inline constexpr std::array<EnergyRange, 18> kEnergyRanges{{
    {"warp_instruction_pj", &EnergyConfig::warp_instruction_pj, 2.4},
    {"l1_tag_pj", &EnergyConfig::l1_tag_pj, 4},
    {"l1_sector_pj", &EnergyConfig::l1_sector_pj, 2.2},
    {"l2_tag_pj", &EnergyConfig::l2_tag_pj, 4.2},
    {"l2_sector_pj", &EnergyConfig::l2_sector_pj, 2},
    {"llc_tag_pj", &EnergyConfig::llc_tag_pj, 4.2},
    {"llc_sector_pj", &EnergyConfig::llc_sector_pj, 2},
    {"noc_pj_per_byte", &EnergyConfig::noc_pj_per_byte, 2.4},
    {"cluster_pj_per_byte", &EnergyConfig::cluster_pj_per_byte, 2.4},
    {"cluster_table_pj", &EnergyConfig::cluster_table_pj, 3},
    {"link_pj_per_bit", &EnergyConfig::link_pj_per_bit, 2.2},
    {"dram_activate_pj", &EnergyConfig::dram_activate_pj, 2},
    {"dram_read_pj_per_bit", &EnergyConfig::dram_read_pj_per_bit, 1.5},
    {"dram_write_pj_per_bit", &EnergyConfig::dram_write_pj_per_bit, 1.5},
    {"sm_static_w", &EnergyConfig::sm_static_w, 1.8},
    {"llc_static_w_per_mib", &EnergyConfig::llc_static_w_per_mib, 3},
    {"chip_static_w", &EnergyConfig::chip_static_w, 3.2},
    {"dram_channel_static_w", &EnergyConfig::dram_channel_static_w, 2},
}};

}  // namespace atl
