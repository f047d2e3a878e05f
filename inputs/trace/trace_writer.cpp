#include "inputs/trace/trace_writer.hpp"

#include <H5Cpp.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <utility>

#include "core/engine/error.hpp"
#include "inputs/trace/address_codec.hpp"
#include "inputs/trace/cta_columns.hpp"
#include "inputs/trace/kernel_columns.hpp"
#include "inputs/trace/trace_columns.hpp"
#include "inputs/trace/trace_groups.hpp"
#include "inputs/trace/write_failure.hpp"

namespace atl {
namespace {

using namespace trace_format;

using namespace trace_groups;

/// The columns that the block index counts, besides CTAs.
constexpr std::pair<IndexColumn, KernelColumns::Column> kCounted[] = {{kWarp, KernelColumns::warp_program},
                                                                      {kProgram, KernelColumns::program_ops},
                                                                      {kOp, KernelColumns::op_kind},
                                                                      {kAccess, KernelColumns::access_sectors},
                                                                      {kByte, KernelColumns::access_delta}};

template <typename T> void put(H5::H5Object& object, const char* name, const T* values, hsize_t count) {
  const H5::DataSpace space = count == 1 ? H5::DataSpace(H5S_SCALAR) : H5::DataSpace(1, &count);
  object.createAttribute(name, file_type<T>(), space).write(memory_type<T>(), values);
}

H5::FileCreatPropList no_times() {
  H5::FileCreatPropList properties;
  H5Pset_obj_track_times(properties.getId(), false);
  return properties;
}

H5::FileAccPropList compact_metadata() {
  H5::FileAccPropList properties;
  properties.setLibverBounds(H5F_LIBVER_V110, H5F_LIBVER_V110);  // small kernels would drown in version-1 headers
  return properties;
}

}  // namespace

struct TraceWriter::Impl {
  Impl(unsigned level, unsigned threads) : columns(level, threads - std::min(threads, 1u)) {}

  std::string path, part;
  OutputFile file;
  KernelInfo info;
  std::uint64_t first_cta = 0;  // of this kernel, if it is a sample
  DeviceMemories devices;
  H5::Group table, launches;
  std::map<ContentKey::Value, std::uint64_t> contents;  // key -> kernel
  bool in_kernel = false;
  std::string incomplete;  // of this kernel; empty: whole
  std::string lacks;       // of the trace; empty: whole
  std::uint64_t kernels = 0, ctas = 0, block_ops = 0, previous_start = 0;
  std::uint64_t block[kIndexColumns] = {};              // where this block begins
  std::map<ContentKey::Value, std::uint32_t> programs;  // of this block: their numbers
  std::vector<std::uint32_t> numbers;                   // of a CTA's programs

  ColumnWriter<std::uint32_t> launch_device;           // of several devices
  ColumnWriter<std::uint64_t> launch_step;             // the same
  ColumnWriter<std::uint64_t> address, size, ordinal;  // of allocations
  ColumnWriter<std::uint8_t> name;
  KernelColumns columns;
  CtaColumns scratch;

  [[noreturn]] void refuse(const std::string& what) const { throw InputError(path, what); }
  std::string here() const { return "kernel " + std::to_string(kernels) + ", CTA " + std::to_string(ctas); }
  template <typename F> void with_file(const char* doing, F f);

