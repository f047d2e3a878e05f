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
};
static_assert(in_order(kDramPresets));

}  // namespace

template <> std::span<const Word<DramPreset>> words() {
  static constexpr auto list = words_of(kDramPresets);
  return list;
}

DramTiming dram_timing(DramPreset preset) { return kDramPresets[static_cast<std::size_t>(preset)].timing; }

}  // namespace atl
