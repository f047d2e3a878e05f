#include "inputs/config/dram_config.hpp"
#include "inputs/config/table.hpp"

namespace atl {
namespace {

// The five sets that GPGPU-Sim's tested configurations carry have 16 banks in 4 bank groups and no four-activate window
// (faw = 0). Their burst is the controller's bus width times the burst length, 32 bytes in all of them.

/// GPGPU-Sim, GTX 480: bus 4 B x BL 8. COLAB runs this set at 2750 MHz.
constexpr DramTiming kGddr5{.clock_mhz = 924,
                            .burst_bytes = 32,
                            .banks = 16,
                            .bank_groups = 4,
                            .ccd = 2,
                            .ccdl = 3,
                            .rrd = 6,
                            .rcd = 12,
                            .ras = 28,
                            .rp = 12,
                            .rc = 40,
                            .cl = 12,
                            .wl = 4,
                            .cdlr = 5,
                            .wr = 12,
                            .rtp = 2,
                            .faw = 0};

/// GPGPU-Sim, TITAN X class: bus 4 B x BL 8. Its RC is one clock below RAS + RP; kept as published.
constexpr DramTiming kGddr5TitanX{.clock_mhz = 2500,
                                  .burst_bytes = 32,
                                  .banks = 16,
                                  .bank_groups = 4,
                                  .ccd = 2,
                                  .ccdl = 4,
                                  .rrd = 8,
                                  .rcd = 16,
                                  .ras = 37,
                                  .rp = 16,
                                  .rc = 52,
                                  .cl = 16,
                                  .wl = 6,
                                  .cdlr = 7,
                                  .wr = 16,
                                  .rtp = 3,
                                  .faw = 0};

/// GPGPU-Sim, RTX 2060: bus 2 B x BL 16. Its RC, too, is below RAS + RP.
constexpr DramTiming kGddr6{.clock_mhz = 3500,
                            .burst_bytes = 32,
                            .banks = 16,
                            .bank_groups = 4,
                            .ccd = 4,
                            .ccdl = 4,
                            .rrd = 10,
                            .rcd = 20,
                            .ras = 50,
                            .rp = 20,
                            .rc = 62,
                            .cl = 20,
                            .wl = 8,
                            .cdlr = 9,
                            .wr = 20,
                            .rtp = 4,
                            .faw = 0};

/// GPGPU-Sim, QV100: bus 16 B x BL 2.
constexpr DramTiming kHbm2{.clock_mhz = 850,
                           .burst_bytes = 32,
                           .banks = 16,
                           .bank_groups = 4,
                           .ccd = 1,
                           .ccdl = 2,
                           .rrd = 3,
                           .rcd = 12,
                           .ras = 28,
                           .rp = 12,
                           .rc = 40,
                           .cl = 12,
                           .wl = 2,
                           .cdlr = 3,
                           .wr = 10,
                           .rtp = 3,
                           .faw = 0};

/// GPGPU-Sim, P100: bus 16 B x BL 2.
constexpr DramTiming kHbm{.clock_mhz = 715,
                          .burst_bytes = 32,
                          .banks = 16,
                          .bank_groups = 4,
                          .ccd = 1,
                          .ccdl = 2,
                          .rrd = 3,
                          .rcd = 10,
                          .ras = 24,
                          .rp = 10,
                          .rc = 34,
                          .cl = 10,
                          .wl = 2,
                          .cdlr = 3,
                          .wr = 9,
                          .rtp = 3,
                          .faw = 0};

/// SelRep (MICRO 2020), Table I. What it leaves open:
/// - clock: a 128-bit double-data-rate channel moves 32 B per clock; 600 GB/s over 32 channels need 585.9375 MHz.
/// - rrd: the paper has 4 between and 5 within bank groups; there is one field, and neighbouring activates mostly go
///   to different groups, so 4.
/// - wr: its other figures are those of Ramulator's HBM table, which has 8.
/// - cdlr: that table has 2 between and 4 within bank groups; 3 lies between and is also what the P100 and QV100 sets have.
/// - bank groups: 4, as in the other HBM sets.
constexpr DramTiming kHbmSelRep{.clock_mhz = 585.9375,
                                .burst_bytes = 32,
                                .banks = 16,
                                .bank_groups = 4,
                                .ccd = 1,
                                .ccdl = 1,
                                .rrd = 4,
                                .rcd = 7,
                                .ras = 17,
                                .rp = 7,
                                .rc = 24,
                                .cl = 7,
                                .wl = 2,
                                .cdlr = 3,
                                .wr = 8,
                                .rtp = 7,
                                .faw = 20};

// The sets below have one value of RRD, CDLR (tWTR) and RCD where the standards have two: the one between bank groups,
// and that of reads. A channel of HBM is a pseudo-channel from here on: half a channel with rows of 1 KiB
// (`dram.row_bytes`) and 32 bytes a burst. Times that a standard gives in nanoseconds are rounded up to clocks.

/// HBM2E at 3.2 Gb/s: a pseudo-channel of 64 bits, bursts of 4. The absolute times of Ramulator 2's HBM2 at 2.4 Gb/s (CL,
/// RCD and RP 17, RAS 40, RC 57, WL 6, WTR 8, WR 19, RTP 6 clocks of 0.833 ns; RRD 4 ns, FAW 15 ns after JESD235D), since
/// the same core is behind a faster interface; CCD in clocks is the standard's.
constexpr DramTiming kHbm2e{.clock_mhz = 1600,
                            .burst_bytes = 32,
                            .banks = 16,
                            .bank_groups = 4,
                            .ccd = 2,
                            .ccdl = 4,
                            .rrd = 7,
                            .rcd = 23,
                            .ras = 54,
                            .rp = 23,
                            .rc = 76,
                            .cl = 23,
                            .wl = 8,
                            .cdlr = 11,
                            .wr = 26,
                            .rtp = 8,
                            .faw = 24};

/// HBM3 at 6.4 Gb/s: Ramulator 2's HBM3_6400Mbps (JESD238), a pseudo-channel of 32 bits, bursts of 8, 2 stack IDs of 4 bank
/// groups of 4 banks (8-high).
constexpr DramTiming kHbm3{.clock_mhz = 1600,
                           .burst_bytes = 32,
                           .banks = 32,
                           .bank_groups = 8,
                           .ccd = 2,
                           .ccdl = 4,
                           .rrd = 4,
                           .rcd = 31,
                           .ras = 45,
                           .rp = 26,
                           .rc = 72,
                           .cl = 20,
                           .wl = 10,
                           .cdlr = 7,
                           .wr = 33,
                           .rtp = 9,
                           .faw = 24};

/// HBM3E at 8 Gb/s: HBM3's absolute times, since no standard or public data sheet has others; CCD in clocks.
constexpr DramTiming kHbm3e{.clock_mhz = 2000,
                            .burst_bytes = 32,
                            .banks = 32,
                            .bank_groups = 8,
                            .ccd = 2,
                            .ccdl = 4,
                            .rrd = 5,
                            .rcd = 39,
                            .ras = 57,
                            .rp = 33,
                            .rc = 90,
                            .cl = 25,
                            .wl = 13,
                            .cdlr = 9,
                            .wr = 42,
                            .rtp = 12,
                            .faw = 30};

/// GDDR6X at 21 Gb/s: a channel of 16 bits moves 32 B in two clocks of 2625 MHz, as GDDR6's does at its own. The absolute
/// times of Ramulator 2's GDDR6_14000_1350mV_double (clocks of 0.57 ns), since no data sheet of GDDR6X with timings is
/// public: an estimate.
constexpr DramTiming kGddr6x{.clock_mhz = 2625,
                             .burst_bytes = 32,
                             .banks = 16,
                             .bank_groups = 4,
                             .ccd = 2,
                             .ccdl = 4,
                             .rrd = 12,
                             .rcd = 41,
                             .ras = 80,
                             .rp = 41,
                             .rc = 119,
                             .cl = 36,
                             .wl = 9,
                             .cdlr = 14,
                             .wr = 41,
                             .rtp = 6,
                             .faw = 44};

/// GDDR7 at 28 Gb/s (PAM3): Ramulator 2's GDDR7_28000_PAM3, a channel of 8 bits with 16 banks and no bank groups (CCDL is
/// the distance within a bank). Its authors call part of the values guesses: JESD239 leaves them to vendors.
constexpr DramTiming kGddr7{.clock_mhz = 1751,
                            .burst_bytes = 32,
                            .banks = 16,
                            .bank_groups = 16,
                            .ccd = 2,
                            .ccdl = 4,
                            .rrd = 4,
                            .rcd = 30,
                            .ras = 60,
                            .rp = 30,
                            .rc = 90,
                            .cl = 24,
                            .wl = 6,
                            .cdlr = 9,
                            .wr = 30,
                            .rtp = 4,
                            .faw = 0};

struct DramPresetRow {
  DramPreset value;
  std::string_view word, doc;
  DramTiming timing;
};

constexpr std::array kDramPresets{
    DramPresetRow{DramPreset::gddr5, "gddr5", "GDDR5 of the GTX 480 class", kGddr5},
    DramPresetRow{DramPreset::gddr5_titanx, "gddr5_titanx", "GDDR5 of the TITAN X class, 2.5 GHz", kGddr5TitanX},
    DramPresetRow{DramPreset::gddr6, "gddr6", "GDDR6 of the RTX 2060", kGddr6},
    DramPresetRow{DramPreset::hbm2, "hbm2", "HBM2 of the Quadro GV100", kHbm2},
    DramPresetRow{DramPreset::hbm, "hbm", "HBM of the Tesla P100", kHbm},
    DramPresetRow{DramPreset::hbm_selrep, "hbm_selrep",
                  "HBM as in SelRep's table of parameters, with a four-activate window", kHbmSelRep},
    DramPresetRow{DramPreset::hbm2e, "hbm2e", "HBM2E at 3.2 Gb/s, a pseudo-channel", kHbm2e},
    DramPresetRow{DramPreset::hbm3, "hbm3", "HBM3 at 6.4 Gb/s, a pseudo-channel", kHbm3},
    DramPresetRow{DramPreset::hbm3e, "hbm3e", "HBM3E at 8 Gb/s, a pseudo-channel", kHbm3e},
    DramPresetRow{DramPreset::gddr6x, "gddr6x", "GDDR6X at 21 Gb/s, with GDDR6's times: an estimate", kGddr6x},
    DramPresetRow{DramPreset::gddr7, "gddr7", "GDDR7 at 28 Gb/s", kGddr7},
};
static_assert(in_order(kDramPresets));

}  // namespace

template <> std::span<const Word<DramPreset>> words() {
  static constexpr auto list = words_of(kDramPresets);
  return list;
}

DramTiming dram_timing(DramPreset preset) { return kDramPresets[static_cast<std::size_t>(preset)].timing; }

}  // namespace atl
