#include "inputs/trace/trace_kernel_reader.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

#include "core/engine/hdf5_lock.hpp"
#include "inputs/trace/address_codec.hpp"

namespace atl {

using namespace trace_format;

TraceKernelReader::TraceKernelReader(const H5::H5File& file, const std::string& path, std::uint32_t version,
                                     std::size_t kernel, const KernelInfo& info)
    : where_(path + ":" + kernel_group(kernel)), warps_per_cta_(info.warps()), warps_share_(version > 1) {
  H5::Group group;
  try {
    group = trace_objects::open_group(file, kernel_group(kernel), where_);
  } catch (const H5::Exception&) {
    throw InputError(where_, "this group cannot be opened; the file is not a complete trace");
  }
  block_index_.open(group, where_, "block_index");
  cta_warps_.open(group, where_, "cta_warps");
  if (warps_share_) warp_program_.open(group, where_, "warp_program");
  program_ops_.open(group, where_, warps_share_ ? "program_ops" : "warp_ops");
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
  const std::size_t width = warps_share_ ? kIndexColumns : kIndexColumns - 1;
  if (index_.size() < 2 * width || index_.size() % width != 0)
    throw InputError(where, "expected rows of " + std::to_string(width) + " and at least two, found " +
                                std::to_string(index_.size()) + " numbers");
  const std::size_t rows = index_.size() / width;
  for (std::size_t c = 0; c < width; ++c) {
    bool ordered = index_[c] == 0;
    for (std::size_t at = c; at + width < index_.size(); at += width)
      ordered = ordered && index_[at] <= index_[at + width] && (c != kCta || index_[at] < index_[at + width]);
    if (!ordered) throw InputError(where, "column " + std::to_string(c) + " does not rise from 0");
  }
  if (!warps_share_)
    for (std::size_t r = 0; r < rows; ++r) {
      const auto warp = index_.begin() + static_cast<std::ptrdiff_t>(r * kIndexColumns + kWarp);
      index_.insert(warp + 1, *warp);
    }
  const std::uint64_t* end = row(rows - 1);
  const auto expect = [&](const auto& column, IndexColumn of) {
    if (column.size() != end[of])
      throw InputError(column.where(), "has " + std::to_string(column.size()) + " elements, but block_index ends at " +
                                           std::to_string(end[of]));
  };
  if (end[kCta] != ctas)
    throw InputError(where, "ends at CTA " + std::to_string(end[kCta]) + ", but the grid has " + std::to_string(ctas));
  expect(cta_warps_, kCta);
  if (warps_share_) expect(warp_program_, kWarp);
  expect(program_ops_, kProgram);
  expect(op_kind_, kOp);
  expect(op_slot_, kOp);
  expect(op_flags_, kOp);
  expect(op_accesses_, kOp);
  expect(op_issue_, kOp);
  expect(op_latency_, kOp);
  expect(op_wait_, kOp);
  expect(access_sectors_, kAccess);
  expect(access_delta_, kByte);
}

std::size_t TraceKernelReader::block_of(std::uint64_t cta) const {
  std::size_t low = 0, high = index_.size() / kIndexColumns - 1;  // first_cta(low) <= cta < first_cta(high)
  while (high - low > 1) {
    const std::size_t middle = (low + high) / 2;
    (row(middle)[kCta] <= cta ? low : high) = middle;
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
  check_block(block);
  make_programs(block);
  check_size(block, sectors_.size());
  std::size_t ops = 0;
  for (const std::uint32_t which : which_) ops += programs_[which].count;
  out.ops.resize(ops);
  out.accesses.resize(sectors_.size());

  std::size_t warp = 0, op = 0, access = 0;
  const std::uint8_t *bytes = bytes_.data(), *bytes_end = bytes + bytes_.size();
  std::uint64_t warp_start = 0;  // first block address of the warp before
  for (const std::uint32_t warps : warps_) {
    const std::size_t cta_op = op, cta_access = access;
    for (std::uint32_t w = 0; w < warps; ++w, ++warp) {
      const Program& program = programs_[which_[warp]];
      out.warps.push_back({static_cast<std::uint32_t>(op - cta_op), program.count});
      const auto first_access = static_cast<std::uint32_t>(access - cta_access);
      for (std::uint32_t n = 0; n < program.count; ++n) {
        out.ops[op + n] = ops_[program.first + n];
        out.ops[op + n].first_access += first_access;
      }
      std::uint64_t address = warp_start;
      const std::size_t end = access + program.accesses;
      for (std::size_t a = access; a != end; ++a) {
        if (!take_delta(bytes, bytes_end, address) || address >= kMaxBlockAddress)
          fail(access_delta_.where(), block, "holds no valid address for access " + std::to_string(a));
        if (a == access) warp_start = address;
        out.accesses[a].packed = address << 8 | sectors_[a];
      }
      if (program.local) check_rows(block, std::span(ops_).subspan(program.first, program.count), &out.accesses[access]);
      op += program.count, access = end;
    }
    out.end_cta(op, access, warp);
  }
  if (bytes != bytes_end) fail(access_delta_.where(), block, "holds more addresses than accesses");
}

namespace {
/// A warp counts what is under way in a slot in eight bits, and an access of 128 bytes may be two lines.
class AccessesUnderWay {
 public:
  static constexpr unsigned kMost = 127;

  bool take(const Op& op) {
    for (std::uint32_t free = op.wait; free != 0; free &= free - 1) of_slot_[std::countr_zero(free)] = 0;
    if (op.slot == kNoSlot) return true;
    return (of_slot_[op.slot] += std::max<unsigned>(op.accesses, 1)) <= kMost;
  }

 private:
  std::array<unsigned, kScoreboardSlots> of_slot_{};
};
constexpr const char* kTooManyUnderWay =
    "has a warp with more than 127 accesses under way in one scoreboard slot: an op must wait for the slot (op_wait) before";
}  // namespace

void TraceKernelReader::read_block(const std::uint64_t* first, const std::uint64_t* last) {
  const Hdf5Lock lock;
  const auto read = [&](auto& column, IndexColumn of, auto& out) { column.read(first[of], last[of] - first[of], out); };
  read(cta_warps_, kCta, warps_);
  if (warps_share_) read(warp_program_, kWarp, which_);
  read(program_ops_, kProgram, counts_);
  read(op_kind_, kOp, kind_);
  read(op_slot_, kOp, slot_);
  read(op_flags_, kOp, flags_);
  read(op_accesses_, kOp, accesses_);
  read(op_issue_, kOp, issue_);
  read(op_latency_, kOp, latency_);
  read(op_wait_, kOp, wait_);
  read(access_sectors_, kAccess, sectors_);
  read(access_delta_, kByte, bytes_);
  if (warps_share_) return;
  which_.resize(counts_.size());
  std::iota(which_.begin(), which_.end(), 0u);
}

/// Ops of the programs, which are the same in all warps but for the place of their accesses.
void TraceKernelReader::make_programs(std::size_t block) {
  programs_.clear();
  ops_.resize(kind_.size());
  std::uint32_t op = 0;
  if (std::count(kind_.begin(), kind_.end(), static_cast<std::uint8_t>(OpKind::exit)) >
      std::count_if(counts_.begin(), counts_.end(), [](std::uint32_t n) { return n != 0; }))
    fail(op_kind_.where(), block, "has ops behind the exit of a warp");
  for (const std::uint32_t count : counts_) {
    Program program{op, count};
    AccessesUnderWay under_way;
    for (; op != program.first + count; ++op) {
      ops_[op] = {wait_[op],
                  static_cast<std::uint32_t>(program.accesses),
                  issue_[op],
                  latency_[op],
                  static_cast<OpKind>(kind_[op]),
                  slot_[op],
                  flags_[op],
                  accesses_[op]};
      if (!under_way.take(ops_[op])) fail(op_slot_.where(), block, kTooManyUnderWay);
      program.accesses += accesses_[op];
      program.local |= (flags_[op] & kLocal) != 0;
    }
    if (count != 0 && ops_[op - 1].kind != OpKind::exit)
      fail(op_kind_.where(), block, "has a warp that does not end with an exit");
    programs_.push_back(program);
  }
}

/// A few bytes can stand for any number of ops, if warps share them.
void TraceKernelReader::check_size(std::size_t block, std::uint64_t accesses) const {
  std::uint64_t ops = 0, needed = 0;
  for (const std::uint32_t which : which_) {
    if (which >= programs_.size()) fail(warp_program_.where(), block, "has a warp of a program that is not in it");
    ops += programs_[which].count, needed += programs_[which].accesses;
  }
  if (ops > kMaxBlockItems) fail(warp_program_.where(), block, "has more ops than any that is written");
  if (needed != accesses) fail(op_accesses_.where(), block, "counts accesses that are not in it");
}

/// Ops of local memory are loads and stores, of rows that exist.
void TraceKernelReader::check_rows(std::size_t block, std::span<const Op> ops, const Access* accesses) const {
  for (const Op& op : ops) {
    if ((op.flags & kLocal) == 0) continue;
    const Access* first = accesses + op.first_access;
    const bool valid = (op.kind == OpKind::load || op.kind == OpKind::store) &&
                       std::all_of(first, first + op.accesses, [](const Access& a) { return a.block() < kLocalRows; });
    if (!valid) fail(op_flags_.where(), block, "has an op of local memory that is no load or store of a thread's 16 MiB");
  }
}

void TraceKernelReader::check_block(std::size_t block) const {
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
  if (total(warps_) != which_.size()) fail(cta_warps_.where(), block, "counts warps that are not in it");
  if (total(counts_) != kind_.size()) fail(program_ops_.where(), block, "counts ops that are not in it");
  if (!all(accesses_, [](std::uint8_t n) { return n <= kMaxAccesses; }))
    fail(op_accesses_.where(), block, "has an op with more than 64 accesses");
  if (!all(kind_, [](std::uint8_t k) { return k <= static_cast<std::uint8_t>(OpKind::exit); }))
    fail(op_kind_.where(), block, "has an op of unknown kind");
  bool touch_memory = true, have_results = true, take_slots = true;  // ops that have accesses, a slot, issue slots
  for (std::size_t i = 0; i < kind_.size(); ++i) {
    const auto kind = static_cast<OpKind>(kind_[i]);
    touch_memory &= (accesses_[i] == 0) | has_accesses(kind);
    have_results &= (slot_[i] == kNoSlot) | has_result(kind);
    take_slots &= (issue_[i] <= 1) | has_issue_slots(kind);
  }
  if (!touch_memory) fail(op_accesses_.where(), block, "has accesses of an op that is no load, store or atomic");
  if (!have_results)
    fail(op_slot_.where(), block, "has a scoreboard slot of an op that is no load, atomic or shared access");
  if (!take_slots)
    fail(op_issue_.where(), block, "has several issue slots of an op that is neither compute nor a shared access");
  if (!all(slot_, [](std::uint8_t s) { return (s < kScoreboardSlots) | (s == kNoSlot); }))
    fail(op_slot_.where(), block, "has a scoreboard slot above 31");
  if (!all(flags_, [](std::uint8_t f) { return f <= (kReadOnly | kBypassL1 | kPartial | kLocal); }))
    fail(op_flags_.where(), block, "has an unknown flag");
  if (!all(issue_, [](std::uint16_t n) { return n > 0; })) fail(op_issue_.where(), block, "has an op without issue slot");
  if (!all(sectors_, [](std::uint8_t s) { return (s > 0) & (s <= 0xF); }))
    fail(access_sectors_.where(), block,
         std::ranges::count(sectors_, 0) != 0 ? "has an access to no sector" : "has sectors that do not exist");
}

}  // namespace atl
