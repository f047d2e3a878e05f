#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_atomic.hpp"
#include "inputs/ptx/exec_bulk.hpp"
#include "inputs/ptx/exec_mbarrier.hpp"
#include "inputs/ptx/tensor_map.hpp"

/// cp.async.bulk.tensor, cp.reduce.async.bulk.tensor and the prefetch of a tensor, in tile mode: a lane moves a box of a
/// tensor of up to five dimensions between global memory, where parts of it may lie out of bounds, and shared memory, where
/// its rows follow each other.
namespace atl::ptx::exec {
namespace {

constexpr unsigned kChunk = 16;  // bytes that a swizzle keeps together
constexpr unsigned kSharedAlignment = 128;
constexpr unsigned kMapAlignment = 64;

/// A row of the box: `bytes` at `global` and, in shared memory, `offset` behind the beginning of the box.
struct Row {
  std::uint64_t global = 0, offset = 0, bytes = 0;
};

TensorMap map_at(Warp& w, unsigned lane, std::uint64_t address, unsigned dimensions) {
  TensorMap map;
  std::memcpy(&map, translate(w, lane, address, sizeof map, kMapAlignment), sizeof map);
  if (map.magic != TensorMap::kMagic || map.dimensions != dimensions)
    throw Fault{
        ExecutionError::Kind::unsupported, lane,
        fmt::format("a copy of a tensor of {} dimensions by what is no such tensor map at {:#x}", dimensions, address)};
  return map;
}

/// The parts of the rows that are in bounds, in order.
void find_rows(const TensorMap& map, const std::int32_t* at, std::vector<Row>& out) {
  out.clear();
  const std::int64_t begin = std::max<std::int64_t>(0, -std::int64_t{at[0]});
  const std::int64_t end = std::min<std::int64_t>(map.box[0], static_cast<std::int64_t>(map.size[0]) - at[0]);
  if (begin >= end) return;
  std::array<std::uint32_t, TensorMap::kMostDimensions> n{};
  for (std::uint64_t row = 0;; ++row) {
    std::uint64_t global = map.address + static_cast<std::uint64_t>(at[0] + begin) * map.element();
    bool inside = true;
    for (unsigned d = 1; d < map.dimensions; ++d) {
      const std::int64_t index = std::int64_t{at[d]} + n[d];
      inside &= index >= 0 && static_cast<std::uint64_t>(index) < map.size[d];
      global += static_cast<std::uint64_t>(index) * map.stride[d - 1];
    }
    const auto first = static_cast<std::uint64_t>(begin), count = static_cast<std::uint64_t>(end - begin);
    if (inside) out.push_back({global, (row * map.box[0] + first) * map.element(), count * map.element()});
    unsigned d = 1;
    while (d < map.dimensions && ++n[d] == map.box[d]) n[d++] = 0;
    if (d >= map.dimensions) return;
  }
}

/// Where a byte of the box lies: chunks of 16 bytes are exchanged within 16 << n bytes, by the address above 128 bytes.
std::uint64_t swizzled(std::uint64_t address, unsigned swizzle) {
  return address ^ ((address >> 7 & ((1u << swizzle) - 1)) << 4);
}

/// `body(shared host pointer, offset in the row, bytes)` chunk by chunk.
template <class Body>
void for_chunks(std::uint64_t begin, std::byte* host, const TensorMap& map, const Row& row, Body body) {
  for (std::uint64_t done = 0; done < row.bytes;) {
    const std::uint64_t address = begin + row.offset + done;
    const std::uint64_t piece = std::min(row.bytes - done, kChunk - address % kChunk);
    body(host + (static_cast<std::int64_t>(swizzled(address, map.swizzle)) - static_cast<std::int64_t>(begin)), done, piece);
    done += piece;
  }
}

void fill(std::byte* to, const TensorMap& map, std::uint64_t bytes) {
  std::memset(to, 0, bytes);
  if (map.fill == TensorMap::Fill::zero) return;
  const std::uint64_t nan = map.element() == 2 ? 0x7FFF : map.element() == 4 ? 0x7FFFFFFF : 0x7FFFFFFFFFFFFFFF;
  for (std::uint64_t at = 0; at < bytes; at += map.element()) std::memcpy(to + at, &nan, map.element());
}

/// The event of the instruction has a row for each of its lanes; what is left goes into further events of it.
void record_rows(Warp& w, const Inst& i, const std::vector<Row>& rows) {
  if (w.recorder == nullptr) return;
  const std::uint32_t active = w.active;
  std::uint64_t address[kLanes] = {}, bytes[kLanes] = {};
  for (std::size_t next = 0, n = 0; n == 0 || next < rows.size(); ++n) {
    if (n > 0) {
      const std::size_t lanes = std::min<std::size_t>(kLanes, rows.size() - next);
      w.active = lanes == kLanes ? kFullMask : (1u << lanes) - 1;
      w.events.emplace_back(w.frame().code->first_id + i.index, w.active);
    }
    for_active(w.active, [&](unsigned l) {
      const Row row = next < rows.size() ? rows[next++] : Row{};
      address[l] = row.global, bytes[l] = row.bytes;
    });
    record_bulk(w, address, bytes);
  }
  w.active = active;
}

/// One lane's copy. Inst: src[0] shared memory, src[1] map, src[3] mbarrier, dst[0] mask of a multicast; in Code::refs from
/// `extra` on the coordinates, then the offset of the mbarrier.
class TensorCopy {
 public:
  TensorCopy(Warp& w, const Inst& i) : w_(w), i_(i), in_(w.frame().code->function->code[i.index]) {}

