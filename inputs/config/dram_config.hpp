#pragma once
#include <cstdint>

#include "inputs/config/field.hpp"

/// Memory controllers, DRAM channels and their timing sets, which dram_presets.cpp lists.
namespace atl {

enum class DramPreset : std::uint8_t {
  gddr5,
  gddr5_titanx,
  gddr6,
  hbm2,
  hbm,
  hbm_selrep,
  hbm2e,
  hbm3,
  hbm3e,
  gddr6x,
  gddr7
};

/// DRAM timing in command clocks (names as in the data sheets).
struct DramTiming {
  double clock_mhz = 3500;
  std::uint32_t burst_bytes = 64;
  std::uint32_t banks = 16, bank_groups = 4;
  std::uint32_t ccd = 4, ccdl = 4, rrd = 10, rcd = 20, ras = 50, rp = 20, rc = 62;
  std::uint32_t cl = 20, wl = 8, cdlr = 9, wr = 20, rtp = 4, faw = 0;
  bool operator==(const DramTiming&) const = default;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.clock_mhz, {"clock_mhz", "MHz", 1, 1e5, "command clock"});
    v(s.burst_bytes, {"burst_bytes", "B", 8, 256, "data of one column access (bus width x burst length)"});
    v(s.banks, {"banks", "", 1, 64, "banks per channel"});
    v(s.bank_groups, {"bank_groups", "", 1, 64, "bank groups per channel"});
    v(s.ccd,
      {"ccd", "clocks", 1, 1000, "column to column, different bank group: bursts follow each other at this distance"});
    v(s.ccdl, {"ccdl", "clocks", 1, 1000, "column to column, same bank group"});
    v(s.rrd, {"rrd", "clocks", 0, 1000, "activate to activate, different banks"});
    v(s.rcd, {"rcd", "clocks", 0, 1000, "activate to column"});
    v(s.ras, {"ras", "clocks", 0, 1000, "activate to precharge"});
    v(s.rp, {"rp", "clocks", 0, 1000, "precharge to activate"});
    v(s.rc, {"rc", "clocks", 0, 1000, "activate to activate, same bank"});
    v(s.cl, {"cl", "clocks", 0, 1000, "read column to first data"});
    v(s.wl, {"wl", "clocks", 0, 1000, "write column to first data"});
    v(s.cdlr, {"cdlr", "clocks", 0, 1000, "end of write data to read column"});
    v(s.wr, {"wr", "clocks", 0, 1000, "end of write data to precharge"});
    v(s.rtp, {"rtp", "clocks", 0, 1000, "read column to precharge"});
    v(s.faw, {"faw", "clocks", 0, 1000, "window that holds at most four activates; 0: none"});
  }
};

/// Memory controllers and DRAM channels of one chip.
struct DramConfig {
  DramPreset preset = DramPreset::gddr6;
  std::uint32_t channels = 8;
  std::uint32_t row_bytes = 2048;
  std::uint32_t queue = 64;
  std::uint32_t row_hit_cap = 16;
  std::uint32_t extra_latency_cycles = 100;
  DramTiming timing;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.preset, {"preset", "", 0, 0, "timing set; keys of `timing` given beside it override single values"});
    v(s.channels, {"channels", "", 1, 256, "channels per chip; of HBM from HBM2e on, its pseudo-channels"});
    v(s.row_bytes, {"row_bytes", "B", 256, 65536, "bytes of one row (page) of a bank"});
    v(s.queue, {"queue", "", 1, 4096, "requests a channel's scheduler sees"});
    v(s.row_hit_cap,
      {"row_hit_cap", "", 1, 1 << 20, "row hits served in a row before the bank's oldest request gets its turn"});
    v(s.extra_latency_cycles, {"extra_latency_cycles", "cycles", 0, 10000, "controller and PHY latency added to each read"});
    v(s.timing, {"timing", "", 0, 0, "DRAM timing"});
  }
};

/// The timing set that a preset stands for, with its source in the definition.
DramTiming dram_timing(DramPreset preset);

template <> std::span<const Word<DramPreset>> words();

}  // namespace atl
