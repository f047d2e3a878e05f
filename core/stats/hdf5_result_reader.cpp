#include "core/stats/hdf5_result_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "core/engine/error.hpp"
#include "core/engine/hdf5_memory.hpp"
#include "core/stats/hdf5_helpers.hpp"
#include "core/stats/result_file.hpp"

namespace atl {
namespace {

using Values = ResultFile::Values;
using Dims = ResultFile::Dims;

constexpr hsize_t kAny = ResultFile::kAny;
constexpr std::size_t kMostChips = 64;  ///< `chips` of a system

void check_schema(const ResultFile& file) {
  const auto schema = file.text("/", "schema");
  if (schema != hdf5::kSchema) file.fail(fmt::format("has schema \"{}\" instead of \"{}\"", schema, hdf5::kSchema));
  const auto version = file.number("/", "schema_version");
  if (version < hdf5::kOldestVersion || version > hdf5::kSampledVersion) {
    file.fail(fmt::format("has schema version {}; this Atoll reads versions {} to {}", version, hdf5::kOldestVersion,
                          hdf5::kSampledVersion));
  }
}

Provenance read_provenance(const ResultFile& file) {
  Provenance p;
  for (const auto& [name, field, optional] : kProvenanceTexts)
    if (!optional || file.has_attribute("/provenance", name)) p.*field = file.text("/provenance", name);
  p.hosts = file.text_list("/provenance", "hosts");
  p.host_seconds = file.real("/provenance", "host_seconds");
  p.events = file.number("/provenance", "events");
  if (file.has_attribute("/provenance", "link_bytes_per_cycle"))
    p.link_bytes_per_cycle = file.real("/provenance", "link_bytes_per_cycle");
  if (file.has_attribute("/provenance", "links_of_chips"))
    p.links_of_chips = file.list<double>("/provenance", "links_of_chips", H5T_FLOAT);
  if (file.has_attribute("/provenance", "llc_chips"))
    p.llc_chips = file.list<std::uint64_t>("/provenance", "llc_chips", H5T_INTEGER);
  if (file.has_attribute("/provenance", "moves")) p.moves = file.number("/provenance", "moves");
  if (file.number("/", "schema_version") < 4) return p;
  p.windows = file.number("/provenance", "windows");
  p.wait_shares = file.list<double>("/provenance", "wait_shares", H5T_FLOAT);
  p.process_events = file.list<std::uint64_t>("/provenance", "process_events", H5T_INTEGER);
  return p;
}

std::vector<KernelResult> read_kernels(const ResultFile& file) {
  auto names = file.text_column("/kernels/name");
  std::vector<KernelResult> kernels(names.size());
  for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].name = std::move(names[k]);
  for (const auto& column : hdf5::kKernelColumns) {
    const auto values = file.counts(fmt::format("/kernels/{}", column.name), {kernels.size()});
    for (std::size_t k = 0; k < kernels.size(); ++k) kernels[k].*column.field = values[k];
  }
  return kernels;
}

std::vector<Decision> read_decisions(const ResultFile& file) {
  auto choices = file.text_column("/decisions/choice");
  std::vector<Decision> decisions(choices.size());
  const auto kernels = file.counts("/decisions/kernel", {decisions.size()});
  const auto cycles = file.counts("/decisions/cycle", {decisions.size()});
  for (std::size_t i = 0; i < decisions.size(); ++i) decisions[i] = {kernels[i], cycles[i], std::move(choices[i]), {}};
  for (const std::string& name : file.names_in("/decisions/values")) {
    const auto column = file.reals("/decisions/values/" + name, {decisions.size()});
    for (std::size_t i = 0; i < decisions.size(); ++i) {
      if (!std::isnan(column[i])) decisions[i].values.emplace_back(name, column[i]);
    }
  }
  return decisions;
}

/// The counters of today that the file has. One that only one of the two groups has counts as well: its dataset in the other
/// is missing, and reading it says so.
std::vector<CounterInfo> counters_in(const ResultFile& file) {
  const auto totals = file.names_in("/totals"), series = file.names_in("/series");
  std::vector<CounterInfo> out;
  for (const CounterInfo& counter : counter_table()) {
    const auto among = [&](const auto& names) { return std::ranges::find(names, counter.name) != names.end(); };
    if (among(totals) || among(series)) out.push_back(counter);
  }
  return out;
}

std::vector<Counter> not_among(const std::vector<CounterInfo>& counters) {
  std::vector<Counter> out;
  for (const CounterInfo& counter : counter_table())
    if (std::ranges::find(counters, counter.id, &CounterInfo::id) == counters.end()) out.push_back(counter.id);
  return out;
}

std::vector<ChipResult> read_chips(const ResultFile& file, const std::vector<CounterInfo>& counters) {
  Dims dims{kAny, kAny};
  file.counts(fmt::format("/{}", hdf5::kPartArrays[0].path), dims);
  if (dims[0] > kMostChips) file.fail(fmt::format("has {} chips; a system has at most {}", dims[0], kMostChips));
  std::vector<ChipResult> chips(dims[0]);
  for (const auto& counter : counters) {
    const auto values = file.counts(fmt::format("/totals/{}", counter.name), {chips.size()});
    for (std::size_t c = 0; c < chips.size(); ++c) chips[c].totals[counter.id] = values[c];
  }
  const auto version = file.number("/", "schema_version");
  for (const auto& array : hdf5::kPartArrays) {
    if (version < array.since) continue;
    Dims shape{chips.size(), kAny};
    const auto values = file.counts(fmt::format("/{}", array.path), shape);
    for (std::size_t c = 0; c < chips.size(); ++c) {
      const auto first = values.begin() + static_cast<std::ptrdiff_t>(c * shape[1]);
      (chips[c].*array.field).assign(first, first + static_cast<std::ptrdiff_t>(shape[1]));
    }
  }
  for (std::size_t origin = 0; origin < kOrigins; ++origin) {
    const std::string path = fmt::format("/latency/{}", kOriginNames[origin]);
    if (hdf5::is_of_l2(kOriginNames[origin]) && !file.has(path)) continue;
    const auto values = file.counts(path, {chips.size(), kLatencyBuckets});
    for (std::size_t c = 0; c < chips.size(); ++c) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(c * kLatencyBuckets), kLatencyBuckets,
                  chips[c].latency[origin].begin());
    }
  }
  for (const auto& component : energy_table()) {
    if (hdf5::is_of_l2(component.name) && !file.has(hdf5::energy_path(component))) continue;
    const auto joules = file.reals(hdf5::energy_path(component), {chips.size()});
    for (std::size_t c = 0; c < chips.size(); ++c) chips[c].energy[component.id] = joules[c];
  }
  return chips;
}