  void run() {
    std::uint64_t map[kLanes], shared[kLanes] = {}, bar[kLanes] = {};
    const Ref* refs = w_.frame().code->refs.data() + i_.extra;
    offsets(w_, i_.src[1], static_cast<std::int32_t>(i_.target), false, map);
    if (in_.mode != Mode::prefetch) offsets(w_, i_.src[0], i_.value, (i_.option & kNarrowBase) != 0, shared);
    const bool load = in_.space == Space::shared;
    if (load) offsets(w_, i_.src[3], static_cast<std::int32_t>(refs[in_.shape]), (i_.option & kNarrowBarrier) != 0, bar);
    w_.change();
    std::vector<Row> all;
    for_active(w_.active, [&](unsigned l) {
      const TensorMap m = map_at(w_, l, map[l], in_.shape);
      std::int32_t at[TensorMap::kMostDimensions] = {};
      for (unsigned d = 0; d < in_.shape; ++d) at[d] = w_.at<std::int32_t>(refs[d])[l];
      find_rows(m, at, rows_);
      for (const Row& row : rows_) translate(w_, l, row.global, row.bytes, 1);
      all.insert(all.end(), rows_.begin(), rows_.end());
      if (in_.mode == Mode::prefetch) return;
      check_rows(l);
      const std::uint64_t own = shared[l] | kSharedWindow;
      if (!load) return store(l, m, own);
      if (!in_.has(kMulticast)) return this->load(l, m, own, bar[l] | kSharedWindow);
      for_each_rank(w_.at<std::uint16_t>(i_.dst[0])[l],
                    [&](std::uint64_t rank) { this->load(l, m, at_rank(own, rank), at_rank(bar[l], rank)); });
    });
    record_rows(w_, i_, all);
  }

 private:
  std::byte* box(unsigned lane, const TensorMap& m, std::uint64_t address) {
    const std::uint64_t line = m.swizzle != 0 ? std::uint64_t{kChunk} << m.swizzle : kChunk;
    const std::uint64_t bytes = m.swizzle != 0 ? (m.box_bytes() + line - 1) / line * line : m.box_bytes();
    std::byte* host = translate(w_, lane, address, bytes, kSharedAlignment);
    if (w_.launch->spec->check != nullptr) check_shared_range(w_, lane, address, m.box_bytes());
    return host;
  }
  void check_rows(unsigned lane) {
    if (AccessCheck* const check = w_.launch->spec->check; check != nullptr)
      for (const Row& row : rows_) check->access(w_, lane, row.global, static_cast<std::uint32_t>(row.bytes));
  }

