#include "inputs/trace/trace_workload.hpp"

#include <H5Cpp.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <cstring>
#include <span>

#include "core/engine/error.hpp"
#include "core/engine/hdf5_lock.hpp"
#include "core/engine/input_file.hpp"
#include "inputs/trace/trace_findings.hpp"
#include "inputs/trace/trace_kernel_reader.hpp"

namespace atl {
namespace {

using namespace trace_format;
using trace_objects::open_group;

std::string text(const H5::H5Object& object, const std::string& where, const char* name) {
  try {
    const H5::Attribute attribute = object.openAttribute(name);
    if (attribute.getTypeClass() != H5T_STRING)
      throw InputError(where, std::string("attribute '") + name + "' must be text");
    if (attribute.getStrType().isVariableStr())
      throw InputError(where, std::string("attribute '") + name + "' must be text of fixed length");
    std::string value;
    attribute.read(attribute.getStrType(), value);
    return value;
  } catch (const H5::Exception&) {
    throw InputError(where, std::string("attribute '") + name + "' is missing; the file is not a complete trace");
  }
}

template <typename T>
void numbers(const H5::H5Object& object, const std::string& where, const char* name, T* values, hssize_t count) {
  try {
    const H5::Attribute attribute = object.openAttribute(name);
    if (attribute.getTypeClass() != H5T_INTEGER || attribute.getSpace().getSimpleExtentNpoints() != count)
      throw InputError(where, std::string("attribute '") + name + "' must be " + std::to_string(count) + " integer(s)");
    attribute.read(memory_type<T>(), values);
    if (attribute.getIntType().getSign() == H5T_SGN_NONE) return;
    std::vector<std::int64_t> given(static_cast<std::size_t>(count));  // the library makes 0 of what is less
    attribute.read(H5::PredType::NATIVE_INT64, given.data());
    for (const std::int64_t value : given)
      if (value < 0) throw InputError(where, fmt::format("attribute '{}' is {}", name, value));
  } catch (const H5::Exception&) {
    throw InputError(where, std::string("attribute '") + name + "' is missing; the file is not a complete trace");
  }
}

constexpr std::string_view kRootAttributes[] = {"format", "version", "source",  "importer",     "selection",
                                                "lacks",  "kernels", "devices", "device_memory"};
constexpr std::string_view kKernelAttributes[] = {"name",         "grid",          "block",     "registers_per_thread",
                                                  "shared_bytes", "launched_grid", "first_cta", "incomplete"};

/// A misspelt attribute would be left out without a word.
void refuse_unknown_attributes(const H5::Group& group, const std::string& where, std::span<const std::string_view> known) {
  struct Search {
    std::span<const std::string_view> known;
    std::string unknown;
  } search{known, {}};
  const auto look = [](hid_t, const char* name, const H5A_info_t*, void* data) -> herr_t {
    auto& [there_are, unknown] = *static_cast<Search*>(data);
    if (std::ranges::find(there_are, name) != there_are.end()) return 0;
    unknown = name;
    return 1;
  };
  if (H5Aiterate2(group.getId(), H5_INDEX_NAME, H5_ITER_NATIVE, nullptr, look, &search) < 0)
    throw InputError(where, "its attributes cannot be listed; the file is damaged");
  if (!search.unknown.empty())
    throw InputError(where, fmt::format("attribute '{}' is unknown; there are {}", search.unknown, fmt::join(known, ", ")));
}

H5::H5File open_file(const std::string& path) {
  H5::Exception::dontPrint();
  if (!has_hdf5_signature(path)) throw InputError(path, "not an HDF5 file, so not an Atoll trace");
  H5::FileAccPropList properties;
  H5Pset_file_locking(properties.getId(), false, true);  // many ranks read one file, often where locks are not supported
  try {
    return H5::H5File(path, H5F_ACC_RDONLY, H5::FileCreatPropList::DEFAULT, properties);
  } catch (const H5::Exception&) {
    throw InputError(path, "begins like an HDF5 file but cannot be opened: it is truncated or damaged");
  }
}

}  // namespace

struct TraceWorkload::Impl {
  struct Slot {
    std::size_t kernel = ~std::size_t{0}, block = 0;
    std::uint64_t used = 0;
    CtaBlock ctas;
  };
  std::string path;
  H5::H5File file;
  std::uint32_t version = 0;
  TraceProvenance provenance;
  std::vector<std::string> incomplete;  // [kernel]
  std::vector<KernelInfo> kernels;
  std::vector<TraceAllocation> allocations;
  DeviceMemories devices;
  std::unique_ptr<TraceKernelReader> reader;
  std::size_t open_kernel = ~std::size_t{0};
  std::array<Slot, 4> cache;
  std::uint64_t clock = 0;