std::vector<PricedEnergy> read_energy_prices(const ResultFile& file) {
  auto keys = file.text_column("/energy_prices/key");
  const auto joules = file.reals("/energy_prices/joules", {keys.size()});
  const auto factors = file.reals("/energy_prices/factor", {keys.size()});
  std::vector<PricedEnergy> prices;
  for (std::size_t i = 0; i < keys.size(); ++i) prices.push_back({std::move(keys[i]), joules[i], factors[i]});
  return prices;
}

std::vector<Sample> read_samples(const ResultFile& file, const std::vector<CounterInfo>& counters, std::size_t chips) {
  Dims dims{kAny};
  const auto ends = file.counts("/series/end_cycle", dims);
  for (const auto& counter : counters) file.check_counts(fmt::format("/series/{}", counter.name), {ends.size(), chips});
  std::vector<Sample> samples(ends.size());
  for (std::size_t s = 0; s < samples.size(); ++s) samples[s] = {ends[s], std::vector<Counters>(chips)};
  for (const auto& counter : counters) {
    const auto values = file.counts(fmt::format("/series/{}", counter.name), {samples.size(), chips});
    auto value = values.begin();
    for (auto& sample : samples) {
      for (auto& chip : sample.chips) chip[counter.id] = *value++;
    }
  }
  return samples;
}

StackResult read_stack(const ResultFile& file, std::size_t kernels, std::size_t chips) {
  StackResult stack(kernels, std::vector<Stack>(chips));
  for (const StackPartInfo& part : stack_parts()) {
    const std::string path = fmt::format("/stack/{}", part.name);
    if (hdf5::is_of_l2(part.name) && !file.has(path)) continue;
    const auto cycles = file.reals(path, {kernels, chips});
    auto value = cycles.begin();
    for (auto& kernel : stack)
      for (Stack& s : kernel) s[part.id] = *value++;
  }
  return stack;
}

StructuresResult read_structures(const ResultFile& file, std::size_t kernels, std::size_t chips) {
  StructuresResult r;
  auto names = file.text_column("/structures/name");
  const hsize_t n = names.size();
  const auto addresses = file.counts("/structures/address", {n}), bytes = file.counts("/structures/bytes", {n});
  for (std::size_t s = 0; s < n; ++s) r.structures.push_back({std::move(names[s]), addresses[s], bytes[s]});
  r.homes = file.counts("/structures/homes", {n, chips, chips});
  Dims rows{kAny};
  const auto of_kernel = file.counts("/structures/use/kernel", rows);
  const auto of_structure = file.counts("/structures/use/structure", {rows[0]});
  const auto absent = [&](std::string_view use) {
    return hdf5::is_of_l2(use) && !file.has(fmt::format("/structures/use/{}", use));
  };
  for (const UseInfo& use : kUseTable)
    if (!absent(use.name)) file.check_counts(fmt::format("/structures/use/{}", use.name), {rows[0], chips});
  for (std::size_t i = 0; i < rows[0]; ++i) {
    if (of_kernel[i] >= kernels || of_structure[i] >= n)
      file.fail(fmt::format("row {} of /structures/use is of a kernel or structure that the file does not have", i));
    r.use.push_back({of_kernel[i], of_structure[i], std::vector<UseCounts>(chips)});
  }
  for (std::size_t u = 0; u < kUses; ++u) {
    if (absent(kUseTable[u].name)) continue;
    const auto values = file.counts(fmt::format("/structures/use/{}", kUseTable[u].name), {rows[0], chips});
    auto value = values.begin();
    for (auto& row : r.use)
      for (UseCounts& chip : row.chips) chip[u] = *value++;
  }
  return r;
}

