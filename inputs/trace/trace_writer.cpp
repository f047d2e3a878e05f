#include "inputs/trace/trace_writer.hpp"

#include <H5Cpp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "core/engine/digest.hpp"
#include "core/engine/error.hpp"
#include "inputs/trace/address_codec.hpp"
#include "inputs/trace/trace_columns.hpp"

namespace atl {
namespace {

using namespace trace_format;

constexpr unsigned kColumns = 12, kLinkName = 12;  // of a kernel; bytes of a name
constexpr hsize_t kAllocationChunk = 512;          // elements; flush() writes a chunk again and again until it is full

void put(H5::H5Object& object, const char* name, const std::string& text) {
  const H5::StrType type(H5::PredType::C_S1, text.empty() ? 1 : text.size());
  object.createAttribute(name, type, H5::DataSpace(H5S_SCALAR)).write(type, text);
}

template <typename T> void put(H5::H5Object& object, const char* name, const T* values, hsize_t count) {
  const H5::DataSpace space = count == 1 ? H5::DataSpace(H5S_SCALAR) : H5::DataSpace(1, &count);
  object.createAttribute(name, file_type<T>(), space).write(memory_type<T>(), values);
}

/// Without time stamps, so that recording twice gives the same bytes; and without a name, for link_group() or drop_group().
/// It is counted as referenced nevertheless: HDF5 forgets a group without references once its metadata cache is full, as in
/// a large kernel.
H5::Group create_group(H5::H5File& file, unsigned links = 0) {
  const hid_t properties = H5Pcreate(H5P_GROUP_CREATE);
  H5Pset_obj_track_times(properties, false);
  if (links != 0) {  // known to be so few: they stay in the object header, which is smaller than an index of them
    H5Pset_link_phase_change(properties, links, 0);
    H5Pset_est_link_info(properties, links, kLinkName);
  }
  const hid_t id = H5Gcreate_anon(file.getId(), properties, H5P_DEFAULT);
  H5Pclose(properties);
  if (id < 0 || H5Oincr_refcount(id) < 0) throw H5::FileIException("H5Gcreate_anon", "cannot create a group");
  H5::Group group(id);
  H5Idec_ref(id);  // `group` holds its own reference
  return group;
}

void link_group(H5::H5File& file, const H5::Group& group, const std::string& path) {
  if (H5Olink(group.getId(), file.getId(), path.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0 ||
      H5Odecr_refcount(group.getId()) < 0)
    throw H5::FileIException("H5Olink", "cannot create " + path);
}

/// Its space in the file is used again.
void drop_group(H5::Group& group) {
  if (H5Odecr_refcount(group.getId()) < 0) throw H5::FileIException("H5Odecr_refcount", "cannot drop a group");
  group.close();
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

/// Of a kernel: equal for two launches that do the same at the same addresses, and for no others that will ever meet.
class ContentKey {
 public:
  template <typename T> void add(const T* values, std::size_t count) {
    const auto* bytes = reinterpret_cast<const unsigned char*>(values);
    std::size_t left = count * sizeof(T);
    add(left);
    for (; left > 0; left -= std::min<std::size_t>(left, 8), bytes += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes, std::min<std::size_t>(left, 8));
      add(word);
    }
  }
  std::pair<std::uint64_t, std::uint64_t> value() const { return {one_.value(), other_.value()}; }

 private:
  void add(std::uint64_t word) { one_.add(word), other_.add(word, ++words_); }
  Digest one_, other_;
  std::uint64_t words_ = 0;
};

const char* fault_of(const Op& op, const CtaProgram& cta) {
  if (op.kind > OpKind::exit) return "an unknown kind";
  if (op.issue == 0) return "no issue slot";
  if (op.slot != kNoSlot && op.slot >= kScoreboardSlots) return "a scoreboard slot above 31";
  if (op.flags & ~(kReadOnly | kBypassL1 | kPartial | kLocal)) return "an unknown flag";
  if (op.accesses > kMaxAccesses) return "more than 64 accesses";
  if (op.accesses > 0 && std::uint64_t{op.first_access} + op.accesses > cta.accesses.size())
    return "accesses outside its CTA's";
  if ((op.flags & kLocal) != 0) {
    const Access* first = cta.accesses.data() + op.first_access;
    if ((op.kind != OpKind::load && op.kind != OpKind::store) ||
        std::any_of(first, first + op.accesses, [](const Access& a) { return a.block() >= kLocalRows; }))
      return "an access of local memory that is no load or store of a thread's 16 MiB";
  }
  return nullptr;
}

}  // namespace

struct TraceWriter::Impl {
  std::string path, part;
  H5::H5File file;
  KernelInfo info;
  std::uint64_t first_cta = 0;  // of this kernel, if it is a sample
  DeviceMemories devices;
  H5::Group group, table, launches;
  ContentKey key;                                                             // of this kernel
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> contents;  // key -> kernel
  bool in_kernel = false;
  std::string incomplete;  // of this kernel; empty: whole
  std::uint64_t kernels = 0, ctas = 0, block_ops = 0, previous_start = 0;
  std::uint64_t totals[kIndexColumns] = {};  // CTAs, warps, ops, accesses, address bytes of this kernel so far