  void read_root();
  void read_kernels(std::uint64_t count);
  void read_allocations();
  void read_devices(const H5::Group& root);
  TraceFindings findings(std::size_t kernel);
  TraceKernelReader& columns(std::size_t kernel);
};

TraceWorkload::TraceWorkload(const std::string& path) {
  const Hdf5Lock lock;
  auto impl = std::make_unique<Impl>();  // closes the file before the lock is given up, also if it is refused
  impl->path = path;
  impl->file = open_file(path);
  try {
    impl->read_root();
  } catch (const H5::Exception&) {
    throw InputError(path, "the file is damaged: it opens, but its contents cannot be listed");
  }
  impl_ = std::move(impl);
}

TraceWorkload::~TraceWorkload() {
  const Hdf5Lock lock;
  impl_.reset();
}
const std::vector<KernelInfo>& TraceWorkload::kernels() const { return impl_->kernels; }
std::string TraceWorkload::incomplete(std::size_t kernel) {
  const std::string &said = impl_->incomplete.at(kernel), found = impl_->findings(kernel).text();
  return said.empty() || found.empty() ? said + found : said + "; " + found;
}
std::string TraceWorkload::lacks() const { return impl_->provenance.lacks; }
const TraceProvenance& TraceWorkload::provenance() const { return impl_->provenance; }
const std::vector<TraceAllocation>& TraceWorkload::allocations() const { return impl_->allocations; }
DeviceMemories TraceWorkload::devices() const { return impl_->devices; }

void TraceWorkload::Impl::read_root() {
  const H5::Group root = file.openGroup("/");
  if (!root.attrExists("format") && root.nameExists("provenance"))
    throw InputError(path, "is a result of `atoll run` and no trace; give the workload that was run");
  if (!root.attrExists("format")) throw InputError(path, "an HDF5 file, but without the attribute format = \"atoll-trace\"");
  const std::string format = text(root, path, "format");
  if (format != kFormat) throw InputError(path, "its format is '" + format + "', expected '" + kFormat + "'");
  numbers(root, path, "version", &version, 1);
  if (version < kOldestVersion || version > kVersion)
    throw InputError(path, "trace version " + std::to_string(version) + ", but this program reads versions " +
                               std::to_string(kOldestVersion) + " to " + std::to_string(kVersion));
  refuse_unknown_attributes(root, path, kRootAttributes);
  provenance = {text(root, path, "source"), text(root, path, "importer"), {}, {}};
  if (root.attrExists("selection")) provenance.selection = text(root, path, "selection");
  if (root.attrExists("lacks")) provenance.lacks = text(root, path, "lacks");
  std::uint64_t count = 0;
  numbers(root, path, "kernels", &count, 1);
  if (count == 0) throw InputError(path, "its attribute 'kernels' is 0: there is nothing in it to run");
  read_kernels(count);
  read_allocations();
  if (root.attrExists("devices")) return read_devices(root);
  if (root.attrExists("device_memory")) throw InputError(path, "has attribute 'device_memory', but not how many 'devices'");
  if (root.nameExists("launches")) throw InputError(path, "has /launches, but no attribute 'devices'");
}

void TraceWorkload::Impl::read_devices(const H5::Group& root) {
  std::uint64_t memory[2] = {};
  numbers(root, path, "devices", &devices.count, 1);
  numbers(root, path, "device_memory", memory, 2);
  devices.base = memory[0], devices.bytes = memory[1];
  if (devices.count == 0 || devices.count > kMaxDevices)
    throw InputError(path, "attribute 'devices' must be 1 to " + std::to_string(kMaxDevices));
  if (!std::has_single_bit(devices.bytes) || devices.bytes < kLeastDeviceMemory || devices.base % devices.bytes != 0 ||
      devices.base >= kMaxBlockAddress || devices.bytes >= kMaxBlockAddress)
    throw InputError(path,
                     "attribute 'device_memory' must be an address and a power of two, from 2 MiB on, that divides it");
  const std::string where = path + ":/launches";
  std::vector<std::uint32_t> device;
  std::vector<std::uint64_t> step;
  try {
    const H5::Group table = open_group(file, "/launches", where);
    ColumnReader<std::uint32_t> device_column;
    ColumnReader<std::uint64_t> step_column;
    device_column.open(table, where, "device"), step_column.open(table, where, "step");
    if (device_column.size() != kernels.size() || step_column.size() != kernels.size())
      throw InputError(where, "its columns are not of one row per kernel");
    device_column.read(0, device_column.size(), device), step_column.read(0, step_column.size(), step);
  } catch (const H5::Exception&) {
    throw InputError(where, "this table cannot be read; the file is not a complete trace");
  }
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    if (device[k] >= devices.count)
      throw InputError(where, "kernel " + std::to_string(k) + " is on device " + std::to_string(device[k]) + " of " +
                                  std::to_string(devices.count));
    kernels[k].place = {device[k], step[k]};
  }
}

