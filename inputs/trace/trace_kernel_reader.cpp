#include "inputs/trace/trace_kernel_reader.hpp"

#include <algorithm>

#include "core/engine/hdf5_lock.hpp"
#include "inputs/trace/address_codec.hpp"

namespace atl {

using namespace trace_format;

TraceKernelReader::TraceKernelReader(const H5::H5File& file, const std::string& path, std::size_t kernel,
                                     const KernelInfo& info)
    : where_(path + ":" + kernel_group(kernel)), warps_per_cta_(info.warps()) {
  H5::Group group;
  try {
    group = file.openGroup(kernel_group(kernel));
  } catch (const H5::Exception&) {
    throw InputError(where_, "this group cannot be opened; the file is not a complete trace");
  }
  block_index_.open(group, where_, "block_index");
  cta_warps_.open(group, where_, "cta_warps");
  warp_ops_.open(group, where_, "warp_ops");
  op_wait_.open(group, where_, "op_wait");
  op_issue_.open(group, where_, "op_issue");
  op_latency_.open(group, where_, "op_latency");
  op_kind_.open(group, where_, "op_kind");
  op_slot_.open(group, where_, "op_slot");
  op_flags_.open(group, where_, "op_flags");
  op_accesses_.open(group, where_, "op_accesses");
  access_sectors_.open(group, where_, "access_sectors");
  access_delta_.open(group, where_, "access_delta");
  block_index_.read(0, block_index_.size(), index_);
  check_index(info.ctas());
}

void TraceKernelReader::check_index(std::uint64_t ctas) {
  const std::string& where = block_index_.where();
  if (index_.size() < 2 * kIndexColumns || index_.size() % kIndexColumns != 0)
    throw InputError(where, "expected rows of " + std::to_string(kIndexColumns) + " and at least two, found " +
                                std::to_string(index_.size()) + " numbers");
  const std::size_t blocks = index_.size() / kIndexColumns - 1;
  for (unsigned c = 0; c < kIndexColumns; ++c) {
    bool ordered = row(0)[c] == 0;
    for (std::size_t b = 0; b < blocks; ++b)
      ordered = ordered && row(b)[c] <= row(b + 1)[c] && (c > 0 || row(b)[c] < row(b + 1)[c]);
    if (!ordered) throw InputError(where, "column " + std::to_string(c) + " does not rise from 0");
  }
  const std::uint64_t* end = row(blocks);
  const auto expect = [&](const auto& column, std::uint64_t length) {
    if (column.size() != length)
      throw InputError(column.where(), "has " + std::to_string(column.size()) + " elements, but block_index ends at " +
                                           std::to_string(length));
  };
  if (end[0] != ctas)
    throw InputError(where, "ends at CTA " + std::to_string(end[0]) + ", but the grid has " + std::to_string(ctas));
  expect(cta_warps_, end[0]);
  expect(warp_ops_, end[1]);
  expect(op_kind_, end[2]);
  expect(op_slot_, end[2]);
  expect(op_flags_, end[2]);
  expect(op_accesses_, end[2]);
  expect(op_issue_, end[2]);
  expect(op_latency_, end[2]);
  expect(op_wait_, end[2]);
  expect(access_sectors_, end[3]);
  expect(access_delta_, end[4]);
}

std::size_t TraceKernelReader::block_of(std::uint64_t cta) const {
  std::size_t low = 0, high = index_.size() / kIndexColumns - 1;  // first_cta(low) <= cta < first_cta(high)
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (row(middle)[0] <= cta ? low : high) = middle;
  }
  return low;
}

void TraceKernelReader::fail(const std::string& where, std::size_t block, const std::string& what) {
  throw InputError(where, "block " + std::to_string(block) + " " + what + "; the file is damaged");
}

