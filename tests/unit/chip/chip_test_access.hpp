#pragma once
#include <algorithm>

#include "core/chip/chip.hpp"

namespace atl {

/// Reaches into a chip to break it.
struct ChipTestAccess {
  /// Calls f(gate) for what its components wait for.
  template <class F> static void for_each_wait(Chip& chip, F&& f) { chip.for_each_wait(f); }
  /// Calls f(member) for what no checkpoint has, since it follows from what it has.
  template <class F> static void for_each_derived(Chip& chip, F&& f) {
    for (Sm& s : chip.sms_) f(s.code_), f(s.found_);
    for (LlcSlice& s : chip.slices_) f(s.held_);
    if (chip.agent_) f(chip.agent_->directory_.sets_);
  }
  /// Calls a resident CTA by a number that no kernel has. Returns whether there was one.
  static bool rename_cta(Chip& chip) {
    for (Sm& s : chip.sms_)
      for (auto& resident : s.cta_)
        if (resident.live_warps != 0) return resident.cta = std::uint64_t{1} << 40, true;
    return false;
  }
  /// Whether every slice counts its lines as it has them.
  static bool counts_its_lines(const Chip& chip) {
    return std::all_of(chip.slices_.begin(), chip.slices_.end(), [](const LlcSlice& s) {
      std::uint32_t local = 0, remote = 0;
      s.for_each_line([&](LineAddr, std::uint8_t home) { ++(home == s.c_.chip ? local : remote); });
      return s.local_lines() == local && s.remote_lines() == remote;
    });
  }
  static Gate& slice_gate(Chip& chip, std::uint32_t slice) { return chip.slices_[slice].gate(LlcSlice::kFromSms); }
  static Gate& link_gate(Chip& chip, std::uint32_t channel) { return chip.links_.out_gate(channel); }

  static std::uint32_t dirty_lines(Chip& chip) {
    std::uint32_t n = 0;
    for (LlcSlice& s : chip.slices_)
      for (std::uint32_t i = 0; i < s.tags_.entries(); ++i) n += s.tags_.occupied(i) && s.tags_.dirty(i) != 0;
    return n;
  }
  /// Forgets that the slice's copy of the line is newer than memory's.
  static void clean(Chip& chip, LineAddr line) {
    LlcSlice& s = slice_of(chip, line);
    if (const std::uint32_t i = s.tags_.find(s.set(line), line); i != TagArray::kMiss) s.tags_.dirty(i) = 0;
  }
  /// As if the slice, or the L1 of an SM, had kept the line when it was emptied.
  static void keep(Chip& chip, LineAddr line, std::uint8_t home) { keep(slice_of(chip, line), line, home); }
  static void keep_in_l1(Chip& chip, std::uint32_t sm, LineAddr line) {
    L1Cache& l1 = chip.sms_[sm].l1();
    const std::uint32_t i = l1.tags_.victim(l1.sets_(line.value));
    l1.tags_.install(i, line);
    l1.tags_.valid(i) = chip.context().machine.full_line;
  }

  static void keep_in_slice(Chip& chip, std::uint32_t slice, LineAddr line, std::uint8_t home) {
    keep(chip.slices_[slice], line, home);
  }
  /// Calls a copy dirty that is as memory has it.
  static void soil(Chip& chip, LineAddr line, std::uint8_t sectors) {
    LlcSlice& s = slice_of(chip, line);
    if (const std::uint32_t i = s.tags_.find(s.set(line), line); i != TagArray::kMiss) s.tags_.dirty(i) |= sectors;
  }
  /// What is under way to the slice will stay, although it has been invalidated.
  static void keep_what_comes(Chip& chip, LineAddr line) {
    LlcSlice& s = slice_of(chip, line);
    if (const std::uint32_t e = s.mshr_.find(line); e != s.mshr_.kNone) s.mshr_[e].void_on_arrival = false;
  }
  /// full_map: the home takes memory to be right.
  static void forget_owner(Chip& chip, LineAddr line) {
    FullMapDirectory& d = slice_of(chip, line).full_map_->directory_;
    d.written_back(line, d.owner(line));
  }
  /// The home's directory, of which one line is tracked: forgets, or invents, a sharer; forgets the entry.
  static void forget_sharer(Chip& chip, LineAddr line, std::uint32_t sharer) {
    if (std::uint64_t* const chips = sharers(chip, line)) *chips &= ~(std::uint64_t{1} << sharer);
  }
  static void invent_sharer(Chip& chip, LineAddr line, std::uint32_t sharer) {
    if (std::uint64_t* const chips = sharers(chip, line)) *chips |= std::uint64_t{1} << sharer;
  }
  static void forget_entry(Chip& chip, LineAddr line) {
    HomeDirectory& d = chip.agent_->directory_;
    if (const std::uint32_t e = d.find(chip.agent_->pages_.local(line)); e != HomeDirectory::kNone) {
      d.entry_[e] = {};
      for (std::uint32_t f = 0; f < d.fields(); ++f) d.sharers_[std::size_t{e} * d.fields() + f] = 0;
    }
  }

 private:
  static std::uint64_t* sharers(Chip& chip, LineAddr line) {
    HomeDirectory& d = chip.agent_->directory_;
    const LineAddr local = chip.agent_->pages_.local(line);
    const std::uint32_t e = d.find(local);
    return e == HomeDirectory::kNone ? nullptr : &d.sharers(e, local);
  }
  static void keep(LlcSlice& s, LineAddr line, std::uint8_t home) {
    const std::uint32_t i = s.tags_.victim(s.set(line));
    s.put(i, line, home);
    s.tags_.valid(i) = s.c_.machine.full_line;
  }
  static LlcSlice& slice_of(Chip& chip, LineAddr line) { return chip.slices_[chip.context().machine.map.slice(line)]; }
};

}  // namespace atl