  ColumnWriter<std::uint32_t> launch_device;           // of several devices
  ColumnWriter<std::uint64_t> launch_step;             // the same
  ColumnWriter<std::uint64_t> address, size, ordinal;  // of allocations
  ColumnWriter<std::uint8_t> name;
  ColumnWriter<std::uint64_t> block_index;
  ColumnWriter<std::uint32_t> cta_warps, warp_ops, op_wait;
  ColumnWriter<std::uint16_t> op_issue, op_latency;
  ColumnWriter<std::uint8_t> op_kind, op_slot, op_flags, op_accesses, access_sectors, access_delta;

  [[noreturn]] void refuse(const std::string& what) const { throw InputError(path, what); }
  std::string here() const { return "kernel " + std::to_string(kernels) + ", CTA " + std::to_string(ctas); }

  void push_warp(const CtaProgram& cta, const WarpOps& warp);
  /// Calls `f` with each column of a kernel and its name.
  template <typename F> void each_column(F f);
  void close_block(bool last);
  void flush_block(bool last);
  void end_kernel(bool sample);
  bool link_to_equal_kernel();
  void drop_columns();
  void write_allocations(bool last);
  void write_launches(bool last);
};

template <typename F> void TraceWriter::Impl::each_column(F f) {
  f(cta_warps, "cta_warps");
  f(warp_ops, "warp_ops");
  f(op_kind, "op_kind");
  f(op_slot, "op_slot");
  f(op_flags, "op_flags");
  f(op_accesses, "op_accesses");
  f(op_issue, "op_issue");
  f(op_latency, "op_latency");
  f(op_wait, "op_wait");
  f(access_sectors, "access_sectors");
  f(access_delta, "access_delta");
  f(block_index, "block_index");
}

TraceWriter::TraceWriter(const std::string& path, const TraceProvenance& provenance, unsigned compression)
    : impl_(new Impl) {
  H5::Exception::dontPrint();
  impl_->path = path;
  if (compression > 9) impl_->refuse("compression level " + std::to_string(compression) + " is not in 0 to 9");
  impl_->each_column([&](auto& column, const char*) { column.set_compression(compression); });
  impl_->part = path + ".part";
  try {
    impl_->file = H5::H5File(impl_->part, H5F_ACC_TRUNC, no_times(), compact_metadata());
    H5::Group root = impl_->file.openGroup("/");
    put(root, "format", kFormat);
    put(root, "version", &kVersion, 1);
    put(root, "source", provenance.source);
    put(root, "importer", provenance.importer);
    if (!provenance.selection.empty()) put(root, "selection", provenance.selection);
    link_group(impl_->file, create_group(impl_->file), "/kernels");
  } catch (const H5::Exception& e) {
    throw IoError(impl_->part, "cannot be created (" + e.getDetailMsg() + ")");
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
    H5::Group root = impl_->file.openGroup("/");
    put(root, "devices", &devices.count, 1);
    put(root, "device_memory", memory, std::size(memory));
  } catch (const H5::Exception& e) {
    throw IoError(impl_->part, "writing failed (" + e.getDetailMsg() + ")");
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
  w.key = {};
  w.in_kernel = true;
  w.incomplete.clear();
  w.ctas = w.block_ops = w.previous_start = 0;
  std::fill(std::begin(w.totals), std::end(w.totals), 0);
}

void TraceWriter::Impl::push_warp(const CtaProgram& cta, const WarpOps& warp) {
  // The first access of a warp is a difference to the first one of the warp before: neighbours do the same elsewhere.
  std::uint64_t previous = previous_start;
  bool first = true;
  for (const Op *op = cta.ops.data() + warp.first, *end = op + warp.count; op != end; ++op) {
    if (const char* fault = fault_of(*op, cta))
      refuse(here() + ", op " + std::to_string(op - cta.ops.data()) + " has " + fault);
    op_kind.values.push_back(static_cast<std::uint8_t>(op->kind));
    op_slot.values.push_back(op->slot);
    op_flags.values.push_back(op->flags);
    op_accesses.values.push_back(op->accesses);
    op_issue.values.push_back(op->issue);
    op_latency.values.push_back(op->latency);
    op_wait.values.push_back(op->wait);
    for (unsigned i = 0; i < op->accesses; ++i) {
      const Access access = cta.accesses[op->first_access + i];
      if (access.packed & 0xF0) refuse(here() + " has an access to sectors that do not exist");
      access_sectors.values.push_back(static_cast<std::uint8_t>(access.sectors()));
      put_delta(access_delta.values, previous, access.block());
      previous = access.block();
      if (first) previous_start = previous, first = false;
    }
  }
}

void TraceWriter::add_cta(const CtaProgram& cta) {
  Impl& w = *impl_;
  if (!w.in_kernel || w.ctas == w.info.ctas())
    w.refuse("a CTA too many for " + (w.in_kernel ? "kernel '" + w.info.name + "'" : std::string("no kernel")));
  if (w.block_ops == 0) {
    std::uint64_t row[kIndexColumns] = {w.ctas, w.totals[1], w.totals[2], w.totals[3], w.totals[4]};
    w.block_index.values.insert(w.block_index.values.end(), std::begin(row), std::end(row));
    w.previous_start = 0;
  }
  if (cta.warps.size() > w.info.warps()) w.refuse(w.here() + " has more warps than its kernel's blocks");
  for (const WarpOps& warp : cta.warps) {
    if (std::uint64_t{warp.first} + warp.count > cta.ops.size())
      w.refuse(w.here() + " has a warp with ops outside its CTA's");
    w.push_warp(cta, warp);
    if (warp.count > 0 && cta.ops[warp.first + warp.count - 1].kind != OpKind::exit)
      w.refuse(w.here() + " has a warp that does not end with an exit");
    w.warp_ops.values.push_back(warp.count);
    w.block_ops += warp.count;
  }
  w.cta_warps.values.push_back(static_cast<std::uint32_t>(cta.warps.size()));
  w.block_ops += 1;  // so that empty CTAs close a block in the end, too
  ++w.ctas;
  if (w.block_ops >= kOpsPerBlock) w.close_block(false), w.flush_block(false);
}

void TraceWriter::Impl::close_block(bool last) {
  totals[0] = ctas;
  totals[1] += warp_ops.values.size();
  totals[2] += op_kind.values.size();
  totals[3] += access_sectors.values.size();
  totals[4] += access_delta.values.size();
  block_ops = 0;
  for (const std::size_t size : {warp_ops.values.size(), op_kind.values.size(), access_delta.values.size()})
    if (size > kMaxBlockItems) refuse(here() + " ends a block of more than 2^28 items; no reader accepts it");
  if (last) block_index.values.insert(block_index.values.end(), std::begin(totals), std::end(totals));
  each_column([&](auto& column, const char*) {
    if (last || static_cast<const void*>(&column) != &block_index) key.add(column.values.data(), column.values.size());
  });
}

void TraceWriter::Impl::flush_block(bool last) {
  try {
    if (!H5Iis_valid(group.getId())) group = create_group(file, kColumns);
    each_column([&](auto& column, const char* name) {
      if (last || static_cast<const void*>(&column) != &block_index) column.flush(group, name, last);
    });
  } catch (const H5::Exception& e) {
    throw IoError(part, "writing kernel '" + info.name + "' failed (" + e.getDetailMsg() + ")");
  }
}

/// Benchmarks launch the same again and again: such a kernel is another name of the first one's group.
bool TraceWriter::Impl::link_to_equal_kernel() {
  for (const auto& numbers : {info.grid, info.block}) key.add(numbers, 3);
  const std::uint64_t rest[] = {info.registers_per_thread, info.shared_bytes, ctas, first_cta};
  key.add(rest, std::size(rest));
  key.add(info.name.data(), info.name.size());
  const auto [equal, is_new] = contents.emplace(key.value(), kernels);
  if (is_new) return false;
  try {
    drop_columns();
    const std::string from = kernel_group(equal->second), to = kernel_group(kernels);
    if (H5Lcreate_hard(file.getId(), from.c_str(), file.getId(), to.c_str(), H5P_DEFAULT, H5P_DEFAULT) < 0)
      throw H5::FileIException("H5Lcreate_hard", "cannot create " + to);
  } catch (const H5::Exception& e) {
    throw IoError(part, "writing kernel '" + info.name + "' failed (" + e.getDetailMsg() + ")");
  }
  return true;
}

void TraceWriter::Impl::drop_columns() {
  each_column([](auto& column, const char*) { column.reset(); });
  if (H5Iis_valid(group.getId())) drop_group(group);
}

/// Only a whole kernel gets a name. So the file, as it was flushed last, is consistent whenever the program dies.
void TraceWriter::Impl::end_kernel(bool sample) {
  if (!in_kernel) return;
  const bool whole = ctas == info.ctas();
  if (!whole && (!sample || ctas == 0))
    refuse("kernel '" + info.name + "' has a grid of " + std::to_string(info.ctas()) + " CTAs, but got " +
           std::to_string(ctas));
  close_block(true);
  in_kernel = false;
  if (devices.count != 0) {
    if (info.place.device >= devices.count) refuse("kernel '" + info.name + "' is on a device that does not exist");
    launch_device.values.push_back(info.place.device), launch_step.values.push_back(info.place.step);
  }
  if (link_to_equal_kernel()) {
    ++kernels;
    return;
  }
  flush_block(true);
  try {
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
    link_group(file, group, kernel_group(kernels));
    group.close();
  } catch (const H5::Exception& e) {
    throw IoError(part, "writing kernel '" + info.name + "' failed (" + e.getDetailMsg() + ")");
  }
  ++kernels;
}

void TraceWriter::set_incomplete(const std::string& what) { impl_->incomplete = what; }

void TraceWriter::end_kernel() { impl_->end_kernel(true); }

void TraceWriter::abandon_kernel() {
  Impl& w = *impl_;
  if (!w.in_kernel) return;
  w.in_kernel = false;
  try {
    w.drop_columns();
  } catch (const H5::Exception& e) {
    throw IoError(w.part, "dropping kernel '" + w.info.name + "' failed (" + e.getDetailMsg() + ")");
  }
}

void TraceWriter::Impl::write_allocations(bool last) {
  const bool first = !H5Iis_valid(table.getId());
  if (first) table = create_group(file);
  address.flush(table, "address", last, kAllocationChunk, false);
  size.flush(table, "size", last, kAllocationChunk, false);
  ordinal.flush(table, "ordinal", last, kAllocationChunk, false);
  name.flush(table, "name", last, kAllocationChunk, false);
  if (first) link_group(file, table, "/allocations");
}

/// A table beside the kernels, as one group may stand for several launches.
void TraceWriter::Impl::write_launches(bool last) {
  if (devices.count == 0) return;
  const bool first = !H5Iis_valid(launches.getId());
  if (first) launches = create_group(file);
  launch_device.flush(launches, "device", last, kAllocationChunk, false);
  launch_step.flush(launches, "step", last, kAllocationChunk, false);
  if (first) link_group(file, launches, "/launches");
}

void TraceWriter::flush() {
  Impl& w = *impl_;
  try {
    w.write_allocations(false);
    w.write_launches(false);
    w.file.flush(H5F_SCOPE_GLOBAL);
  } catch (const H5::Exception& e) {
    throw IoError(w.part, "writing failed (" + e.getDetailMsg() + ")");
  }
}

void TraceWriter::finish() {
  Impl& w = *impl_;
  w.end_kernel(false);
  try {
    w.write_allocations(true);
    w.write_launches(true);
    w.table.close(), w.launches.close();
    H5::Group root = w.file.openGroup("/");
    put(root, "kernels", &w.kernels, 1);
    root.close();
    w.file.flush(H5F_SCOPE_GLOBAL);
    w.file.close();
  } catch (const H5::Exception& e) {
    throw IoError(w.part, "writing failed (" + e.getDetailMsg() + ")");
  }
  if (std::rename(w.part.c_str(), w.path.c_str()) != 0) throw IoError(w.path, "cannot rename " + w.part + " to it");
  w.part.clear();
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
    if (kernels > 0) put(root, "kernels", &kernels, 1);
  } catch (const H5::Exception& e) {
    throw IoError(part, "nothing can be saved of it (" + e.getDetailMsg() + ")");
  }
  if (kernels == 0) throw IoError(part, "no kernel had ended");
  if (std::rename(part.c_str(), path.c_str()) != 0) throw IoError(path, "cannot rename " + part + " to it");
  return kernels;
}

}  // namespace atl
