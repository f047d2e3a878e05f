#include <fmt/format.h>

#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_atomic.hpp"
#include "inputs/ptx/exec_bulk.hpp"
#include "inputs/ptx/exec_mbarrier.hpp"

/// cp.async.bulk and cp.reduce.async.bulk: a lane moves many bytes between global memory and the shared memory of its own or
/// another CTA of the cluster. st.async and red.async: a few into that of another. All of it is done at once; the bytes are
/// counted at an mbarrier.
namespace atl::ptx::exec {
namespace {

constexpr unsigned kPiece = 16;  // bytes: size and addresses are multiples (PTX ISA)

/// One lane's copy. Addresses are generic.
struct BulkCopy {
  std::uint64_t to = 0, from = 0, bytes = 0;
};

void check_bulk(unsigned lane, const BulkCopy& c) {
  if ((c.to | c.from | c.bytes) % kPiece != 0)
    throw Fault{ExecutionError::Kind::misaligned, lane,
                fmt::format("a bulk copy of {} bytes from {:#x} to {:#x} is not aligned to {} bytes", c.bytes, c.from, c.to,
                            kPiece)};
}

void copy_lane(Warp& w, const Inst& i, unsigned lane, const BulkCopy& c) {
  const Instruction& in = w.frame().code->function->code[i.index];
  std::byte* const to = translate(w, lane, c.to, c.bytes, kPiece);
  const std::byte* const from = translate(w, lane, c.from, c.bytes, kPiece);
  if (AccessCheck* const check = w.launch->spec->check; check != nullptr)
    for (const std::uint64_t side : {c.from, c.to}) {
      if (in_shared(side))
        check_shared_range(w, lane, side, c.bytes);
      else
        check->access(w, lane, side, static_cast<std::uint32_t>(c.bytes));
    }
  if (shows(w, i)) {
    if (!in_shared(c.from)) show_global_range(w, i, lane, c.from, c.bytes, 8, nullptr);
    if (!in_shared(c.to)) show_global_range(w, i, lane, c.to, c.bytes, 8, from);
  }
  if (in.mode == Mode::copy) {
    std::memmove(to, from, c.bytes);
    return;
  }
  const Combine combine = combine_of(in.type, in.mode);
  for (std::uint64_t offset = 0; offset < c.bytes; offset += size_of(in.type)) combine(to + offset, from + offset);
}

/// Inst: src[0] destination, src[1] source, src[2] bytes, src[3] mbarrier, dst[0] mask of a multicast.
void copy_bulk(Warp& w, const Inst& i) {
  const Instruction& in = w.frame().code->function->code[i.index];
  std::uint64_t to[kLanes], from[kLanes], bar[kLanes] = {}, size[kLanes];
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, to);
  offsets(w, i.src[1], static_cast<std::int32_t>(i.target), (i.option & kNarrowSource) != 0, from);
  const auto* bytes = w.at<std::uint32_t>(i.src[2]);
  const bool counted = in.space == Space::shared;
  if (counted) offsets(w, i.src[3], static_cast<std::int32_t>(i.extra), (i.option & kNarrowBarrier) != 0, bar);
  for (unsigned l = 0; l < kLanes; ++l) {
    if (in.space == Space::shared) to[l] |= kSharedWindow;
    if (in.source_space == Space::shared) from[l] |= kSharedWindow;
    bar[l] |= kSharedWindow;
    size[l] = bytes[l];
  }
  w.change();
  if (i.traced != 0) record_bulk(w, in.space == Space::global ? to : from, size);
  for_active(w.active, [&](unsigned l) {
    const auto each = [&](std::uint64_t target, std::uint64_t barrier) {
      const BulkCopy c{target, from[l], bytes[l]};
      check_bulk(l, c);
      if (c.bytes != 0) copy_lane(w, i, l, c);
      if (counted) complete_transaction(w, l, barrier, c.bytes);
    };
    if (!in.has(kMulticast)) return each(to[l], bar[l]);
    for_each_rank(w.at<std::uint16_t>(i.dst[0])[l],
                  [&](std::uint64_t rank) { each(at_rank(to[l], rank), at_rank(bar[l], rank)); });
  });
}

void prefetch_bulk(Warp& w, const Inst& i) {
  std::uint64_t from[kLanes], size[kLanes];
  offsets(w, i.src[0], i.value, false, from);
  const auto* bytes = w.at<std::uint32_t>(i.src[1]);
  for_active(w.active, [&](unsigned l) {
    check_bulk(l, {0, from[l], bytes[l]});
    if (bytes[l] != 0) translate(w, l, from[l], bytes[l], kPiece);
  });
  std::copy(bytes, bytes + kLanes, size);
  record_bulk(w, from, size);
}

/// Inst: src[0] address, src[1] or refs[extra..] values, src[3] mbarrier, and `target` behind it. Mode none stores.
void store_async(Warp& w, const Inst& i) {
  const Instruction& in = w.frame().code->function->code[i.index];
  std::uint64_t address[kLanes], bar[kLanes];
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, address);
  offsets(w, i.src[3], static_cast<std::int32_t>(i.target), (i.option & kNarrowBarrier) != 0, bar);
  for (unsigned l = 0; l < kLanes; ++l) address[l] |= kSharedWindow, bar[l] |= kSharedWindow;
  Addresses at;
  w.change();
  resolve_given(w, address, std::uint32_t{i.bytes} * i.count, at);
  const Combine combine = in.mode == Mode::none ? nullptr : combine_of(in.type, in.mode);
  const Ref* refs = i.count == 1 ? &i.src[1] : w.frame().code->refs.data() + i.extra;
  for_active(w.active, [&](unsigned l) {
    for (unsigned e = 0; e < i.count; ++e) {
      auto* const to = reinterpret_cast<std::byte*>(at.host[l]) + std::size_t{e} * i.bytes;
      const std::byte* const from = w.at<std::byte>(refs[e]) + std::size_t{l} * i.bytes;
      if (combine != nullptr)
        combine(to, from);
      else
        std::memcpy(to, from, i.bytes);
    }
    complete_transaction(w, l, bar[l], std::uint64_t{i.bytes} * i.count);
  });
}

