#include "inputs/ptx/exec_decoder.hpp"

/// mov with packing and unpacking, the clocks, and conversions between windows and generic addresses.
namespace atl::ptx::exec {
namespace {

template <class T> void move(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  if (w.active == kFullMask)
    std::memmove(w.at<T>(i.dst[0]), a, sizeof(T) * kLanes);
  else
    each_lane<T>(w, i.dst[0], [=](unsigned l) { return a[l]; });
}
void move_predicate(Warp& w, const Inst& i) {
  set_predicate(w, i.dst[0], i.option ? ~predicate(w, i.src[0]) : predicate(w, i.src[0]));
}

/// D from count parts of type P, the first in the low bits.
template <class D, class P> void pack(Warp& w, const Inst& i) {
  const Ref* refs = w.frame().code->refs.data() + i.extra;
  each_active<D>(w, i.dst[0], [&](unsigned l) {
    D packed = 0;
    for (unsigned part = 0; part < i.count; ++part)
      packed = static_cast<D>(packed | static_cast<D>(static_cast<D>(w.at<P>(refs[part])[l]) << (8 * sizeof(P) * part)));
    return packed;
  });
}
template <class S, class P> void unpack(Warp& w, const Inst& i) {
  const Ref* refs = w.frame().code->refs.data() + i.extra;
  S whole[kLanes];  // a part may be written over the source
  std::memcpy(whole, w.at<S>(i.src[0]), sizeof whole);
  for (unsigned part = 0; part < i.count; ++part)
    each_lane<P>(w, refs[part], [&](unsigned l) { return static_cast<P>(whole[l] >> (8 * sizeof(P) * part)); });
}

/// One cycle per instruction of the warp, plus what the launch had executed before and what it has waited: repeats, and
/// never stands still.
std::uint64_t now(const Warp& w) { return w.launch->clock + w.launch->waited + w.executed; }

template <class T> void read_clock(Warp& w, const Inst& i) {
  const std::uint64_t value = (i.option ? w.launch->device->time : 0) + now(w);
  const auto part = static_cast<T>(value >> i.count);
  each_lane<T>(w, i.dst[0], [=](unsigned) { return part; });
  w.suspicious = w.timed = w.stirred = true;
}

template <class T> void add_window(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  const auto window = static_cast<std::uint64_t>(i.value);
  each_lane<std::uint64_t>(w, i.dst[0], [=](unsigned l) { return a[l] + window; });
}
/// cvta.to: an address that is not in the window stays wrong.
void subtract_window(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint64_t>(i.src[0]);
  const auto window = static_cast<std::uint64_t>(i.value);
  each_lane<std::uint64_t>(w, i.dst[0], [=](unsigned l) { return a[l] - window; });
}
void in_window(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint64_t>(i.src[0]);
  const auto window = static_cast<std::uint64_t>(i.value);
  std::uint32_t inside = lanes_where([=](unsigned l) { return (a[l] & kWindowMask) == window; });
  if (window == kSharedWindow && i.option == 0)  // .shared::cta: not that of others
    for_active(inside, [&](unsigned l) {
      if (shared_owner(w, a[l] & ~kWindowMask) != w.cta) inside &= ~(1u << l);
    });
  set_predicate(w, i.dst[0], inside);
}

// Constant memory and parameters have no window: they lie among the global addresses. The parameters are global memory as
// well, constant memory is not.
void in_global(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint64_t>(i.src[0]);
  const Device& device = *w.launch->device;
  set_predicate(w, i.dst[0], lanes_where([&](unsigned l) { return (a[l] & kWindowMask) == 0 && !device.constant(a[l]); }));
}
void in_constant(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint64_t>(i.src[0]);
  set_predicate(w, i.dst[0], lanes_where([&](unsigned l) { return w.launch->device->constant(a[l]); }));
}
void in_params(Warp& w, const Inst& i) {
  const auto* a = w.at<std::uint64_t>(i.src[0]);
  const auto begin = reinterpret_cast<std::uint64_t>(w.launch->params.data());
  const std::uint64_t bytes = w.launch->params.size();
  set_predicate(w, i.dst[0], lanes_where([=](unsigned l) { return a[l] - begin < bytes; }));
}

Handler membership(Space space) {
  switch (space) {
    case Space::global:
      return &in_global;
    case Space::constant:
      return &in_constant;
    case Space::param:
      return &in_params;
    default:
      return &in_window;
  }
}

std::uint64_t window_of(Space space) {
  return space == Space::shared ? kSharedWindow : space == Space::local ? kLocalWindow : 0;
}

template <class W> Handler packing(bool packs, unsigned part) {
  if (part == 1) return packs ? &pack<W, std::uint8_t> : &unpack<W, std::uint8_t>;
  if constexpr (sizeof(W) > 2)
    if (part == 2) return packs ? &pack<W, std::uint16_t> : &unpack<W, std::uint16_t>;
  if constexpr (sizeof(W) > 4)
    if (part == 4) return packs ? &pack<W, std::uint32_t> : &unpack<W, std::uint32_t>;
  return nullptr;
}

bool decode_parts(Decoder& d, bool packs) {
  const Instruction& in = *d.in;
  const std::vector<Operand> parts = d.elements(packs ? in.src[0] : in.dst[0]);
  const unsigned whole = size_of(in.type), part = whole / static_cast<unsigned>(parts.size());
  Inst& out = *d.out;
  out.run = whole == 2   ? packing<std::uint16_t>(packs, part)
            : whole == 4 ? packing<std::uint32_t>(packs, part)
            : whole == 8 ? packing<std::uint64_t>(packs, part)
                         : nullptr;
  if (out.run == nullptr) return false;
  out.count = static_cast<std::uint8_t>(parts.size());
  std::vector<Ref> refs;
  for (const Operand& operand : parts)
    refs.push_back(packs ? d.source(operand, bit_type(part)) : d.result(operand, bit_type(part)));
  out.extra = static_cast<std::uint32_t>(d.code().refs.size());
  d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  if (packs)
    d.give(0, in.type);
  else
    d.take(0, in.type);
  return true;
}

bool decode_clock(Decoder& d) {
  const Instruction& in = *d.in;
  if (!in.src[0].is(Operand::special)) return false;
  Inst& out = *d.out;
  switch (static_cast<Special>(in.src[0].index)) {
    case Special::clock:
    case Special::clock64:
      break;
    case Special::clock_hi:
      out.count = 32;
      break;
    case Special::globaltimer:
    case Special::globaltimer_lo:
      out.option = 1;
      break;
    case Special::globaltimer_hi:
      out.option = 1, out.count = 32;
      break;
    default:
      return false;
  }
  out.run = size_of(in.type) == 8 ? &read_clock<std::uint64_t> : &read_clock<std::uint32_t>;
  d.give(0, in.type);
  return true;
}

bool decode_mov(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  if (in.src[0].is(Operand::vector)) return decode_parts(d, true);
  if (in.dst[0].is(Operand::vector)) return decode_parts(d, false);
  if (decode_clock(d)) return true;
  if (in.type == Type::pred) {
    out.run = &move_predicate;
    out.option = in.src[0].negated;
  } else {
    switch (size_of(in.type)) {
      case 1:
        out.run = &move<std::uint8_t>;
        break;
      case 2:
        out.run = &move<std::uint16_t>;
        break;
      case 4:
        out.run = &move<std::uint32_t>;
        break;
      case 8:
        out.run = &move<std::uint64_t>;
        break;
      default:
        return false;
    }
  }
  d.take(0, in.type);
  d.give(0, in.type);
  return true;
}

}  // namespace

bool decode_move(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  switch (in.op) {
    case Op::mov:
      return decode_mov(d);
    case Op::cvta: {
      const bool narrow = d.width(in.src[0], 8) == 4;  // 32-bit shared addresses exist in hand-written PTX
      out.value = static_cast<std::int64_t>(window_of(in.space));
      if (in.mode == Mode::from_generic) {
        if (narrow || d.width(in.dst[0], 8) == 4) return false;
        out.run = &subtract_window;
      } else {
        out.run = narrow ? &add_window<std::uint32_t> : &add_window<std::uint64_t>;
      }
      d.take(0, narrow ? Type::u32 : Type::u64);
      d.give(0, Type::u64);
      return true;
    }
    case Op::isspacep:
      out.run = membership(in.space);
      out.option = in.scope == Scope::cluster;
      out.value = static_cast<std::int64_t>(window_of(in.space));
      d.take(0, Type::u64), d.give(0, Type::pred);
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
