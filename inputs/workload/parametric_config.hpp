#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "inputs/config/field.hpp"

/// What a parametric workload's JSON file says (docs/workloads.md).
namespace atl {

/// Who touches a region: groups of CTAs. Unless a kernel says otherwise, a group is the CTAs of one chip under contiguous
/// distribution.
enum class Sharing : std::uint8_t { private_, false_shared, true_shared, page_interleaved };
enum class Pattern : std::uint8_t { stream, strided, uniform, hot_set };
/// A group's warps share a head that goes through its lines, instead of drawing each line.
constexpr bool has_head(Pattern p) {
  switch (p) {
    case Pattern::stream:
    case Pattern::strided:
      return true;
    case Pattern::uniform:
    case Pattern::hot_set:
      return false;
  }
  return false;
}

/// Which CTAs make up a group: a range of them, or every G-th.
enum class GroupOrder : std::uint8_t { contiguous, interleaved };

/// One data structure, as one kernel uses it. Lines here are 128-byte blocks.
struct RegionConfig {
  std::string name;
  Sharing kind = Sharing::true_shared;
  std::uint64_t size_kib = 1024;
  double weight = 1;
  Pattern pattern = Pattern::uniform;
  std::uint32_t stride_bytes = 128;
  double hot_fraction = 0.1, hot_probability = 0.9;
  std::uint32_t hot_moves_every = 0;
  double warp_reuse = 0, near_reuse = 0, far_reuse = 0;
  std::uint32_t near_lines = 64, far_lines = 8192;
  double phase = 0;
  std::uint32_t skew_lines = 0;
  double write_fraction = 0, atomic_fraction = 0;
  bool read_only = false;
  std::uint32_t accesses = 1, sectors = 4;
  double partial_lines = 0, partial_sectors = 2;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.name, {"name", "", 0, 0, "the same name in several kernels is the same memory"});
    v(s.kind, {"kind", "", 0, 0, "which CTAs touch which lines"});
    v(s.size_kib, {"size_kib", "KiB", 1, 1 << 28, "memory of the region, over all chips"});
    v(s.weight, {"weight", "", 0, 1e6, "share of the kernel's memory instructions, relative to the other regions"});
    v(s.pattern, {"pattern", "", 0, 0, "order in which lines are touched"});
    v(s.stride_bytes, {"stride_bytes", "B", 128, 1 << 24, "strided: distance of successive lines, a multiple of 128"});
    v(s.hot_fraction, {"hot_fraction", "", 0, 1, "hot_set: part of the lines that is hot"});
    v(s.hot_probability, {"hot_probability", "", 0, 1, "hot_set: accesses that go to the hot part"});
    v(s.hot_moves_every, {"hot_moves_every", "", 0, 1 << 30,
                          "hot_set: instructions of a warp after which the hot part moves on by its own length; 0: never"});
    v(s.warp_reuse,
      {"warp_reuse", "", 0, 1, "stream, strided: instructions that touch again what their warp touched last in the region"});
    v(s.near_reuse,
      {"near_reuse", "", 0, 1, "stream, strided: instructions that re-reference the near window instead of advancing"});
    v(s.near_lines, {"near_lines", "", 1, 1 << 30, "near window, in lines behind the head"});
    v(s.far_reuse, {"far_reuse", "", 0, 1, "as near_reuse, for the far window"});
    v(s.far_lines, {"far_lines", "", 1, 1 << 30, "far window, in lines behind the head"});
    v(s.phase,
      {"phase", "", 0, 1, "stream, strided: groups begin at random places in this share of the region's first lines"});
    v(s.skew_lines,
      {"skew_lines", "", 0, 1 << 30, "stream, strided: each wave of a group is up to so many lines further, at random"});
    v(s.write_fraction, {"write_fraction", "", 0, 1, "instructions that are stores"});
    v(s.atomic_fraction, {"atomic_fraction", "", 0, 1, "instructions that are atomics without a result"});
    v(s.read_only,
      {"read_only", "", 0, 1, "the kernel must not write it: checked. Loads of what it does not write are marked anyway"});
    v(s.accesses, {"accesses", "", 1, 32, "lines that one warp instruction touches (1: fully coalesced)"});
    v(s.sectors, {"sectors", "", 1, 4, "32-byte sectors touched in each of these lines"});
    v(s.partial_lines,
      {"partial_lines", "", 0, 1, "share of the lines of which only some sectors are ever touched, always the same"});
    v(s.partial_sectors, {"partial_sectors", "", 1, 3, "how many of them, on average"});
  }
};