void TraceKernelReader::decode(std::size_t block, CtaBlock& out) {
  const std::uint64_t *first = row(block), *last = row(block + 1);
  for (unsigned c = 0; c < kIndexColumns; ++c)
    if (last[c] - first[c] > kMaxBlockItems) fail(block_index_.where(), block, "is larger than any that is written");
  out.clear();
  read_block(first, last);
  check_block(block, last[3] - first[3]);
  out.ops.resize(kind_.size());
  out.accesses.resize(sectors_.size());

  std::size_t warp = 0, op = 0, access = 0;
  const std::uint8_t *bytes = bytes_.data(), *bytes_end = bytes + bytes_.size();
  std::uint64_t warp_start = 0;  // first block address of the warp before
  for (const std::uint32_t warps : warps_) {
    const std::size_t cta_op = op, cta_access = access;
    for (std::uint32_t w = 0; w < warps; ++w, ++warp) {
      const std::size_t op_end = op + counts_[warp], warp_access = access;
      if (op_end != op && kind_[op_end - 1] != static_cast<std::uint8_t>(OpKind::exit))
        fail(op_kind_.where(), block, "has a warp that does not end with an exit");
      out.warps.push_back({static_cast<std::uint32_t>(op - cta_op), counts_[warp]});
      for (; op != op_end; ++op) {
        Op& made = out.ops[op];
        made = {wait_[op],
                static_cast<std::uint32_t>(access - cta_access),
                issue_[op],
                latency_[op],
                static_cast<OpKind>(kind_[op]),
                slot_[op],
                flags_[op],
                accesses_[op]};
        access += accesses_[op];
      }
      std::uint64_t address = warp_start;
      for (std::size_t a = warp_access; a != access; ++a) {
        if (!take_delta(bytes, bytes_end, address) || address >= kMaxBlockAddress)
          fail(access_delta_.where(), block, "holds no valid address for access " + std::to_string(a));
        if (a == warp_access) warp_start = address;
        out.accesses[a].packed = address << 8 | sectors_[a];
      }
      check_rows(block, out, op_end - counts_[warp], op_end, cta_access);
    }
    out.end_cta(op, access, warp);
  }
  if (bytes != bytes_end) fail(access_delta_.where(), block, "holds more addresses than accesses");
}

/// Ops of local memory are loads and stores, of rows that exist.
void TraceKernelReader::check_rows(std::size_t block, const CtaBlock& read, std::size_t op, std::size_t end,
                                   std::size_t cta_access) const {
  for (; op != end; ++op) {
    if ((flags_[op] & kLocal) == 0) continue;
    const Op& local = read.ops[op];
    const Access* first = read.accesses.data() + cta_access + local.first_access;
    const bool valid = (local.kind == OpKind::load || local.kind == OpKind::store) &&
                       std::all_of(first, first + local.accesses, [](const Access& a) { return a.block() < kLocalRows; });
    if (!valid) fail(op_flags_.where(), block, "has an op of local memory that is no load or store of a thread's 16 MiB");
  }
}

void TraceKernelReader::read_block(const std::uint64_t* first, const std::uint64_t* last) {
  const Hdf5Lock lock;
  cta_warps_.read(first[0], last[0] - first[0], warps_);
  warp_ops_.read(first[1], last[1] - first[1], counts_);
  const std::uint64_t ops = last[2] - first[2];
  op_kind_.read(first[2], ops, kind_);
  op_slot_.read(first[2], ops, slot_);
  op_flags_.read(first[2], ops, flags_);
  op_accesses_.read(first[2], ops, accesses_);
  op_issue_.read(first[2], ops, issue_);
  op_latency_.read(first[2], ops, latency_);
  op_wait_.read(first[2], ops, wait_);
  access_sectors_.read(first[3], last[3] - first[3], sectors_);
  access_delta_.read(first[4], last[4] - first[4], bytes_);
}

void TraceKernelReader::check_block(std::size_t block, std::uint64_t accesses) const {
  const auto total = [](const auto& counts) {
    std::uint64_t sum = 0;
    for (const auto count : counts) sum += count;
    return sum;
  };
  const auto all = [](const auto& values, auto valid) {
    bool good = true;  // no early exit: the loop becomes vector code
    for (const auto value : values) good &= valid(value);
    return good;
  };
  if (!all(warps_, [this](std::uint32_t n) { return n <= warps_per_cta_; }))
    fail(cta_warps_.where(), block, "has a CTA of more warps than its kernel's blocks");
  if (total(warps_) != counts_.size()) fail(cta_warps_.where(), block, "counts warps that are not in it");
  if (total(counts_) != kind_.size()) fail(warp_ops_.where(), block, "counts ops that are not in it");
  if (total(accesses_) != accesses) fail(op_accesses_.where(), block, "counts accesses that are not in it");
  if (!all(accesses_, [](std::uint8_t n) { return n <= kMaxAccesses; }))
    fail(op_accesses_.where(), block, "has an op with more than 64 accesses");
  if (!all(kind_, [](std::uint8_t k) { return k <= static_cast<std::uint8_t>(OpKind::exit); }))
    fail(op_kind_.where(), block, "has an op of unknown kind");
  if (!all(slot_, [](std::uint8_t s) { return (s < kScoreboardSlots) | (s == kNoSlot); }))
    fail(op_slot_.where(), block, "has a scoreboard slot above 31");
  if (!all(flags_, [](std::uint8_t f) { return f <= (kReadOnly | kBypassL1 | kPartial | kLocal); }))
    fail(op_flags_.where(), block, "has an unknown flag");
  if (!all(issue_, [](std::uint16_t n) { return n > 0; })) fail(op_issue_.where(), block, "has an op without issue slot");
  if (!all(sectors_, [](std::uint8_t s) { return s <= 0xF; }))
    fail(access_sectors_.where(), block, "has sectors that do not exist");
}

}  // namespace atl
