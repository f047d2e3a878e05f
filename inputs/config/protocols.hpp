#pragma once
#include <algorithm>
#include <bit>
#include <cstdint>

#include "inputs/config/table.hpp"

/// How copies of remote lines are kept coherent, and what the machine must know of each way.
namespace atl {

enum class CoherenceProtocol : std::uint8_t {
  software,
  full_map,
  directory,
  hmg,
  rec,
  rec_adaptive,
  ideal,
  none_remote,
  l1_only
};

/// The directory that a home keeps of its lines in other chips' slices (REC section 4, HMG).
struct HomeDirectoryTraits {
  bool present = false;
  bool unbounded = false;         ///< nothing is evicted
  bool ranges = false;            ///< an entry covers `coherence.range_bytes`, with sharers for each line in it
  bool range_per_kernel = false;  ///< a policy takes another range for the next kernel
  std::uint32_t entry_lines = 1;  ///< that an entry covers where it has no range
  bool common_sharers = false;    ///< one set of sharers for all lines of an entry
  bool lru = false;               ///< replacement as published; else FIFO
  bool operator==(const HomeDirectoryTraits&) const = default;
};

struct ProtocolRow {
  CoherenceProtocol value;
  std::string_view word, doc;
  HomeDirectoryTraits home{};
  bool full_map = false;  ///< SM-side slices write their copies back; the home notes owner and sharers (SAC section 2.1)
  bool llc_keeps_remote = true;  ///< slices may hold other chips' lines
  bool l1_keeps_remote = true;   ///< L1s may
};

inline constexpr std::array kProtocols{
    ProtocolRow{CoherenceProtocol::software, "software", "caches are written back and invalidated at kernel boundaries"},
    ProtocolRow{CoherenceProtocol::full_map,
                "full_map",
                "SM-side slices: a directory at the home invalidates copies when one is written",
                {},
                true},
    ProtocolRow{CoherenceProtocol::directory,
                "directory",
                "remote writes go through to the home, whose directory of single lines invalidates copies (REC's baseline)",
                {.present = true}},
    ProtocolRow{CoherenceProtocol::hmg,
                "hmg",
                "as directory, with four lines and one set of sharers per entry (HMG, one level)",
                {.present = true, .entry_lines = 4, .common_sharers = true}},
    ProtocolRow{CoherenceProtocol::rec,
                "rec",
                "as directory, with an entry for range_bytes and sharers for each line in it",
                {.present = true, .ranges = true, .lru = true}},
    ProtocolRow{CoherenceProtocol::rec_adaptive,
                "rec_adaptive",
                "as rec, with a range chosen for each kernel (ours)",
                {.present = true, .ranges = true, .range_per_kernel = true, .lru = true}},
    ProtocolRow{CoherenceProtocol::ideal,
                "ideal",
                "as directory, with room for all lines: nothing is evicted",
                {.present = true, .unbounded = true}},
    ProtocolRow{CoherenceProtocol::none_remote,
                "none_remote",
                "remote lines are cached at their home only",
                {},
                false,
                false,
                false},
    ProtocolRow{
        CoherenceProtocol::l1_only, "l1_only", "remote lines are cached at their home and in L1s", {}, false, false, true},
};
static_assert(in_order(kProtocols));

/// Whether there is a directory of these traits: the others would be passed over where they are read
/// (`core/chip/llc/protocol/home_directory.hpp`, `policies/coherence/directory_layout.cpp`).
constexpr bool is_sound(const ProtocolRow& p) {
  const HomeDirectoryTraits& home = p.home;
  if (!home.present) return home == HomeDirectoryTraits{};
  if (p.full_map || !p.llc_keeps_remote) return false;
  if (home.unbounded) return home == HomeDirectoryTraits{.present = true, .unbounded = true};
  if (home.ranges) return home.entry_lines == 1 && !home.common_sharers;
  return !home.range_per_kernel && std::has_single_bit(home.entry_lines) && home.entry_lines <= 64 &&
         home.common_sharers == (home.entry_lines > 1);
}
static_assert(std::ranges::all_of(kProtocols, is_sound));

constexpr const ProtocolRow& row_of(CoherenceProtocol p) { return kProtocols[static_cast<std::size_t>(p)]; }

template <> std::span<const Word<CoherenceProtocol>> words();

}  // namespace atl