void TraceWorkload::Impl::read_kernels(std::uint64_t count) {
  for (std::uint64_t k = 0; k < count; ++k) {
    const std::string name = kernel_group(k), where = path + ":" + name;
    H5::Group group;
    try {
      group = open_group(file, name, where);
    } catch (const H5::Exception&) {
      throw InputError(where, "this group is missing, though the file announces " + std::to_string(count) + " kernels");
    }
    refuse_unknown_attributes(group, where, kKernelAttributes);
    KernelInfo info;
    info.name = text(group, where, "name");
    numbers(group, where, "grid", info.grid, 3);
    numbers(group, where, "block", info.block, 3);
    numbers(group, where, "registers_per_thread", &info.registers_per_thread, 1);
    numbers(group, where, "shared_bytes", &info.shared_bytes, 1);
    if (group.attrExists("launched_grid")) {
      KernelInfo launched = info;
      numbers(group, where, "launched_grid", launched.grid, 3);
      if (!launched.launchable()) throw InputError(where, "launched_grid is larger than any that a GPU accepts");
      info.launched_ctas = launched.ctas();
      std::uint64_t first = 0;
      if (group.attrExists("first_cta")) numbers(group, where, "first_cta", &first, 1);
      if (first > info.launched_ctas || info.ctas() > info.launched_ctas - first)
        throw InputError(where, "holds CTAs " + std::to_string(first) + " to " + std::to_string(first + info.ctas() - 1) +
                                    " of a launch of " + std::to_string(info.launched_ctas) +
                                    ": first_cta and grid do not fit launched_grid");
    } else if (group.attrExists("first_cta")) {
      throw InputError(where, "has first_cta, but no launched_grid of the launch that it is a sample of");
    }
    incomplete.push_back(group.attrExists("incomplete") ? text(group, where, "incomplete") : "");
    const auto none = [](std::uint32_t n) { return n == 0; };  // products of what no GPU accepts may be 0 as well
    if (std::ranges::any_of(info.grid, none) || std::ranges::any_of(info.block, none))
      throw InputError(where, "the grid or the block is empty");
    if (!info.launchable()) throw InputError(where, "the grid or the block is larger than any that a GPU accepts");
    kernels.push_back(std::move(info));
  }
  const std::string where = path + ":/kernels";
  const hsize_t groups = open_group(file, "/kernels", where).getNumObjs();
  if (groups > count)
    throw InputError(where, fmt::format("has {} groups, but the attribute 'kernels' counts {}: the rest would be left out",
                                        groups, count));
}

/// A file that another program wrote can have fewer warps in a CTA than the block's dimensions promise.
TraceFindings TraceWorkload::Impl::findings(std::size_t kernel) {
  const Hdf5Lock lock;
  const std::string name = kernel_group(kernel), where = path + ":" + name;
  TraceFindings found;
  try {
    ColumnReader<std::uint32_t> column;
    column.open(open_group(file, name, where), where, "cta_warps");
    const std::uint32_t promised = kernels[kernel].warps();
    std::vector<std::uint32_t> warps;
    for (std::uint64_t cta = 0; cta < column.size(); cta += warps.size()) {
      column.read(cta, std::min(kChunk, column.size() - cta), warps);
      for (const std::uint32_t n : warps)
        if (n < promised) found.warps += promised - n, ++found.ctas;
    }
  } catch (const H5::Exception&) {
    throw InputError(where, "this group cannot be read; the file is damaged");
  }
  return found;
}

