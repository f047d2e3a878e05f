#include "inputs/trace/kernel_columns.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "inputs/trace/trace_columns.hpp"
#include "inputs/trace/trace_format.hpp"
#include "inputs/trace/trace_groups.hpp"

namespace atl {
namespace {

using namespace trace_format;

static_assert(std::endian::native == std::endian::little, "chunks are given to the file as they lie in memory");

struct Kind {
  const char* name;
  unsigned bytes;  // of an element
};
constexpr std::array<Kind, KernelColumns::kColumns> kKinds = {{{"cta_warps", 4},
                                                               {"warp_program", 4},
                                                               {"program_ops", 4},
                                                               {"op_kind", 1},
                                                               {"op_slot", 1},
                                                               {"op_flags", 1},
                                                               {"op_accesses", 1},
                                                               {"op_issue", 2},
                                                               {"op_latency", 2},
                                                               {"op_wait", 4},
                                                               {"access_sectors", 1},
                                                               {"access_delta", 1},
                                                               {"block_index", 8}}};

const H5::PredType& type_of(unsigned bytes) {
  return bytes == 1   ? file_type<std::uint8_t>()
         : bytes == 2 ? file_type<std::uint16_t>()
         : bytes == 4 ? file_type<std::uint32_t>()
                      : file_type<std::uint64_t>();
}

/// Without a time, so that recording twice gives the same bytes, and without room for attributes, which none has.
void plain_header(H5::DSetCreatPropList& properties) {
  H5Pset_obj_track_times(properties.getId(), false);
  H5Pset_dset_no_attrs_hint(properties.getId(), true);
}

void write_packed(const H5::DataSet& data, hsize_t offset, const Chunk& chunk) {
  constexpr std::uint32_t kAllFilters = 0;
  if (H5Dwrite_chunk(data.getId(), H5P_DEFAULT, kAllFilters, &offset, chunk.packed.size(), chunk.packed.data()) < 0)
    throw H5::DataSetIException("H5Dwrite_chunk", "cannot write a chunk");
}

}  // namespace

KernelColumns::KernelColumns(unsigned level, unsigned helpers) : level_(level), queue_(level, helpers) {
  for (Written& w : columns_) w.chunk = queue_.spare();
}

std::uint64_t KernelColumns::size(Column column) const {
  const Written& w = columns_[column];
  return w.full * kChunk + w.chunk->bytes.size() / kKinds[column].bytes;
}

void KernelColumns::append_bytes(Column column, const std::uint8_t* bytes, std::size_t count) {
  const std::size_t most = kChunk * kKinds[column].bytes;
  while (count > 0) {
    std::vector<std::uint8_t>* to = &columns_[column].chunk->bytes;
    if (to->size() == most) push(column), to = &columns_[column].chunk->bytes;  // not before more comes (write_rest)
    const std::size_t now = std::min(count, most - to->size());
    to->insert(to->end(), bytes, bytes + now);
    bytes += now, count -= now;
  }
}

void KernelColumns::append_program(const CtaColumns& cta, std::size_t program, std::size_t op) {
  const std::uint32_t count = cta.program_ops.values[program];
  append(program_ops, &count, 1);
  const auto take = [&](Column column, const auto& values) { append(column, values.values.data() + op, count); };
  take(op_kind, cta.op_kind), take(op_slot, cta.op_slot), take(op_flags, cta.op_flags), take(op_accesses, cta.op_accesses);
  take(op_issue, cta.op_issue), take(op_latency, cta.op_latency), take(op_wait, cta.op_wait);
}

void KernelColumns::append_accesses(const CtaColumns& cta) {
  append(access_sectors, cta.access_sectors.values.data(), cta.access_sectors.size);
  append(access_delta, cta.access_delta.values.data(), cta.access_delta.size);
}

/// The chunk is full, or the last one.
void KernelColumns::push(Column column) {
  Written& w = columns_[column];
  w.chunk->column = column, w.chunk->element = kKinds[column].bytes;
  queue_.push(std::exchange(w.chunk, queue_.spare()));
  ++w.full;
}

H5::DSetCreatPropList KernelColumns::chunked(hsize_t elements) const {
  H5::DSetCreatPropList properties;
  properties.setChunk(1, &elements);
  if (level_ != 0) {
    properties.setShuffle();
    properties.setDeflate(static_cast<int>(level_));
  }
  plain_header(properties);
  properties.setFletcher32();  // a flipped bit is an error, never another address
  return properties;
}

void KernelColumns::make_group(H5::H5File& file) {
  if (!H5Iis_valid(group_.getId())) group_ = trace_groups::create(file, kColumns);
}

void KernelColumns::create(H5::H5File& file, Column column, hsize_t elements, const hsize_t* most,
                           const H5::DSetCreatPropList& properties) {
  make_group(file);
  const Kind& kind = kKinds[column];
  columns_[column].data =
      group_.createDataSet(kind.name, type_of(kind.bytes), H5::DataSpace(1, &elements, most), properties);
}

/// The next chunk of its column, compressed. `elements`: the column's with it.
void KernelColumns::write(H5::H5File& file, const Chunk& chunk, hsize_t elements) {
  const auto column = static_cast<Column>(chunk.column);
  Written& w = columns_[column];
  const hsize_t none = 0, unlimited = H5S_UNLIMITED, offset = w.in_file++ * kChunk;
  if (!H5Iis_valid(w.data.getId())) create(file, column, none, &unlimited, chunked(kChunk));
  w.data.extend(&elements);
  write_packed(w.data, offset, chunk);
}

void KernelColumns::write_due(H5::H5File& file) {
  while (std::unique_ptr<Chunk> chunk = queue_.take_done()) {
    key_.add(&chunk->column, 1);
    key_.add(chunk->packed.data(), chunk->packed.size());
    write(file, *chunk, (columns_[chunk->column].in_file + 1) * kChunk);
    queue_.give_back(std::move(chunk));
  }
}

ContentKey KernelColumns::write_full(H5::H5File& file) {
  queue_.finish();
  write_due(file);
  for (const Written& w : columns_) key_.add(w.chunk->bytes.data(), w.chunk->bytes.size());
  return key_;
}

H5::Group KernelColumns::write_rest(H5::H5File& file, std::uint64_t kernel) {
  std::array<hsize_t, kColumns> elements;
  for (unsigned c = 0; c < kColumns; ++c) {
    Written& w = columns_[c];
    elements[c] = size(static_cast<Column>(c));
    if (w.full == 0 && w.chunk->bytes.size() <= kCompactBytes) continue;
    if (w.full != 0) w.chunk->bytes.resize(kChunk * kKinds[c].bytes);  // all chunks of a column are of one size
    push(static_cast<Column>(c));
  }
  queue_.finish();
  for (unsigned c = 0; c < kColumns; ++c) {
    Written& w = columns_[c];
    const auto column = static_cast<Column>(c);
    if (w.full == 0) {
      if (!link_to_equal(file, kernel, column, elements[c], w.chunk->bytes)) write_compact(file, column, elements[c]);
      continue;
    }
    const std::unique_ptr<Chunk> chunk = queue_.take_done();
    if (w.full > 1)
      write(file, *chunk, elements[c]);
    else if (!link_to_equal(file, kernel, column, elements[c], chunk->packed))
      write_whole(file, *chunk, elements[c]);
  }
  H5::Group group = group_;
  reset();
  return group;
}

/// `bytes`: as they would be stored.
bool KernelColumns::link_to_equal(H5::H5File& file, std::uint64_t kernel, Column column, hsize_t elements,
                                  const std::vector<std::uint8_t>& bytes) {
  const std::uint64_t what[] = {column, elements, columns_[column].full};
  ContentKey content;
  content.add(what, std::size(what));
  content.add(bytes.data(), bytes.size());
  const auto [equal, is_new] = equal_.emplace(content.value(), kernel);
  if (is_new) return false;
  make_group(file);
  const std::string from = kernel_group(equal->second) + "/" + kKinds[column].name;
  if (H5Lcreate_hard(file.getId(), from.c_str(), group_.getId(), kKinds[column].name, H5P_DEFAULT, H5P_DEFAULT) < 0)
    throw H5::DataSetIException("H5Lcreate_hard", "cannot share " + from);
  return true;
}

/// A column that will not grow needs no index of its chunks, and a few bytes no chunk: they lie in the object header, which
/// has a checksum of its own.
void KernelColumns::write_compact(H5::H5File& file, Column column, hsize_t elements) {
  H5::DSetCreatPropList properties;
  properties.setLayout(H5D_COMPACT);
  plain_header(properties);
  create(file, column, elements, nullptr, properties);
  const Written& w = columns_[column];
  if (elements != 0) w.data.write(w.chunk->bytes.data(), type_of(kKinds[column].bytes));
}

void KernelColumns::write_whole(H5::H5File& file, const Chunk& chunk, hsize_t elements) {
  const auto column = static_cast<Column>(chunk.column);
  create(file, column, elements, nullptr, chunked(elements));
  write_packed(columns_[column].data, 0, chunk);
}

void KernelColumns::drop() {
  queue_.clear();
  if (H5Iis_valid(group_.getId())) {
    for (Written& w : columns_) w.data.close();
    trace_groups::drop(group_);
  }
  reset();
}

void KernelColumns::reset() {
  queue_.clear();
  for (Written& w : columns_) {
    w.chunk->bytes.clear();
    w.full = w.in_file = 0;
    w.data.close();
  }
  group_ = H5::Group();
  key_ = {};
}

}  // namespace atl