SharingResult read_sharing(const ResultFile& file) {
  SharingResult sharing;
  sharing.epoch_cycles = file.counts("/sharing/window_cycles", {kSharingWindows}).back();
  Dims dims{kAny, kSharingWindows};
  file.counts(fmt::format("/sharing/windows/{}", kSharedBytesColumns[0].name), dims);
  sharing.epochs.resize(dims[0]);
  for (const auto& column : kSharedBytesColumns) {
    sharing.footprint.*column.field = file.counts(fmt::format("/sharing/footprint/{}", column.name), {1})[0];
    const auto values = file.counts(fmt::format("/sharing/windows/{}", column.name), {dims[0], kSharingWindows});
    auto value = values.begin();
    for (auto& epoch : sharing.epochs) {
      for (auto& window : epoch) window.*column.field = *value++;
    }
  }
  return sharing;
}

SmSharingResult read_sm_sharing(const ResultFile& file) {
  SmSharingResult sharing;
  sharing.window_cycles = file.counts("/sm_sharing/window_cycles", {1})[0];
  sharing.line_bytes = static_cast<std::uint32_t>(file.counts("/sm_sharing/line_bytes", {1})[0]);
  Dims dims{kAny};
  file.counts(fmt::format("/sm_sharing/{}", kSmSharingColumns[0].name), dims);
  sharing.kernels.resize(dims[0]);
  for (const SmSharingColumn& column : kSmSharingColumns) {
    const auto values = file.counts(fmt::format("/sm_sharing/{}", column.name), {dims[0]});
    for (std::size_t k = 0; k < values.size(); ++k) sharing.kernels[k].*column.field = values[k];
  }
  return sharing;
}

SamplingResult read_sampling(const ResultFile& file, std::size_t kernels) {
  SamplingResult s;
  s.error = file.real("/sampling", "error"), s.confidence = file.real("/sampling", "confidence");
  s.work = file.real("/sampling", "work"), s.simulated_work = file.real("/sampling", "simulated_work");
  auto names = file.text_column("/sampling/figures/name");
  const auto values = file.reals("/sampling/figures/value", {names.size()});
  const auto halves = file.reals("/sampling/figures/half_width", {names.size()});
  for (std::size_t i = 0; i < names.size(); ++i) s.figures.push_back({std::move(names[i]), values[i], halves[i]});
  const auto check_cycles = [&](double n) {
    if (!(n >= 0 && n < static_cast<double>(kNever))) file.fail("/sampling has cycles that no run takes");
  };
  if (s.find("cycles") == nullptr) file.fail("/sampling/figures has no cycles");
  check_cycles(s.find("cycles")->value);
  const auto clusters = file.counts("/sampling/launches/cluster", {kernels});
  const auto simulated = file.counts("/sampling/launches/simulated", {kernels});
  const auto cycles = file.reals("/sampling/launches/cycles", {kernels});
  const auto half = file.reals("/sampling/launches/half_width", {kernels});
  for (std::size_t k = 0; k < kernels; ++k) {
    check_cycles(cycles[k]);
    s.launches.push_back({clusters[k], simulated[k] != 0, cycles[k], half[k]});
  }
  return s;
}

}  // namespace

RunResult read_result(const std::string& path, Unsealed unsealed) {
  hdf5::silence();
  try {
    const ResultFile file(path, unsealed);
    check_schema(file);
    RunResult result;
    result.cycles = file.number("/", "cycles");
    result.complete = file.number("/", "complete") != 0;
    result.digest = file.number("/", "digest");
    result.provenance = read_provenance(file);
    result.kernels = read_kernels(file);
    result.decisions = read_decisions(file);
    const auto counters = counters_in(file);
    result.not_in_file = not_among(counters);
    result.chips = read_chips(file, counters);
    result.samples = read_samples(file, counters, result.chips.size());
    if (file.has("/energy_prices")) result.energy_prices = read_energy_prices(file);
    if (file.has("/stack")) result.stack = read_stack(file, result.kernels.size(), result.chips.size());
    if (file.has("/structures")) result.structures = read_structures(file, result.kernels.size(), result.chips.size());
    if (file.has("/sharing")) result.sharing = read_sharing(file);
    if (file.has("/sm_sharing")) result.sm_sharing = read_sm_sharing(file);
    if (file.number("/", "schema_version") >= hdf5::kSampledVersion)
      result.sampling = read_sampling(file, result.kernels.size());
    return result;
  } catch (const H5::Exception& e) {
    throw_if_hdf5_lacks_memory();
    throw InputError(path, fmt::format("is damaged: {} ({})", e.getDetailMsg(), e.getFuncName()));
  } catch (const std::length_error&) {
    throw InputError(path, "is damaged: something in it is said to be larger than any memory");
  }
}

}  // namespace atl
