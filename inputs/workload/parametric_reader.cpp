#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "core/engine/error.hpp"
#include "inputs/config/json_text.hpp"
#include "inputs/config/section.hpp"
#include "inputs/workload/parametric_config.hpp"

namespace atl {

template <> std::span<const Word<Sharing>> words() {
  static constexpr std::array<Word<Sharing>, 4> list{{
      {Sharing::private_, "private", "each group has a contiguous part of its own"},
      {Sharing::false_shared, "false_shared", "the lines of a page belong to the groups in turn, one owner each"},
      {Sharing::true_shared, "true_shared", "all groups touch all lines"},
      {Sharing::page_interleaved, "page_interleaved", "pages, of the system's size, belong to the groups in turn"},
  }};
  return list;
}

template <> std::span<const Word<Pattern>> words() {
  static constexpr std::array<Word<Pattern>, 4> list{{
      {Pattern::stream, "stream", "line after line; the group's warps share one moving head"},
      {Pattern::strided, "strided", "as stream, with a distance between lines"},
      {Pattern::uniform, "uniform", "every line alike"},
      {Pattern::hot_set, "hot_set", "a hot part takes most accesses"},
  }};
  return list;
}

template <> std::span<const Word<GroupOrder>> words() {
  static constexpr std::array<Word<GroupOrder>, 2> list{{
      {GroupOrder::contiguous, "contiguous", "group g of G has CTAs [g N / G, (g + 1) N / G)"},
      {GroupOrder::interleaved, "interleaved", "CTA c belongs to group c modulo G"},
  }};
  return list;
}

namespace {

using nlohmann::json;

void check_region(const RegionConfig& r, std::uint32_t groups, const Origin& origin) {
  const auto require = [&](bool fine, std::string_view key, std::string_view what) {
    if (!fine) throw InputError(origin.where, fmt::format("`{}.{}` {}", origin.key, key, what));
  };
  require(!r.name.empty(), "name", "is missing");
  require(r.kind == Sharing::true_shared || r.size_kib * 8 >= groups, "size_kib", "gives some group not even one line");
  require(r.kind != Sharing::page_interleaved || r.size_kib >= 4ull * groups, "size_kib",
          "gives some group not even one page");
  require(r.stride_bytes % 128 == 0, "stride_bytes", "is not a multiple of 128");
  require(r.near_reuse + r.far_reuse <= 1, "far_reuse", "and near_reuse exceed 1 together");
  require(r.write_fraction + r.atomic_fraction <= 1, "atomic_fraction", "and write_fraction exceed 1 together");
  require(!r.read_only || r.write_fraction + r.atomic_fraction == 0, "read_only",
          "contradicts write_fraction or atomic_fraction");
  const bool head = has_head(r.pattern);
  require(head || r.near_reuse + r.far_reuse == 0, "near_reuse", "or far_reuse needs pattern stream or strided");
  require(r.warp_reuse + r.near_reuse + r.far_reuse <= 1, "warp_reuse", "exceeds 1 together with near_reuse and far_reuse");
  require(head || r.warp_reuse == 0, "warp_reuse", "needs pattern stream or strided");
  require(head || r.phase == 0, "phase", "needs pattern stream or strided");
  require(head || r.skew_lines == 0, "skew_lines", "needs pattern stream or strided");
  require(r.partial_lines == 0 || r.sectors == 4, "sectors",
          "must be 4 beside partial_lines, which says itself what is touched");
  require(r.pattern == Pattern::hot_set || r.hot_moves_every == 0, "hot_moves_every", "needs pattern hot_set");
}

/// Keys that another pattern does not look at: their defaults say nothing, but who gives one means something.
void check_pattern_keys(const RegionConfig& r, const json& part, const Origin& origin) {
  constexpr std::array<std::tuple<const char*, Pattern, const char*>, 3> kOf{
      {{"stride_bytes", Pattern::strided, "strided"},
       {"hot_fraction", Pattern::hot_set, "hot_set"},
       {"hot_probability", Pattern::hot_set, "hot_set"}}};
  for (const auto& [key, pattern, word] : kOf)
    if (part.contains(key) && r.pattern != pattern)
      throw InputError(origin.where, fmt::format("`{}.{}` needs pattern {}", origin.key, key, word));
}

void check_kernel(const KernelConfig& kernel, const Origin& origin) {
  double weights = 0;
  std::uint64_t widest = 0;
  for (const RegionConfig& r : kernel.regions) weights += r.weight, widest = std::max<std::uint64_t>(widest, r.accesses);
  if (weights <= 0) throw InputError(origin.where, fmt::format("`{}.regions`: all weights are 0", origin.key));
  if (std::uint64_t{kernel.memory_instructions} * kernel.warps_per_cta * widest > 1 << 26)
    throw InputError(origin.where,
                     fmt::format("`{}.memory_instructions` makes a CTA too large for memory: more than {} accesses; "
                                 "use more CTAs",
                                 origin.key, 1 << 26));
}

}  // namespace

ParametricConfig read_parametric(const std::string& path, std::uint32_t chips) {
  const json root = read_json(path, JsonKind::workload);
  ParametricConfig config;
  read_fields(config, root, {path, ""}, {"doc", "kernels"}, "the workload");
  if (config.chips == 0) config.chips = chips;
  std::map<std::string, std::pair<std::uint64_t, std::string>> sizes;  // by region: KiB, and where it was given
  for (const json& item : list_of(root, "kernels", {path, "kernels"})) {
    const Origin origin{path, fmt::format("kernels[{}]", config.kernels.size())};
    KernelConfig& kernel = config.kernels.emplace_back();
    read_fields(kernel, item, origin, {"regions", "doc"}, "the workload");
    for (const json& part : list_of(item, "regions", {path, origin.key + ".regions"})) {
      const Origin at{path, fmt::format("{}.regions[{}]", origin.key, kernel.regions.size())};
      RegionConfig& region = kernel.regions.emplace_back();
      read_fields(region, part, at, {"doc"}, "the workload");
      check_region(region, config.groups_of(kernel), at);
      check_pattern_keys(region, part, at);
      const auto [known, fresh] = sizes.try_emplace(region.name, region.size_kib, at.key);
      if (!fresh && known->second.first != region.size_kib)
        throw InputError(path, fmt::format("`{}.size_kib` = {}, but `{}` gives the same region {} KiB", at.key,
                                           region.size_kib, known->second.second, known->second.first));
    }
    check_kernel(kernel, origin);
    for (std::size_t i = 0; i < kernel.regions.size(); ++i) {
      const RegionConfig& r = kernel.regions[i];
      const auto writes_it = [&](const RegionConfig& other) {
        return other.name == r.name && other.write_fraction + other.atomic_fraction > 0;
      };
      if (r.read_only && std::ranges::any_of(kernel.regions, writes_it))
        throw InputError(path, fmt::format("`{}.regions[{}].read_only` contradicts another entry of `{}` in this kernel, "
                                           "which writes it",
                                           origin.key, i, r.name));
    }
  }
  return config;
}

}  // namespace atl