void TraceWorkload::Impl::read_allocations() {
  const std::string where = path + ":/allocations";
  try {
    const H5::Group table = open_group(file, "/allocations", where);
    ColumnReader<std::uint64_t> column;
    std::vector<std::uint64_t> address, size, ordinal;
    for (auto [name, values] : {std::pair{"address", &address}, {"size", &size}, {"ordinal", &ordinal}}) {
      column.open(table, where, name);
      column.read(0, column.size(), *values);
      if (values->size() != address.size()) throw InputError(column.where(), "the columns of this table differ in length");
    }
    ColumnReader<std::uint8_t> names;
    std::vector<std::uint8_t> bytes;
    names.open(table, where, "name");
    names.read(0, names.size(), bytes);
    if (std::count(bytes.begin(), bytes.end(), 0) != static_cast<std::ptrdiff_t>(address.size()) ||
        (!bytes.empty() && bytes.back() != 0))
      throw InputError(names.where(), "expected one zero-terminated name per allocation");
    const std::uint8_t* name = bytes.data();
    for (std::size_t i = 0; i < address.size(); ++i) {
      if (address[i] >= kAddressEnd || size[i] > kAddressEnd - address[i])
        throw InputError(where,
                         fmt::format("allocation {} of {} bytes at {:#x} does not end below 2^63", i, size[i], address[i]));
      allocations.push_back({address[i], size[i], ordinal[i], reinterpret_cast<const char*>(name)});
      name += allocations.back().name.size() + 1;
    }
  } catch (const H5::Exception&) {
    throw InputError(where, "this table cannot be read; the file is not a complete trace");
  }
}

TraceKernelReader& TraceWorkload::Impl::columns(std::size_t kernel) {
  if (open_kernel != kernel) {
    const Hdf5Lock lock;
    reader.reset();  // first: the old kernel's chunk caches
    open_kernel = ~std::size_t{0};
    try {
      reader = std::make_unique<TraceKernelReader>(file, path, version, kernel, kernels[kernel]);
    } catch (const H5::Exception&) {
      throw InputError(path + ":" + kernel_group(kernel), "this group cannot be read; the file is damaged");
    }
    open_kernel = kernel;
  }
  return *reader;
}

void TraceWorkload::load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) {
  Impl& t = *impl_;
  if (kernel >= t.kernels.size())
    throw InputError(t.path,
                     "kernel " + std::to_string(kernel) + " of " + std::to_string(t.kernels.size()) + " is asked for");
  if (cta >= t.kernels[kernel].ctas())
    throw InputError(t.path + ":" + kernel_group(kernel),
                     "CTA " + std::to_string(cta) + " of " + std::to_string(t.kernels[kernel].ctas()) + " is asked for");
  TraceKernelReader& columns = t.columns(kernel);
  const std::size_t block = columns.block_of(cta);
  Impl::Slot* slot = &t.cache[0];
  for (Impl::Slot& candidate : t.cache) {
    if (candidate.kernel == kernel && candidate.block == block) {
      slot = &candidate;
      break;
    }
    if (candidate.used < slot->used) slot = &candidate;
  }
  if (slot->kernel != kernel || slot->block != block) {
    slot->kernel = ~std::size_t{0};  // holds nothing valid while decoding may throw
    columns.decode(block, slot->ctas);
    slot->kernel = kernel;
    slot->block = block;
  }
  slot->used = ++t.clock;
  slot->ctas.extract(cta - columns.first_cta(block), out);
}

bool is_trace(const std::string& path) {
  if (!has_hdf5_signature(path)) return false;
  const Hdf5Lock lock;
  try {
    return open_file(path).openGroup("/").attrExists("format");
  } catch (const H5::Exception&) {  // so damaged that it is nothing
    return false;
  }
}

bool has_hdf5_signature(const std::string& path) {
  static constexpr unsigned char kSignature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};
  unsigned char head[8] = {};
  check_input(path);
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (!file) throw InputError(path, std::string("cannot be opened: ") + std::strerror(errno));
  const std::size_t count = std::fread(head, 1, sizeof head, file);
  std::fclose(file);
  return count == sizeof head && std::memcmp(head, kSignature, sizeof head) == 0;
}

}  // namespace atl
