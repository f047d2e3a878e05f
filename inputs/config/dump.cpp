#include "inputs/config/dump.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "inputs/config/link_edges.hpp"
#include "inputs/config/walk.hpp"

namespace atl {
namespace {

using nlohmann::ordered_json;

template <class T> ordered_json to_json(const T& value) {
  if constexpr (ConfigSection<T>) {
    ordered_json object = ordered_json::object();
    T::fields(value, [&](const auto& member, const Field& field) { object[std::string(field.key)] = to_json(member); });
    return object;
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(word_of(value));
  } else {
    return value;
  }
}

template <class T> std::string legal_values(const Field& field) {
  if constexpr (ConfigNumber<T>) {
    return range_text(legal_range<T>(field), field.unit);
  } else if constexpr (ConfigList<T>) {
    return "a list of whole numbers, each " + range_text(legal_range<std::uint32_t>(field), field.unit);
  } else if constexpr (std::is_same_v<T, bool>) {
    return "true or false";
  } else if constexpr (std::is_enum_v<T>) {
    return "one of the words below";
  } else {
    return "text";
  }
}

template <class Section> void explain_section(std::string& out, const Section& section, const std::string& prefix) {
  const auto line = std::back_inserter(out);
  Section::fields(section, [&]<class T>(const T& value, const Field& field) {
    const std::string key = prefix + std::string(field.key);
    if constexpr (ConfigSection<T>) {
      fmt::format_to(line, "\n[{}] {}\n", key, field.doc);
      explain_section(out, value, key + ".");
    } else {
      const ordered_json json = to_json(value);
      const std::string shown = json.is_string() ? json.get<std::string>() : json.dump();
      fmt::format_to(line, "{} = {}{}{}\n    {} ({})\n", key, shown, field.unit.empty() ? "" : " ", field.unit, field.doc,
                     legal_values<T>(field));
      if constexpr (std::is_enum_v<T>) {
        for (const auto& w : words<T>()) fmt::format_to(line, "      {}: {}\n", w.word, w.doc);
      }
    }
  });
}

/// Of the narrowest and the widest link.
std::string links(const SystemConfig& c) {
  if (c.chips == 1) return "";
  const std::vector<Wire> all = wires(c);
  const auto [least, most] = std::ranges::minmax_element(all, {}, &Wire::gbps);
  const std::string range = least->gbps == most->gbps ? "" : fmt::format("{:.4g} to ", least->gbps);
  return fmt::format("    a link, each way, of {}{:.4g} GB/s: up to {:.4g} B per cycle\n", range, most->gbps,
                     most->gbps * 1000 / c.core_clock_mhz);
}

/// What several keys come to, which is where a slip in one of them shows.
std::string peaks(const SystemConfig& c) {
  const DramTiming& t = c.dram.timing;
  const auto of_port = [&](double gbps, std::string_view what) {
    return fmt::format("    {} of {:.4g} GB/s: {:.4g} B per cycle\n", what, gbps, gbps * 1000 / c.core_clock_mhz);
  };
  return fmt::format(
             "\n[these keys come to] of a chip\n    memory: {:.4g} GB/s, {} channels of {} B in {} clocks at {:g} MHz; "
             "rcd {:.3g} ns, cl {:.3g} ns\n",
             c.dram.channels * t.burst_bytes * t.clock_mhz / t.ccd / 1000, c.dram.channels, t.burst_bytes, t.ccd,
             t.clock_mhz, t.rcd * 1000 / t.clock_mhz, t.cl * 1000 / t.clock_mhz) +
         of_port(c.noc.cluster_gbps, fmt::format("a crossbar port for {} SMs", c.noc.sms_per_cluster)) +
         of_port(c.noc.slice_gbps, "a slice's port") + of_port(c.llc.slice_gbps, "a slice") +
         (c.l2.present() ? of_port(c.l2.slice_gbps, "a slice of the L2") : "") + links(c);
}

}  // namespace

std::string effective_json(const SystemConfig& config) { return to_json(config).dump(2) + "\n"; }

std::string explain(const SystemConfig& config) {
  std::string out;
  explain_section(out, config, "");
  return out + peaks(config);
}

}  // namespace atl