  void begin_block();
  void add_programs(const CtaColumns& cta);
  void end_block();
  void end_kernel(bool sample);
  bool link_to_equal_kernel();
  void write_kernel(bool whole);
  void write_allocations(bool last);
  void write_launches(bool last);
};

/// Calls `f`, and says of what HDF5 throws that it happened in `doing` this kernel. HDF5 prints it as well, unless told by
/// the thread that calls it.
template <typename F> void TraceWriter::Impl::with_file(const char* doing, F f) {
  H5::Exception::dontPrint();
  try {
    f();
  } catch (const H5::Exception& e) {
    throw IoError(part, std::string(doing) + " kernel '" + info.name + "' failed (" + write_failure(part, e) + ")");
  }
}

TraceWriter::TraceWriter(const std::string& path, const TraceProvenance& provenance, unsigned compression, unsigned threads)
    : impl_(new Impl(compression, threads)) {
  H5::Exception::dontPrint();
  impl_->path = path;
  if (compression > 9) impl_->refuse("compression level " + std::to_string(compression) + " is not in 0 to 9");
  impl_->part = path + ".part";
  std::error_code ignored;
  const bool began = std::filesystem::exists(impl_->part, ignored);  // by another, who may write it still
  try {
    impl_->file.open(impl_->part, no_times(), compact_metadata());
    H5::Group root = impl_->file->openGroup("/");
    put(root, "format", kFormat);
    put(root, "version", &kVersion, 1);
    put(root, "source", provenance.source);
    put(root, "importer", provenance.importer);
    if (!provenance.selection.empty()) put(root, "selection", provenance.selection);
    link(*impl_->file, create(*impl_->file), "/kernels");
  } catch (const H5::Exception& e) {
    const std::string why = write_failure(impl_->part, e);
    if (!began) std::filesystem::remove(impl_->part, ignored);
    throw IoError(impl_->part, "cannot be created (" + why + ")");
  }
}

TraceWriter::~TraceWriter() {
  if (!impl_ || impl_->part.empty()) return;
  std::error_code ignored;
  const std::string part = impl_->part;
  try {
    impl_.reset();  // closes the file
  } catch (...) {   // a full disk was already reported by the call that met it
  }
  std::filesystem::remove(part, ignored);
}

void TraceWriter::set_devices(const DeviceMemories& devices) {
  impl_->devices = devices;
  const std::uint64_t memory[] = {devices.base, devices.bytes};
  try {
    H5::Group root = impl_->file->openGroup("/");
    put(root, "devices", &devices.count, 1);
    put(root, "device_memory", memory, std::size(memory));
  } catch (const H5::Exception& e) {
    throw IoError(impl_->part, "writing failed (" + write_failure(impl_->part, e) + ")");
  }
}

void TraceWriter::add_allocation(const TraceAllocation& allocation) {
  if (allocation.name.find('\0') != std::string::npos) impl_->refuse("the name of an allocation has a zero byte");
  impl_->address.values.push_back(allocation.address);
  impl_->size.values.push_back(allocation.size);
  impl_->ordinal.values.push_back(allocation.ordinal);
  // Not HDF5's variable-length text: the library crashes on a damaged one.
  const char* name = allocation.name.c_str();
  impl_->name.values.insert(impl_->name.values.end(), name, name + allocation.name.size() + 1);
}

void TraceWriter::begin_kernel(const KernelInfo& info, std::uint64_t first_cta) {
  Impl& w = *impl_;
  w.end_kernel(false);
  if (info.ctas() == 0 || info.threads() == 0) w.refuse("kernel '" + info.name + "' has an empty grid or block");
  w.info = info, w.first_cta = first_cta;
  w.in_kernel = true;
  w.incomplete.clear();
  w.ctas = w.block_ops = w.previous_start = 0;
}

void TraceWriter::Impl::begin_block() {
  block[kCta] = ctas;
  for (const auto& [index, column] : kCounted) block[index] = columns.size(column);
  columns.append(KernelColumns::block_index, block, kIndexColumns);
  previous_start = 0;
  programs.clear();
}

/// Programs of the CTA that the block has not had, and which ones its warps execute.
void TraceWriter::Impl::add_programs(const CtaColumns& cta) {
  numbers.clear();
  std::size_t op = 0;
  for (std::size_t p = 0; p < cta.program_ops.size; ++p) {
    const auto [program, is_new] = programs.emplace(cta.keys[p], static_cast<std::uint32_t>(programs.size()));
    if (is_new) columns.append_program(cta, p, op);
    numbers.push_back(program->second);
    op += cta.program_ops.values[p];
  }
  for (std::size_t n = 0; n < cta.warp_program.size; ++n)
    columns.append(KernelColumns::warp_program, &numbers[cta.warp_program.values[n]], 1);
}

void TraceWriter::encode(std::span<const WarpView> warps, CtaColumns& out) const { out.encode(warps, impl_->info.warps()); }

void TraceWriter::add_cta(const CtaProgram& cta) {
  Impl& w = *impl_;
  w.scratch.encode(cta, w.info.warps());
  add_cta(w.scratch);
  help();
}

void TraceWriter::add_cta(const CtaColumns& cta) {
  Impl& w = *impl_;
  if (!w.in_kernel || w.ctas == w.info.ctas())
    w.refuse("a CTA too many for " + (w.in_kernel ? "kernel '" + w.info.name + "'" : std::string("no kernel")));
  if (!cta.fault().empty()) w.refuse(w.here() + cta.fault());
  if (w.block_ops == 0) w.begin_block();
  if (cta.access_sectors.size > 0) {
    std::uint8_t first[kMostDeltaBytes];
    const auto* end = put_delta(first, w.previous_start, cta.first_start);
    w.columns.append(KernelColumns::access_delta, first, static_cast<std::size_t>(end - first));
    w.previous_start = cta.last_start;
  }
  const auto warps = static_cast<std::uint32_t>(cta.warp_program.size);
  w.columns.append(KernelColumns::cta_warps, &warps, 1);
  w.add_programs(cta);
  w.columns.append_accesses(cta);
  w.block_ops += cta.ops + 1;  // one more, so that empty CTAs close a block in the end, too
  ++w.ctas;
  if (w.block_ops < kOpsPerBlock) return;
  w.end_block();
  w.with_file("writing", [&] { w.columns.write_due(*w.file); });
}

void TraceWriter::help() { impl_->columns.help(); }

void TraceWriter::Impl::end_block() {
  bool fits = block_ops <= kMaxBlockItems;
  for (const auto& [index, column] : kCounted) fits = fits && columns.size(column) - block[index] <= kMaxBlockItems;
  if (!fits)
    refuse(here() + " ('" + info.name +
           "') has more than 2^28 ops, accesses or bytes of addresses, which no trace can hold; leave this kernel out "
           "(atoll record --kernels), or take a smaller input");
  block_ops = 0;
}

/// Benchmarks launch the same again and again: such a kernel is another name of the first one's group.
bool TraceWriter::Impl::link_to_equal_kernel() {
  ContentKey key;
  with_file("writing", [&] { key = columns.write_full(*file); });
  for (const auto& numbers : {info.grid, info.block}) key.add(numbers, 3);
  const std::uint64_t rest[] = {info.registers_per_thread, info.shared_bytes, ctas, first_cta};
  key.add(rest, std::size(rest));
  for (const std::string* text : {&info.name, &incomplete}) key.add(text->data(), text->size() + 1);
  const auto [equal, is_new] = contents.emplace(key.value(), kernels);
  if (is_new) return false;
  with_file("writing", [&, first = equal->second] {
    columns.drop();
    const std::string from = kernel_group(first), to = kernel_group(kernels);
    if (H5Lcreate_hard(file->getId(), from.c_str(), file->getId(), to.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0)
      throw H5::FileIException("H5Lcreate_hard", "cannot create " + to);
  });
  return true;
}

/// Only a whole kernel gets a name. So the file, as it was flushed last, is consistent whenever the program dies.
void TraceWriter::Impl::end_kernel(bool sample) {
  if (!in_kernel) return;
  const bool whole = ctas == info.ctas();
  if (!whole && (!sample || ctas == 0))
    refuse("kernel '" + info.name + "' has a grid of " + std::to_string(info.ctas()) + " CTAs, but got " +
           std::to_string(ctas));
  end_block();
  begin_block();  // whose place is the end of the last one
  in_kernel = false;
  if (devices.count != 0) {
    if (info.place.device >= devices.count) refuse("kernel '" + info.name + "' is on a device that does not exist");
    launch_device.values.push_back(info.place.device), launch_step.values.push_back(info.place.step);
  }
  if (!link_to_equal_kernel()) with_file("writing", [&] { write_kernel(whole); });
  ++kernels;
}

void TraceWriter::Impl::write_kernel(bool whole) {
  H5::Group group = columns.write_rest(*file, kernels);
  put(group, "name", info.name);
  if (!incomplete.empty()) put(group, "incomplete", incomplete);
  if (!whole) {
    put(group, "launched_grid", info.grid, 3);
    if (first_cta != 0) put(group, "first_cta", &first_cta, 1);
    info.grid[0] = static_cast<std::uint32_t>(ctas), info.grid[1] = info.grid[2] = 1;
  }
  put(group, "grid", info.grid, 3);
  put(group, "block", info.block, 3);
  put(group, "registers_per_thread", &info.registers_per_thread, 1);
  put(group, "shared_bytes", &info.shared_bytes, 1);
  link(*file, group, kernel_group(kernels));
}

void TraceWriter::set_incomplete(const std::string& what) { impl_->incomplete = what; }

void TraceWriter::set_lacks(const std::string& what) { impl_->lacks = what; }

void TraceWriter::end_kernel() { impl_->end_kernel(true); }

void TraceWriter::abandon_kernel() {
  Impl& w = *impl_;
  if (!w.in_kernel) return;
  w.in_kernel = false;
  w.with_file("dropping", [&] { w.columns.drop(); });
}

void TraceWriter::Impl::write_allocations(bool last) {
  const bool first = !H5Iis_valid(table.getId());
  if (first) table = create(*file);
  address.flush(table, "address", last);
  size.flush(table, "size", last);
  ordinal.flush(table, "ordinal", last);
  name.flush(table, "name", last);
  if (first) link(*file, table, "/allocations");
}

/// A table beside the kernels, as one group may stand for several launches.
void TraceWriter::Impl::write_launches(bool last) {
  if (devices.count == 0) return;
  const bool first = !H5Iis_valid(launches.getId());
  if (first) launches = create(*file);
  launch_device.flush(launches, "device", last);
  launch_step.flush(launches, "step", last);
  if (first) link(*file, launches, "/launches");
}

void TraceWriter::flush() {
  Impl& w = *impl_;
  try {
    w.write_allocations(false);
    w.write_launches(false);
    w.file->flush(H5F_SCOPE_GLOBAL);
  } catch (const H5::Exception& e) {
    throw IoError(w.part, "writing failed (" + write_failure(w.part, e) + ")");
  }
}

void TraceWriter::finish() {
  Impl& w = *impl_;
  w.end_kernel(false);
  try {
    w.write_allocations(true);
    w.write_launches(true);
    w.table.close(), w.launches.close();
    H5::Group root = w.file->openGroup("/");
    put(root, "kernels", &w.kernels, 1);
    if (!w.lacks.empty()) put(root, "lacks", w.lacks);
    root.close();
    w.file->flush(H5F_SCOPE_GLOBAL);
    w.file.close();
  } catch (const H5::Exception& e) {
    throw IoError(w.part, "writing failed (" + write_failure(w.part, e) + ")");
  }
  if (std::rename(w.part.c_str(), w.path.c_str()) != 0) throw IoError(w.path, "cannot rename " + w.part + " to it");
  w.part.clear();
}

void TraceWriter::discard() {
  std::error_code ignored;
  std::filesystem::remove(impl_->part, ignored);
  impl_->part.clear();
}

std::uint64_t TraceWriter::salvage(const std::string& path) {
  const std::string part = path + ".part";
  H5::Exception::dontPrint();
  std::uint64_t kernels = 0;
  try {
    H5::FileAccPropList access = compact_metadata();
    hbool_t clear = true;  // the mark of a file that is being written; the tool h5clear does the same
    H5Pset(access.getId(), "clear_status_flags", &clear);
    H5::H5File file(part, H5F_ACC_RDWR, H5::FileCreatPropList::DEFAULT, access);
    while (file.nameExists(kernel_group(kernels))) ++kernels;
    H5::Group root = file.openGroup("/");
    if (kernels > 0 && !root.attrExists("kernels")) {  // else it was finished, and has no other name yet
      put(root, "kernels", &kernels, 1);
      put(root, "lacks", "what was not finished when the program was killed");
    }
  } catch (const H5::Exception& e) {
    throw IoError(part, "nothing can be saved of it (" + e.getDetailMsg() + ")");
  }
  if (kernels == 0) throw IoError(part, "no kernel had ended");
  if (std::rename(part.c_str(), path.c_str()) != 0) throw IoError(path, "cannot rename " + part + " to it");
  return kernels;
}

}  // namespace atl
