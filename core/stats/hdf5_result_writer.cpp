#include "core/stats/hdf5_result_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "core/engine/error.hpp"
#include "core/engine/hdf5_memory.hpp"
#include "core/stats/durable_file.hpp"
#include "core/stats/file_seal.hpp"
#include "core/stats/hdf5_helpers.hpp"

namespace atl {
namespace {

using Dims = std::vector<hsize_t>;
using Values = std::vector<std::uint64_t>;

bool all_zero(const auto& values) {
  return std::ranges::all_of(values, [](auto v) { return v == 0; });
}

constexpr hsize_t kChunkRows = 4096;
constexpr hsize_t kSmall = 512;  ///< values; below this a chunk index costs more than deflate saves
constexpr int kDeflateLevel = 4;

void set_text(const H5::H5Object& object, const char* name, const std::string& text) {
  const auto type = hdf5::text_type();
  object.createAttribute(name, type, H5::DataSpace(H5S_SCALAR)).write(type, text);
}

void set_number(const H5::H5Object& object, const char* name, std::uint64_t number) {
  const auto attribute = object.createAttribute(name, H5::PredType::STD_U64LE, H5::DataSpace(H5S_SCALAR));
  attribute.write(H5::PredType::NATIVE_UINT64, &number);
}

void set_real(const H5::H5Object& object, const char* name, double number) {
  const auto attribute = object.createAttribute(name, H5::PredType::IEEE_F64LE, H5::DataSpace(H5S_SCALAR));
  attribute.write(H5::PredType::NATIVE_DOUBLE, &number);
}

template <class T> void set_list(const H5::H5Object& object, const char* name, const std::vector<T>& values) {
  constexpr bool whole = std::is_same_v<T, std::uint64_t>;
  static_assert(whole || std::is_same_v<T, double>);
  const hsize_t n = values.size();
  const auto attribute =
      object.createAttribute(name, whole ? H5::PredType::STD_U64LE : H5::PredType::IEEE_F64LE, H5::DataSpace(1, &n));
  if (n != 0) attribute.write(whole ? H5::PredType::NATIVE_UINT64 : H5::PredType::NATIVE_DOUBLE, values.data());
}

H5::DSetCreatPropList layout(const Dims& dims) {
  H5::DSetCreatPropList list;
  // The library would stamp every dataset with the time of day: files of equal content are to be equal.
  H5Pset_obj_track_times(list.getId(), false);
  hsize_t values = 1;
  for (hsize_t d : dims) values *= d;
  if (values < kSmall) return list;
  Dims chunk = dims;
  chunk[0] = std::min(chunk[0], kChunkRows);
  list.setChunk(static_cast<int>(chunk.size()), chunk.data());
  list.setShuffle();
  list.setDeflate(kDeflateLevel);
  return list;
}

void describe(const H5::DataSet& set, std::string_view unit, std::string_view doc) {
  set_text(set, "unit", std::string(unit));
  set_text(set, "doc", std::string(doc));
}

void put(const H5::Group& group, std::string_view name, const Dims& dims, const Values& values, std::string_view unit,
         std::string_view doc) {
  const H5::DataSpace space(static_cast<int>(dims.size()), dims.data());
  const auto set = group.createDataSet(std::string(name), H5::PredType::STD_U64LE, space, layout(dims));
  if (!values.empty()) set.write(values.data(), H5::PredType::NATIVE_UINT64);
  describe(set, unit, doc);
}

H5::DataSet put_reals(const H5::Group& group, std::string_view name, const Dims& dims, const std::vector<double>& values) {
  const H5::DataSpace space(static_cast<int>(dims.size()), dims.data());
  const auto set = group.createDataSet(std::string(name), H5::PredType::IEEE_F64LE, space, layout(dims));
  if (!values.empty()) set.write(values.data(), H5::PredType::NATIVE_DOUBLE);
  return set;
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> out;
  for (const auto& text : texts) out.push_back(text.c_str());
  return out;
}

void put_texts(const H5::Group& group, const char* name, const std::vector<std::string>& texts) {
  const hsize_t n = texts.size();
  const auto set = group.createDataSet(name, hdf5::text_type(), H5::DataSpace(1, &n), layout({0}));
  if (n != 0) set.write(static_cast<const void*>(pointers(texts).data()), hdf5::text_type());
}

void write_provenance(const H5::H5File& file, const Provenance& p) {
  const auto group = file.createGroup("provenance");
  for (const auto& [name, field, optional] : kProvenanceTexts)
    if (!optional || !(p.*field).empty()) set_text(group, name, p.*field);
  set_number(group, "events", p.events);
  set_real(group, "host_seconds", p.host_seconds);
  if (p.link_bytes_per_cycle != 0) set_real(group, "link_bytes_per_cycle", p.link_bytes_per_cycle);
  if (!p.links_of_chips.empty()) set_list(group, "links_of_chips", p.links_of_chips);
  if (!p.llc_chips.empty()) set_list(group, "llc_chips", p.llc_chips);
  set_number(group, "windows", p.windows);
  if (p.moves != 0) set_number(group, "moves", p.moves);
  set_list(group, "process_events", p.process_events);
  set_list(group, "wait_shares", p.wait_shares);
  const hsize_t ranks = p.hosts.size();
  const auto hosts = group.createAttribute("hosts", hdf5::text_type(), H5::DataSpace(1, &ranks));
  if (ranks != 0) hosts.write(hdf5::text_type(), static_cast<const void*>(pointers(p.hosts).data()));
}

void write_kernels(const H5::H5File& file, const std::vector<KernelResult>& kernels) {
  const auto group = file.createGroup("kernels");
  const hsize_t n = kernels.size();
  std::vector<std::string> names;
  for (const auto& kernel : kernels) names.push_back(kernel.name);
  put_texts(group, "name", names);
  for (const auto& column : hdf5::kKernelColumns) {
    Values values;
    for (const auto& kernel : kernels) values.push_back(kernel.*column.field);
    put(group, column.name, {n}, values, column.unit, column.doc);
  }
}

void write_series(const H5::H5File& file, const std::vector<Sample>& samples, std::size_t chips) {
  const auto group = file.createGroup("series");
  Values ends;
  for (const auto& sample : samples) ends.push_back(sample.end);
  put(group, "end_cycle", {samples.size()}, ends, "cycles", "end of each sampling period, exclusive");
  Values values(samples.size() * chips);
  for (const auto& counter : counter_table()) {
    auto out = values.begin();
    for (const auto& sample : samples) {
      for (const auto& chip : sample.chips) *out++ = chip[counter.id];
    }
    put(group, counter.name, {samples.size(), chips}, values, counter.unit, counter.doc);
  }
}

void write_chips(const H5::H5File& file, const std::vector<ChipResult>& chips) {
  const auto totals = file.createGroup("totals");
  for (const auto& counter : counter_table()) {
    Values values;
    for (const auto& chip : chips) values.push_back(chip.totals[counter.id]);
    put(totals, counter.name, {chips.size()}, values, counter.unit, counter.doc);
  }
  file.createGroup("slices");
  file.createGroup("channels");
  const auto root = file.openGroup("/");
  for (const auto& array : hdf5::kPartArrays) {
    Values values;
    for (const auto& chip : chips) std::ranges::copy(chip.*array.field, std::back_inserter(values));
    const std::size_t parts = chips.empty() ? 0 : (chips[0].*array.field).size();
    put(root, array.path, {chips.size(), parts}, values, array.unit, array.doc);
  }
  const auto latency = file.createGroup("latency");
  for (std::size_t origin = 0; origin < kOrigins; ++origin) {
    Values values;
    for (const auto& chip : chips) std::ranges::copy(chip.latency[origin], std::back_inserter(values));
    if (hdf5::is_of_l2(kOriginNames[origin]) && all_zero(values)) continue;
    put(latency, kOriginNames[origin], {chips.size(), kLatencyBuckets}, values, "loads",
        "loads by L1-miss latency; bucket b holds latencies from 2^b to 2^(b+1)-1 cycles");
  }
}

void write_energy(const H5::H5File& file, const std::vector<ChipResult>& chips) {
  file.createGroup("energy");
  const hsize_t n = chips.size();
  for (const auto& component : energy_table()) {
    std::vector<double> joules;
    for (const auto& chip : chips) joules.push_back(chip.energy[component.id]);
    if (hdf5::is_of_l2(component.name) && all_zero(joules)) continue;
    describe(put_reals(file, hdf5::energy_path(component), {n}, joules), "J", component.doc);
  }
}

void write_energy_prices(const H5::H5File& file, const std::vector<PricedEnergy>& prices) {
  const auto group = file.createGroup("energy_prices");
  const hsize_t n = prices.size();
  std::vector<std::string> keys;
  std::vector<double> joules, factors;
  for (const auto& p : prices) keys.push_back(p.key), joules.push_back(p.joules), factors.push_back(p.factor);
  put_texts(group, "key", keys);
  set_text(put_reals(group, "joules", {n}, joules), "unit", "J");
  put_reals(group, "factor", {n}, factors);
}

void write_stack(const H5::H5File& file, const StackResult& stack) {
  const auto group = file.createGroup("stack");
  const Dims dims{stack.size(), stack[0].size()};
  for (const StackPartInfo& part : stack_parts()) {
    std::vector<double> cycles;
    for (const auto& chips : stack)
      for (const Stack& s : chips) cycles.push_back(s[part.id]);
    if (hdf5::is_of_l2(part.name) && all_zero(cycles)) continue;
    describe(put_reals(group, part.name, dims, cycles), "cycles", part.doc);
  }
}

/// Which values a decision rests on depends on the policy: one column each, NaN where a decision has no such value.
void write_decisions(const H5::H5File& file, const std::vector<Decision>& decisions) {
  const auto group = file.createGroup("decisions");
  const hsize_t n = decisions.size();
  Values kernels, cycles;
  std::vector<std::string> choices, names;
  for (const Decision& d : decisions) {
    kernels.push_back(d.kernel), cycles.push_back(d.cycle), choices.push_back(d.choice);
    for (const auto& [name, value] : d.values) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    }
  }
  put(group, "kernel", {n}, kernels, "index", "kernel that the decision was taken in, an index into /kernels");
  put(group, "cycle", {n}, cycles, "cycles", "end of the epoch that the decision rests on");
  put_texts(group, "choice", choices);
  const auto columns = group.createGroup("values");
  for (const std::string& name : names) {
    std::vector<double> column(n, std::numeric_limits<double>::quiet_NaN());
    for (std::size_t i = 0; i < n; ++i) {
      for (const auto& [key, value] : decisions[i].values) {
        if (key == name) column[i] = value;
      }
    }
    put_reals(columns, name, {n}, column);
  }
}

void write_sharing(const H5::H5File& file, const SharingResult& sharing) {
  const auto group = file.createGroup("sharing");
  Values windows;
  for (std::size_t w = 0; w < kSharingWindows; ++w) windows.push_back(sharing_window(sharing.epoch_cycles, w));
  put(group, "window_cycles", {windows.size()}, windows, "cycles", "lengths of the windows; the last one is an epoch");
  const auto footprint = group.createGroup("footprint"), working_set = group.createGroup("windows");
  for (const auto& column : kSharedBytesColumns) {
    put(footprint, column.name, {1}, {sharing.footprint.*column.field}, "bytes", column.doc);
    Values values;
    for (const auto& epoch : sharing.epochs) {
      for (const auto& window : epoch) values.push_back(window.*column.field);
    }
    put(working_set, column.name, {sharing.epochs.size(), kSharingWindows}, values, "bytes", column.doc);
  }
}

void write_sm_sharing(const H5::H5File& file, const SmSharingResult& sharing) {
  const auto group = file.createGroup("sm_sharing");
  put(group, "window_cycles", {1}, {sharing.window_cycles}, "cycles", "length of the windows");
  put(group, "line_bytes", {1}, {sharing.line_bytes}, "bytes", "size of a line");
  for (const SmSharingColumn& column : kSmSharingColumns) {
    Values values;
    for (const SmSharing& kernel : sharing.kernels) values.push_back(kernel.*column.field);
    put(group, column.name, {values.size()}, values, column.unit, column.doc);
  }
}

void write_structures(const H5::H5File& file, const StructuresResult& r, std::size_t chips) {
  const auto group = file.createGroup("structures");
  const hsize_t n = r.structures.size(), rows = r.use.size();
  std::vector<std::string> names;
  Values addresses, bytes, kernels, structures;
  for (const DataStructure& s : r.structures)
    names.push_back(s.name), addresses.push_back(s.address), bytes.push_back(s.bytes);
  put_texts(group, "name", names);
  put(group, "address", {n}, addresses, "bytes", "first byte; the last structure stands for all other addresses");
  put(group, "bytes", {n}, bytes, "bytes", "size");
  put(group, "homes", {n, chips, chips}, r.homes, "requests", "requests of a chip, by the home of what it asked for");
  for (const auto& row : r.use) kernels.push_back(row.kernel), structures.push_back(row.structure);
  const auto use = group.createGroup("use");
  put(use, "kernel", {rows}, kernels, "index", "an index into /kernels");
  put(use, "structure", {rows}, structures, "index", "an index into /structures/name");
  for (std::size_t u = 0; u < kUses; ++u) {
    Values values;
    for (const auto& row : r.use)
      for (const UseCounts& chip : row.chips) values.push_back(chip[u]);
    if (hdf5::is_of_l2(kUseTable[u].name) && all_zero(values)) continue;
    put(use, kUseTable[u].name, {rows, chips}, values, kUseTable[u].unit, kUseTable[u].doc);
  }
}

void write_sampling(const H5::H5File& file, const SamplingResult& sampling) {
  set_number(file.openGroup("/"), "sampled", 1);
  const auto group = file.createGroup("sampling"), figures = group.createGroup("figures"),
             launches = group.createGroup("launches");
  set_real(group, "error", sampling.error);
  set_real(group, "confidence", sampling.confidence);
  set_real(group, "work", sampling.work);
  set_real(group, "simulated_work", sampling.simulated_work);
  const auto column = [](const H5::Group& to, const char* name, const std::vector<double>& reals, std::string_view unit,
                         std::string_view doc) { describe(put_reals(to, name, {reals.size()}, reals), unit, doc); };
  std::vector<std::string> names;
  std::vector<double> values, halves;
  for (const SampledFigure& f : sampling.figures)
    names.push_back(f.name), values.push_back(f.value), halves.push_back(f.half_width);
  put_texts(figures, "name", names);
  column(figures, "value", values, "", "figure of the whole workload, as of `atoll table --metric`");
  column(figures, "half_width", halves, "", "half of its confidence interval");
  Values clusters, simulated;
  values.clear(), halves.clear();
  for (const SampledLaunch& l : sampling.launches) {
    clusters.push_back(l.cluster), simulated.push_back(l.simulated ? 1 : 0);
    values.push_back(l.cycles), halves.push_back(l.half_width);
  }
  put(launches, "cluster", {clusters.size()}, clusters, "index", "launches of one cluster are alike");
  put(launches, "simulated", {simulated.size()}, simulated, "", "1: simulated, 0: extrapolated");
  column(launches, "cycles", values, "cycles", "from launch to end, simulated or extrapolated");
  column(launches, "half_width", halves, "cycles", "half of the confidence interval of these");
}

/// The arrays of the file are rectangular; a ragged result would otherwise be written shifted.
void check_shape(const RunResult& result) {
  for (const auto& sample : result.samples) {
    if (sample.chips.size() == result.chips.size()) continue;
    throw SimulationError(fmt::format("the sample that ends at cycle {} has counters of {} chips instead of {}", sample.end,
                                      sample.chips.size(), result.chips.size()));
  }
  for (const auto& array : hdf5::kPartArrays) {
    for (const auto& chip : result.chips) {
      if ((chip.*array.field).size() == (result.chips[0].*array.field).size()) continue;
      throw SimulationError(fmt::format("the chips differ in the length of {}", array.path));
    }
  }
}

/// The file is put together in memory: HDF5 cannot recover from a disk that fills up under an open file (it retries when
/// the process ends), while a plain write can. It holds little more than the samples, which are in memory already.
std::vector<char> file_image(const RunResult& result) {
  H5::FileAccPropList access;
  access.setCore(1 << 20, false);
  const H5::H5File file("atoll-result", H5F_ACC_TRUNC, H5::FileCreatPropList::DEFAULT, access);
  const auto root = file.openGroup("/");
  set_text(root, "schema", hdf5::kSchema);
  set_number(root, "schema_version", result.sampling ? hdf5::kSampledVersion : hdf5::kSchemaVersion);
  set_number(root, "cycles", result.cycles);
  set_number(root, "complete", result.complete ? 1 : 0);
  set_number(root, "digest", result.digest);
  write_provenance(file, result.provenance);
  write_kernels(file, result.kernels);
  write_decisions(file, result.decisions);
  write_series(file, result.samples, result.chips.size());
  write_chips(file, result.chips);
  write_energy(file, result.chips);
  if (!result.energy_prices.empty()) write_energy_prices(file, result.energy_prices);
  if (!result.stack.empty()) write_stack(file, result.stack);
  if (result.structures) write_structures(file, *result.structures, result.chips.size());
  if (result.sharing) write_sharing(file, *result.sharing);
  if (result.sm_sharing) write_sm_sharing(file, *result.sm_sharing);
  if (result.sampling) write_sampling(file, *result.sampling);
  file.flush(H5F_SCOPE_GLOBAL);
  const auto size = H5Fget_file_image(file.getId(), nullptr, 0);
  std::vector<char> image(size > 0 ? static_cast<std::size_t>(size) : 0);
  if (size <= 0 || H5Fget_file_image(file.getId(), image.data(), image.size()) != size) {
    throw H5::FileIException("file_image", "HDF5 does not hand out the file that it holds in memory");
  }
  return image;
}

}  // namespace

void write_result(const RunResult& result, const std::string& path, bool force) {
  check_output(path, force);
  check_shape(result);
  hdf5::silence();
  std::vector<char> image;
  try {
    image = file_image(result);
  } catch (const H5::Exception& e) {
    throw_if_hdf5_lacks_memory();
    throw IoError(path, "HDF5 could not encode the result: " + e.getDetailMsg());
  }
  seal(image);
  write_then_rename(path, image);
}

}  // namespace atl
