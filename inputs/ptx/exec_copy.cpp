#include <algorithm>

#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_memory.hpp"
#include "inputs/ptx/record_sink.hpp"

/// cp.async. The copy is made at once. A lane may read less than it writes, or nothing (a size, or a predicate to ignore the
/// source): the rest becomes zero, and what is not read may lie anywhere, as beyond the edge of a matrix.
namespace atl::ptx::exec {
namespace {

/// Inst::extra: what src[2] says.
enum Reads : std::uint32_t { kAll, kSize, kUnlessSet, kIfSet };

/// Bytes that each lane reads. Returns whether those that execute read all.
bool sizes_of(Warp& w, const Inst& i, std::uint32_t* bytes) {
  std::fill(bytes, bytes + kLanes, std::uint32_t{i.bytes});
  if (i.extra == kAll) return true;
  if (i.extra == kSize) {
    const auto* size = w.at<std::uint32_t>(i.src[2]);
    for (unsigned l = 0; l < kLanes; ++l) bytes[l] = std::min<std::uint32_t>(size[l], i.bytes);
  } else {
    const std::uint32_t ignored = i.extra == kUnlessSet ? predicate(w, i.src[2]) : ~predicate(w, i.src[2]);
    for_active(ignored, [&](unsigned l) { bytes[l] = 0; });
  }
  return (lanes_where([&](unsigned l) { return bytes[l] != i.bytes; }) & w.active) == 0;
}

/// The sources of lanes that read different numbers of bytes: those of one number after the other, as if they were alone.
/// The recorder hears of all lanes in their order.
void resolve_parts(Warp& w, const Inst& i, const std::uint64_t* from, const std::uint32_t* bytes, Addresses& out) {
  const std::uint32_t active = w.active;
  const std::size_t begin = w.addresses.size();
  std::uint64_t traced[kLanes];
  std::fill(traced, traced + kLanes, kReadsNothing);
  for (std::uint32_t left = active; left != 0;) {
    const std::uint32_t size = bytes[std::countr_zero(left)];
    w.active = left & lanes_where([&](unsigned l) { return bytes[l] == size; });
    left &= ~w.active;
    if (size == 0) continue;
    Addresses part;
    resolve_part(w, from, size, i.bytes, part);
    if (shows(w, i)) show(w, i, part, size, nullptr);
    std::size_t next = begin;
    for_active(w.active, [&](unsigned l) {
      out.host[l] = part.host[l];
      if (next < w.addresses.size()) traced[l] = w.addresses[next++] & ~std::uint64_t{i.bytes - 1u};
    });
    w.addresses.resize(begin);
  }
  w.active = active;
  if (w.recorder != nullptr) for_active(active, [&](unsigned l) { w.addresses.push_back(traced[l]); });
}

void copy_to_shared(Warp& w, const Inst& i) {
  std::uint64_t to[kLanes], from[kLanes];
  std::uint32_t bytes[kLanes];
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, to);
  offsets(w, i.src[1], static_cast<std::int32_t>(i.target), false, from);
  Addresses shared, global;
  for (std::uint64_t& a : to) a |= kSharedWindow;
  w.spin.forget();
  resolve_given(w, to, i.bytes, shared);
  if (sizes_of(w, i, bytes)) {
    resolve_given(w, from, i.bytes, global);
    if (shows(w, i)) show(w, i, global, i.bytes, nullptr);
  } else {
    resolve_parts(w, i, from, bytes, global);
  }
  for_active(w.active, [&](unsigned l) {
    auto* d = reinterpret_cast<std::byte*>(shared.host[l]);
    if (bytes[l] != 0) std::memcpy(d, reinterpret_cast<const void*>(global.host[l]), bytes[l]);
    std::memset(d + bytes[l], 0, i.bytes - bytes[l]);
  });
}

void take_reads(Decoder& d, const Operand& o) {
  Inst& out = *d.out;
  const bool predicate = o.is(Operand::reg) && d.function().registers[o.index].type == Type::pred;
  out.extra = o.is(Operand::none) ? kAll : !predicate ? kSize : o.negated ? kIfSet : kUnlessSet;
  if (out.extra != kAll) out.src[2] = d.source(o, predicate ? Type::pred : Type::u32);
}

}  // namespace

bool decode_copy(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.op != Op::cp) return false;
  if (in.mode != Mode::copy) {
    out.run = &nothing;
    return in.mode == Mode::commit_group || in.mode == Mode::wait_group || in.mode == Mode::wait_all;
  }
  if (!in.src[2].is(Operand::imm)) return false;
  take_address(d, in.src[1], 1);
  out.target = static_cast<std::uint32_t>(out.value), out.option = 0;
  take_address(d, in.src[0], 0);
  out.bytes = static_cast<std::uint8_t>(in.src[2].value);
  take_reads(d, in.src[3]);
  out.count = 1, out.traced = 2;
  out.watch = kShows;
  if (in.read_only && strength_of(in) == 0) out.watch = kShowsUnmarked;
  out.run = &copy_to_shared;
  return true;
}

}  // namespace atl::ptx::exec