bool decode_async_store(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const std::vector<Operand> values = d.elements(in.src[1]);
  if (in.sources < 3 || values.size() != in.vector || (in.space != Space::shared && in.space != Space::generic))
    return false;
  if (in.op == Op::red && (values.size() != 1 || combine_of(in.type, in.mode) == nullptr)) return false;
  take_address(d, in.src[2], 3);
  const bool narrow = (out.option & kNarrowBase) != 0;
  out.target = static_cast<std::uint32_t>(out.value), out.option = narrow ? kNarrowBarrier : 0;
  take_address(d, in.src[0], 0);
  out.count = static_cast<std::uint8_t>(values.size()), out.traced = 1;
  out.bytes = static_cast<std::uint8_t>(size_of(in.type));
  std::vector<Ref> refs;
  for (const Operand& v : values) refs.push_back(d.source(v, in.type));
  out.src[1] = refs.front();
  out.extra = static_cast<std::uint32_t>(d.code().refs.size());
  if (refs.size() > 1) d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  out.run = &store_async;
  return true;
}

bool decode_copies(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const bool to_shared = in.space == Space::shared, from_global = in.source_space == Space::global;
  if (in.has(kMulticast) && !(to_shared && from_global)) return false;
  if (to_shared ? !from_global && in.source_space != Space::shared
                : in.space != Space::global || in.source_space != Space::shared)
    return false;
  if (in.mode != Mode::copy && (combine_of(in.type, in.mode) == nullptr || (to_shared && from_global))) return false;
  if (to_shared) {
    if (in.sources < (in.has(kMulticast) ? 5 : 4)) return false;
    take_address(d, in.src[3], 3);
    out.extra = static_cast<std::uint32_t>(out.value);
  }
  const bool narrow_barrier = (out.option & kNarrowBase) != 0;
  out.option = 0;
  take_address(d, in.src[1], 1);
  const bool narrow_source = (out.option & kNarrowBase) != 0;
  out.target = static_cast<std::uint32_t>(out.value);
  out.option = static_cast<std::uint8_t>((narrow_source ? kNarrowSource : 0) | (narrow_barrier ? kNarrowBarrier : 0) |
                                         strength_of_bulk(in));
  take_address(d, in.src[0], 0);
  d.take(2, Type::u32);
  if (in.has(kMulticast)) out.dst[0] = d.source(in.src[4], Type::u16);
  out.bytes = kPiece, out.count = 1;
  out.traced = to_shared && !from_global ? 0 : 2;
  out.watch = out.traced != 0 ? kShows : 0;
  out.run = &copy_bulk;
  return true;
}

}  // namespace

std::uint8_t strength_of_bulk(const Instruction& in) {
  return in.mode == Mode::copy || in.mode == Mode::prefetch ? 0 : kIsStrong;
}

void check_shared_range(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes) {
  const std::uint32_t active = w.active;
  w.active = 1u << lane;
  std::uint64_t at[kLanes] = {};
  for (std::uint64_t offset = 0; offset < bytes; offset += kPiece) {
    at[lane] = address + offset;
    w.launch->spec->check->access(w, at, 0);
  }
  w.active = active;
}

void show_global_range(Warp& w, const Inst& i, unsigned lane, std::uint64_t address, std::uint64_t bytes, unsigned step,
                       const std::byte* value) {
  const std::uint32_t active = w.active;
  w.active = 1u << lane;
  Addresses at;
  at.global = true;
  std::uint64_t stored[kLanes] = {};
  for (std::uint64_t offset = 0; offset < bytes; offset += step) {
    at.host[lane] = address + offset;
    if (value != nullptr) std::memcpy(&stored[lane], value + offset, step);
    const StoredValues values(stored);
    if (value != nullptr && (i.option & kIsStrong) != 0)
      show_update(w, i, at, step, w.active);
    else
      show(w, i, at, step, value != nullptr ? &values : nullptr);
  }
  w.active = active;
}

bool decode_bulk(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  switch (in.op) {
    case Op::st:
    case Op::red:
      return in.has(kAsync) && decode_async_store(d);
    case Op::bulk:
      if (in.shape != 0) return decode_tensor_copy(d);
      if (in.mode == Mode::commit_group || in.mode == Mode::wait_group) return out.run = nothing, true;
      if (in.mode != Mode::prefetch) return decode_copies(d);
      if (in.space != Space::global || d.width(in.src[0], 8) != 8) return false;
      take_address(d, in.src[0], 0);
      d.take(1, Type::u32);
      out.bytes = kPiece, out.count = 1, out.traced = 2;
      out.run = &prefetch_bulk;
      return true;
    case Op::createpolicy:  // which lines an L2 is to keep is no matter of the program's results
      out.run = [](Warp& w, const Inst& i) { each_lane<std::uint64_t>(w, i.dst[0], [](unsigned) { return 0; }); };
      d.give(0, Type::b64);
      return true;
    case Op::setmaxnreg:  // registers are not moved between warps
      out.run = nothing;
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