  void load(unsigned lane, const TensorMap& m, std::uint64_t to, std::uint64_t barrier) {
    std::byte* const host = box(lane, m, to);
    const std::uint64_t begin = to & kOwnOffset;
    for_chunks(begin, host, m, {0, 0, m.box_bytes()},
               [&](std::byte* at, std::uint64_t, std::uint64_t n) { fill(at, m, n); });
    for (const Row& row : rows_) {
      const std::byte* from = translate(w_, lane, row.global, row.bytes, 1);
      if (shows(w_, i_)) show_global_range(w_, i_, lane, row.global, row.bytes, m.element(), nullptr);
      for_chunks(begin, host, m, row,
                 [&](std::byte* at, std::uint64_t done, std::uint64_t n) { std::memcpy(at, from + done, n); });
    }
    complete_transaction(w_, lane, barrier, m.box_bytes());
  }

  void store(unsigned lane, const TensorMap& m, std::uint64_t from) {
    const Combine combine = in_.mode == Mode::copy ? nullptr : combine_of(m.type, in_.mode);
    if (in_.mode != Mode::copy && combine == nullptr)
      throw Fault{ExecutionError::Kind::unsupported, lane, "a reduction that elements of this tensor do not have"};
    std::byte* const host = box(lane, m, from);
    std::vector<std::byte> bytes;
    for (const Row& row : rows_) {
      bytes.resize(row.bytes);
      for_chunks(from & kOwnOffset, host, m, row,
                 [&](const std::byte* at, std::uint64_t done, std::uint64_t n) { std::memcpy(bytes.data() + done, at, n); });
      std::byte* to = translate(w_, lane, row.global, row.bytes, 1);
      if (shows(w_, i_)) show_global_range(w_, i_, lane, row.global, row.bytes, m.element(), bytes.data());
      if (combine == nullptr) {
        std::memcpy(to, bytes.data(), row.bytes);
      } else {
        for (std::uint64_t at = 0; at < row.bytes; at += m.element()) combine(to + at, bytes.data() + at);
      }
    }
  }

  Warp& w_;
  const Inst& i_;
  const Instruction& in_;
  std::vector<Row> rows_;
};

}  // namespace

bool decode_tensor_copy(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const bool load = in.space == Space::shared && in.source_space == Space::global;
  const bool store = in.space == Space::global && in.source_space == Space::shared;
  const bool prefetch = in.mode == Mode::prefetch && in.space == Space::global;
  if (!(load ? in.mode == Mode::copy : store || prefetch) || (in.has(kMulticast) && !load)) return false;
  if (in.sources < (in.has(kMulticast) ? 5u : load ? 4u : prefetch ? 2u : 3u)) return false;
  const unsigned map = load ? 1 : 0, shared = load ? 0 : 2;
  const std::vector<Operand> coordinates = d.elements(in.src[map + 1]);
  if (coordinates.size() != in.shape || d.width(in.src[map], 8) != 8) return false;
  std::vector<Ref> refs;
  for (const Operand& c : coordinates) refs.push_back(d.source(c, Type::s32));
  std::uint8_t option = strength_of_bulk(in);
  if (load) {
    take_address(d, in.src[3], 3);
    refs.push_back(static_cast<Ref>(out.value));
    option = (out.option & kNarrowBase) != 0 ? kNarrowBarrier : 0;
    if (in.has(kMulticast)) out.dst[0] = d.source(in.src[4], Type::u16);
  }
  out.option = 0;
  take_address(d, in.src[map], 1);
  out.target = static_cast<std::uint32_t>(out.value);
  out.option = option;
  if (!prefetch) take_address(d, in.src[shared], 0);
  out.bytes = kChunk, out.count = 1;
  out.extra = static_cast<std::uint32_t>(d.code().refs.size());
  d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  out.traced = 2, out.watch = prefetch ? 0 : kShows;
  out.run = [](Warp& w, const Inst& i) { TensorCopy(w, i).run(); };
  return true;
}

}  // namespace atl::ptx::exec
