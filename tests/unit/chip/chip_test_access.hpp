#pragma once
#include "core/chip/chip.hpp"

namespace atl {

/// Reaches into a chip to break it.
struct ChipTestAccess {
  static Gate& slice_gate(Chip& chip, std::uint32_t slice) { return chip.slices_[slice].gate(LlcSlice::kFromSms); }
  static Gate& link_gate(Chip& chip, std::uint32_t channel) { return chip.links_.out_gate(channel); }

  /// Forgets that the slice's copy of the line is newer than memory's.
  static void clean(Chip& chip, LineAddr line) {
    LlcSlice& s = slice_of(chip, line);
    if (const std::uint32_t i = s.tags_.find(s.set(line), line); i != TagArray::kMiss) s.tags_.dirty(i) = 0;
  }
  /// As if the slice, or the L1 of an SM, had kept the line when it was emptied.
  static void keep(Chip& chip, LineAddr line, std::uint8_t home) {
    LlcSlice& s = slice_of(chip, line);
    const std::uint32_t i = s.tags_.victim(s.set(line));
    s.home_[i] = home;
    keep(s.tags_, i, line, chip);
  }
  static void keep_in_l1(Chip& chip, std::uint32_t sm, LineAddr line) {
    L1Cache& l1 = chip.sms_[sm].l1();
    keep(l1.tags_, l1.tags_.victim(l1.sets_(line.value)), line, chip);
  }

 private:
  static LlcSlice& slice_of(Chip& chip, LineAddr line) { return chip.slices_[chip.context().machine.map.slice(line)]; }
  static void keep(TagArray& tags, std::uint32_t i, LineAddr line, const Chip& chip) {
    tags.install(i, line);
    tags.valid(i) = chip.context().machine.full_line;
  }
};

}  // namespace atl