struct KernelConfig {
  std::string name = "kernel";
  std::uint32_t repeat = 1, ctas = 256, warps_per_cta = 8;
  std::uint32_t memory_instructions = 100, compute_instructions = 4, compute_latency_cycles = 4;
  std::uint32_t loads_in_flight = 4, barrier_every = 0, concurrent_ctas = 0;
  std::uint32_t groups = 0;
  GroupOrder group_order = GroupOrder::contiguous;
  std::uint32_t registers_per_thread = 0, shared_kib = 0;
  std::vector<RegionConfig> regions;

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.name, {"name", "", 0, 0, "shown in results"});
    v(s.repeat, {"repeat", "", 1, 10000, "launches, one after another, with other random numbers each"});
    v(s.ctas, {"ctas", "", 1, 1 << 24, "CTAs of one launch"});
    v(s.warps_per_cta, {"warps_per_cta", "", 1, 32, "warps of one CTA"});
    v(s.memory_instructions, {"memory_instructions", "", 1, 1 << 20, "memory instructions of one warp"});
    v(s.compute_instructions, {"compute_instructions", "", 0, 10000, "compute instructions before each memory instruction"});
    v(s.compute_latency_cycles,
      {"compute_latency_cycles", "cycles", 1, 60000, "latency of such a segment, at least one cycle per instruction"});
    v(s.loads_in_flight, {"loads_in_flight", "", 1, 32, "loads a warp issues before it waits for all of them"});
    v(s.barrier_every, {"barrier_every", "", 0, 1 << 20, "memory instructions between CTA-wide barriers; 0: none"});
    v(s.concurrent_ctas,
      {"concurrent_ctas", "", 0, 1 << 24, "CTAs of one group that share a stream's head; 0: all of them"});
    v(s.groups, {"groups", "", 0, 1 << 16, "groups of CTAs for the layout of sharing; 0: the file's `chips`"});
    v(s.group_order, {"group_order", "", 0, 0, "which CTAs make up a group"});
    v(s.registers_per_thread, {"registers_per_thread", "", 0, 255, "limits resident CTAs; 0: no limit"});
    v(s.shared_kib, {"shared_kib", "KiB", 0, 1024, "shared memory per CTA; limits resident CTAs"});
  }
};

struct ParametricConfig {
  std::uint64_t seed = 1;
  std::uint32_t chips = 4;
  std::vector<KernelConfig> kernels;

  std::uint32_t groups_of(const KernelConfig& k) const { return k.groups ? k.groups : chips; }

  template <class Self, class V> static void fields(Self& s, V&& v) {
    v(s.seed, {"seed", "", 0, 9007199254740992.0, "of all random numbers"});
    v(s.chips, {"chips", "", 0, 64,
                "groups into which a kernel's CTAs are divided for the layout of sharing; 0: the system's chips"});
  }
};

template <> std::span<const Word<Sharing>> words();
template <> std::span<const Word<Pattern>> words();
template <> std::span<const Word<GroupOrder>> words();

/// Reads strictly: unknown keys, wrong types, values out of range and contradictions are InputErrors at file and key.
/// `chips` stands in for a file's `chips` = 0.
ParametricConfig read_parametric(const std::string& path, std::uint32_t chips = 4);

/// Divides the footprint by `n`, and the accesses with it: each line is touched as often as before (docs/workloads.md), as
/// far as a warp's instructions can be divided. Returns, in words, what comes out otherwise by more than a tenth.
std::string scale(ParametricConfig& config, unsigned n);

}  // namespace atl
