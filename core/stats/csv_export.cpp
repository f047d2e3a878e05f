#include "core/stats/csv_export.hpp"

#include <fmt/format.h>

#include "core/stats/human.hpp"
#include "core/stats/text_table.hpp"

namespace atl {
namespace {

TextTable with_columns(const std::vector<std::string>& names) {
  TextTable t;
  for (const std::string& name : names) t.columns.push_back({name, name});
  return t;
}

/// Every digit that tells a number from its neighbours.
std::string exact(double value) { return fmt::format("{}", value); }
std::string exact(std::uint64_t value) { return fmt::format("{}", value); }
/// A kernel that a stopped run did not come to has no such cycle.
std::string cycle(Cycle at) { return at == kNever ? "" : exact(at); }

std::vector<std::string> counters_after(std::vector<std::string> names) {
  for (const CounterInfo& c : counter_table()) names.emplace_back(c.name);
  return names;
}

std::string kernels(const RunResult& r) {
  TextTable t = with_columns({"kernel", "name", "ctas", "launched", "started", "finished"});
  for (std::size_t k = 0; k < r.kernels.size(); ++k) {
    const KernelResult& x = r.kernels[k];
    t.rows.push_back({exact(k), x.name, exact(x.ctas), cycle(x.launched), cycle(x.started), cycle(x.finished)});
  }
  return csv(t);
}

std::string series(const RunResult& r) {
  TextTable t = with_columns(counters_after({"begin_cycle", "end_cycle", "chip"}));
  Cycle begin = 0;
  for (const Sample& s : r.samples) {
    for (std::size_t c = 0; c < s.chips.size(); ++c) {
      TextTable::Row row{exact(begin), exact(s.end), exact(c)};
      for (const std::uint64_t value : s.chips[c].value) row.emplace_back(exact(value));
      t.rows.push_back(std::move(row));
    }
    begin = s.end;
  }
  return csv(t);
}

std::string totals(const RunResult& r) {
  TextTable t = with_columns(counters_after({"chip"}));
  for (std::size_t c = 0; c < r.chips.size(); ++c) {
    TextTable::Row row{exact(c)};
    for (const std::uint64_t value : r.chips[c].totals.value) row.emplace_back(exact(value));
    t.rows.push_back(std::move(row));
  }
  return csv(t);
}

std::string stack(const RunResult& r) {
  std::vector<std::string> names{"kernel", "chip"};
  for (const StackPartInfo& p : stack_parts()) names.emplace_back(p.name);
  TextTable t = with_columns(names);
  for (std::size_t k = 0; k < r.stack.size(); ++k) {
    for (std::size_t c = 0; c < r.stack[k].size(); ++c) {
      TextTable::Row row{exact(k), exact(c)};
      for (const double cycles : r.stack[k][c].cycles) row.emplace_back(exact(cycles));
      t.rows.push_back(std::move(row));
    }
  }
  return csv(t);
}

struct PartCount {
  const char* name;
  std::vector<std::uint64_t> ChipResult::*of;
};

/// Counts of each of a chip's parts; those that an older result lacks are left out.
std::string parts(const RunResult& r, const char* part, std::vector<PartCount> counts) {
  std::erase_if(counts, [&](const PartCount& n) { return !r.chips.empty() && (r.chips[0].*n.of).empty(); });
  std::vector<std::string> names{"chip", part};
  for (const PartCount& n : counts) names.emplace_back(n.name);
  TextTable t = with_columns(names);
  for (std::size_t c = 0; c < r.chips.size() && !counts.empty(); ++c) {
    for (std::size_t i = 0; i < (r.chips[c].*counts[0].of).size(); ++i) {
      TextTable::Row row{exact(c), exact(i)};
      for (const PartCount& n : counts) row.emplace_back(exact((r.chips[c].*n.of)[i]));
      t.rows.push_back(std::move(row));
    }
  }
  return csv(t);
}

std::string latency(const RunResult& r) {
  TextTable t = with_columns({"chip", "origin", "least_cycles", "loads"});
  for (std::size_t c = 0; c < r.chips.size(); ++c)
    for (std::size_t o = 0; o < kOrigins; ++o)
      for (std::size_t b = 0; b < kLatencyBuckets; ++b)
        t.rows.push_back(
            {exact(c), std::string(kOriginNames[o]), exact(std::uint64_t{1} << b), exact(r.chips[c].latency[o][b])});
  return csv(t);
}

std::string energy(const RunResult& r) {
  TextTable t = with_columns({"chip", "component", "joules"});
  for (std::size_t c = 0; c < r.chips.size(); ++c)
    for (const EnergyInfo& e : energy_table())
      t.rows.push_back({exact(c), std::string(e.name), exact(r.chips[c].energy[e.id])});
  return csv(t);
}

std::string energy_prices(const RunResult& r) {
  TextTable t = with_columns({"price", "joules", "factor"});
  for (const PricedEnergy& p : r.energy_prices) t.rows.push_back({p.key, exact(p.joules), exact(p.factor)});
  return csv(t);
}

std::string sampled_figures(const RunResult& r) {
  TextTable t = with_columns({"figure", "value", "half_width"});
  for (const SampledFigure& f : r.sampling->figures) t.rows.push_back({f.name, exact(f.value), exact(f.half_width)});
  return csv(t);
}

std::string sampled_launches(const RunResult& r) {
  TextTable t = with_columns({"kernel", "cluster", "simulated", "cycles", "half_width"});
  for (std::size_t k = 0; k < r.sampling->launches.size(); ++k) {
    const SampledLaunch& l = r.sampling->launches[k];
    t.rows.push_back({exact(k), exact(l.cluster), exact(std::uint64_t{l.simulated}), exact(l.cycles), exact(l.half_width)});
  }
  return csv(t);
}

/// By epoch and the length of its windows; without an epoch: what the whole run accessed.
std::string sharing(const RunResult& r) {
  std::vector<std::string> names{"epoch", "window_cycles"};
  for (const SharedBytesColumn& column : kSharedBytesColumns) names.emplace_back(column.name);
  TextTable t = with_columns(names);
  const auto add = [&](const std::string& epoch, const std::string& window, const SharedBytes& bytes) {
    TextTable::Row row{epoch, window};
    for (const SharedBytesColumn& column : kSharedBytesColumns) row.emplace_back(exact(bytes.*column.field));
    t.rows.push_back(std::move(row));
  };
  add("", "", r.sharing->footprint);
  for (std::size_t e = 0; e < r.sharing->epochs.size(); ++e)
    for (std::size_t w = 0; w < kSharingWindows; ++w)
      add(exact(e), exact(sharing_window(r.sharing->epoch_cycles, w)), r.sharing->epochs[e][w]);
  return csv(t);
}

std::string sm_sharing(const RunResult& r) {
  std::vector<std::string> names{"kernel"};
  for (const SmSharingColumn& column : kSmSharingColumns) names.emplace_back(column.name);
  TextTable t = with_columns(names);
  for (std::size_t k = 0; k < r.sm_sharing->kernels.size(); ++k) {
    TextTable::Row row{exact(k)};
    for (const SmSharingColumn& column : kSmSharingColumns) row.emplace_back(exact(r.sm_sharing->kernels[k].*column.field));
    t.rows.push_back(std::move(row));
  }
  return csv(t);
}

/// One row per value; a decision without values has one row.
std::string decisions(const RunResult& r) {
  TextTable t = with_columns({"decision", "kernel", "cycle", "choice", "name", "value"});
  for (std::size_t i = 0; i < r.decisions.size(); ++i) {
    const Decision& d = r.decisions[i];
    const TextTable::Row head{exact(i), exact(d.kernel), exact(d.cycle), d.choice};
    auto add = [&](const std::string& name, const std::string& value) {
      TextTable::Row row = head;
      row.emplace_back(name), row.emplace_back(value);
      t.rows.push_back(std::move(row));
    };
    if (d.values.empty()) add("", "");
    for (const auto& [name, value] : d.values) add(name, exact(value));
  }
  return csv(t);
}

std::string address(ByteAddr at) { return fmt::format("{:#x}", at); }

/// One row for each kernel, structure and chip: what a chip did not use has none.
std::string structures(const RunResult& r) {
  std::vector<std::string> names{"kernel", "structure", "name", "address", "bytes", "chip"};
  for (const UseInfo& use : kUseTable) names.emplace_back(use.name);
  TextTable t = with_columns(names);
  for (const auto& row : r.structures->use) {
    const DataStructure& s = r.structures->structures[row.structure];
    for (std::size_t c = 0; c < row.chips.size(); ++c) {
      if (row.chips[c] == UseCounts{}) continue;
      TextTable::Row cells{exact(row.kernel), exact(row.structure), s.name, address(s.address), exact(s.bytes), exact(c)};
      for (const std::uint64_t n : row.chips[c]) cells.emplace_back(exact(n));
      t.rows.push_back(std::move(cells));
    }
  }
  return csv(t);
}

std::string homes(const RunResult& r) {
  TextTable t = with_columns({"structure", "name", "chip", "home", "requests"});
  auto n = r.structures->homes.begin();
  for (std::size_t s = 0; s < r.structures->structures.size(); ++s)
    for (std::size_t c = 0; c < r.chips.size(); ++c)
      for (std::size_t h = 0; h < r.chips.size(); ++h)
        t.rows.push_back({exact(s), r.structures->structures[s].name, exact(c), exact(h), exact(*n++)});
  return csv(t);
}

std::string provenance(const RunResult& r) {
  const Provenance& p = r.provenance;
  TextTable t = with_columns({"name", "value"});
  const auto add = [&](const char* name, const std::string& value) { t.rows.push_back({std::string(name), value}); };
  for (const ProvenanceText& text : kProvenanceTexts) add(text.name, p.*text.field);
  add("cycles", exact(r.cycles));
  add("complete", r.complete ? "1" : "0");
  add("digest", hex(r.digest));
  return csv(t);
}

}  // namespace

std::vector<CsvFile> csv_tables(const RunResult& r) {
  std::vector<CsvFile> out{
      {"kernels.csv", kernels(r)},
      {"series.csv", series(r)},
      {"totals.csv", totals(r)},
      {"slices.csv", parts(r, "slice",
                           {{"accesses", &ChipResult::slice_accesses},
                            {"hits", &ChipResult::slice_hits},
                            {"requests", &ChipResult::slice_requests},
                            {"queue_cycles", &ChipResult::slice_queue_cycles},
                            {"miss_cycles", &ChipResult::slice_miss_cycles}})},
      {"channels.csv",
       parts(r, "channel", {{"reads", &ChipResult::channel_reads}, {"writes", &ChipResult::channel_writes}})},
      {"latency.csv", latency(r)},
      {"energy.csv", energy(r)},
      {"provenance.csv", provenance(r)}};
  if (!r.stack.empty()) out.push_back({"stack.csv", stack(r)});
  if (!r.decisions.empty()) out.push_back({"decisions.csv", decisions(r)});
  if (r.structures) out.push_back({"structures.csv", structures(r)}), out.push_back({"homes.csv", homes(r)});
  if (!r.energy_prices.empty()) out.push_back({"energy_prices.csv", energy_prices(r)});
  if (r.sharing) out.push_back({"sharing.csv", sharing(r)});
  if (r.sm_sharing) out.push_back({"sm_sharing.csv", sm_sharing(r)});
  if (r.sampling) {
    out.push_back({"sampled_figures.csv", sampled_figures(r)});
    out.push_back({"sampled_launches.csv", sampled_launches(r)});
  }
  return out;
}

}  // namespace atl
