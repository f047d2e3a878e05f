#include "inputs/ptx/exec_memory.hpp"

/// ld, st and instructions that only order or hint.
namespace atl::ptx::exec {
namespace {

template <class M> M read(std::uint64_t host) {
  M v;
  std::memcpy(&v, reinterpret_cast<const void*>(host), sizeof v);
  return v;
}

/// Memory type M into registers of type R: sign- or zero-extended.
template <Space kSpace, class M, class R> void load(Warp& w, const Inst& i) {
  Addresses at;
  resolve<kSpace>(w, i, sizeof(M) * i.count, at);
  if (i.option & kWaits) w.suspicious = true;
  if (kSpace != Space::shared && shows(w, i)) show(w, i, at, sizeof(M) * i.count, nullptr);
  const Ref* refs = i.count == 1 ? &i.dst[0] : w.frame().code->refs.data() + i.extra;
  for (unsigned e = 0; e < i.count; ++e) {
    if (at.spread == Spread::same) {
      const auto value = static_cast<R>(read<M>(at.host[0] + e * sizeof(M)));
      each_lane<R>(w, refs[e], [=](unsigned) { return value; });
    } else if (at.spread == Spread::row && i.count == 1) {
      M row[kLanes];
      std::memcpy(row, reinterpret_cast<const void*>(at.host[0]), sizeof row);
      each_lane<R>(w, refs[e], [&](unsigned l) { return static_cast<R>(row[l]); });
    } else {
      each_lane<R>(w, refs[e], [&](unsigned l) { return static_cast<R>(read<M>(at.host[l] + e * sizeof(M))); });
    }
  }
  if (i.option & kWaits) note_poll(w);
}
/// Elements of sizeof(R) or fewer bytes; of several, those `offset` behind the addresses.
template <class R> void show_stored(Warp& w, const Inst& i, const Addresses& at, std::size_t offset, const R* from) {
  const StoredValues stored(from);
  if (i.count == 1) return show(w, i, at, i.bytes, &stored);
  Addresses part;
  part.global = at.global;
  for (unsigned l = 0; l < kLanes; ++l) part.host[l] = at.host[l] + offset;
  show(w, i, part, i.bytes, &stored);
}
/// Whether something else is there than what will be stored.
template <class M, class R> bool differs(Warp& w, const Inst& i, const Ref* refs, const Addresses& at) {
  bool differs = false;
  for (unsigned e = 0; e < i.count; ++e) {
    const R* from = w.at<R>(refs[e]);
    for_active(w.active, [&](unsigned l) {
      const M v = static_cast<M>(from[l]);
      differs |= std::memcmp(reinterpret_cast<const void*>(at.host[l] + e * sizeof(M)), &v, sizeof v) != 0;
    });
  }
  return differs;
}
template <Space kSpace, class M, class R> void store(Warp& w, const Inst& i) {
  Addresses at;
  resolve<kSpace>(w, i, sizeof(M) * i.count, at);
  const Ref* refs = i.count == 1 ? &i.src[1] : w.frame().code->refs.data() + i.extra;
  if (kSpace == Space::shared || (w.launch->by_value && !differs<M, R>(w, i, refs, at)))
    w.change_own();
  else
    w.change();
  for (unsigned e = 0; e < i.count; ++e) {
    const R* from = w.at<R>(refs[e]);
    if (i.count == 1 && at.spread == Spread::row) {
      M row[kLanes];
      for (unsigned l = 0; l < kLanes; ++l) row[l] = static_cast<M>(from[l]);
      std::memcpy(reinterpret_cast<void*>(at.host[0]), row, sizeof row);
    } else {
      for_active(w.active, [&](unsigned l) {
        const M v = static_cast<M>(from[l]);
        std::memcpy(reinterpret_cast<void*>(at.host[l] + e * sizeof(M)), &v, sizeof v);
      });
    }
    if (kSpace != Space::shared && shows(w, i)) show_stored(w, i, at, e * sizeof(M), from);
  }
}

/// Local memory, and parameters of device functions, which lie in it (Inst::option kNoTrace: those are registers on a GPU).
constexpr std::uint8_t kNoTrace = 0x80;

template <class F> void each_local(Warp& w, const Inst& i, unsigned bytes, F f) {
  std::uint64_t at[kLanes];
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, at);
  if ((i.option & kNoTrace) == 0) record_addresses(w, at, kLocalWindow);
  const unsigned element = bytes / i.count;
  for_active(w.active, [&](unsigned l) {
    translate(w, l, at[l] | kLocalWindow, bytes, (i.option & kNoTrace) != 0 ? element : bytes);
    for (unsigned e = 0; e < i.count; ++e) f(l, e, w.local.data() + Warp::local_index(at[l] + e * element, l));
  });
}
template <class M, class R> void load_local(Warp& w, const Inst& i) {
  const Ref* refs = i.count == 1 ? &i.dst[0] : w.frame().code->refs.data() + i.extra;
  each_local(w, i, sizeof(M) * i.count, [&](unsigned l, unsigned e, const std::byte* from) {
    M v;
    std::memcpy(&v, from, sizeof v);
    w.at<R>(refs[e])[l] = static_cast<R>(v);
  });
}
template <class M, class R> void store_local(Warp& w, const Inst& i) {
  const Ref* refs = i.count == 1 ? &i.src[1] : w.frame().code->refs.data() + i.extra;
  bool differs = false;
  each_local(w, i, sizeof(M) * i.count, [&](unsigned l, unsigned e, std::byte* to) {
    const M v = static_cast<M>(w.at<R>(refs[e])[l]);
    differs |= std::memcmp(to, &v, sizeof v) != 0;  // loops that wait may call functions, with the same arguments each time
    std::memcpy(to, &v, sizeof v);
  });
  if (differs) w.spin.forget();
}

/// A parameter of the kernel: the same for all lanes.
template <class M, class R> void load_param(Warp& w, const Inst& i) {
  const Ref* refs = i.count == 1 ? &i.dst[0] : w.frame().code->refs.data() + i.extra;
  for (unsigned e = 0; e < i.count; ++e) {
    M v;
    std::memcpy(&v, w.launch->params.data() + i.value + e * sizeof(M), sizeof v);
    const R r = static_cast<R>(v);
    each_lane<R>(w, refs[e], [=](unsigned) { return r; });
  }
}

enum class Kind { global, shared, generic, local, param };

template <class M, class R> Handler access(Kind kind, bool loads) {
  switch (kind) {
    case Kind::shared:
      return loads ? &load<Space::shared, M, R> : &store<Space::shared, M, R>;
    case Kind::generic:
      return loads ? &load<Space::generic, M, R> : &store<Space::generic, M, R>;
    case Kind::local:
      return loads ? &load_local<M, R> : &store_local<M, R>;
    case Kind::param:
      return loads ? &load_param<M, R> : nullptr;
    default:
      return loads ? &load<Space::global, M, R> : &store<Space::global, M, R>;
  }
}

/// Registers of `width` bytes; signed memory types extend the sign.
template <class M> Handler wide_access(Kind kind, bool loads, unsigned width) {
  constexpr bool kSigned = std::is_signed_v<M>;
  if (width == sizeof(M)) return access<M, M>(kind, loads);
  if constexpr (sizeof(M) < 2)
    if (width == 2) return access<M, std::conditional_t<kSigned, std::int16_t, std::uint16_t>>(kind, loads);
  if constexpr (sizeof(M) < 4)
    if (width == 4) return access<M, std::conditional_t<kSigned, std::int32_t, std::uint32_t>>(kind, loads);
  if constexpr (sizeof(M) < 8)
    if (width == 8) return access<M, std::conditional_t<kSigned, std::int64_t, std::uint64_t>>(kind, loads);
  return nullptr;
}

Handler memory_handler(Kind kind, bool loads, Type type, unsigned width) {
  const bool extends = loads && is_signed(type);
  switch (size_of(type)) {
    case 1:
      return extends ? wide_access<std::int8_t>(kind, loads, width) : wide_access<std::uint8_t>(kind, loads, width);
    case 2:
      return extends ? wide_access<std::int16_t>(kind, loads, width) : wide_access<std::uint16_t>(kind, loads, width);
    case 4:
      return extends ? wide_access<std::int32_t>(kind, loads, width) : wide_access<std::uint32_t>(kind, loads, width);
    case 8:
      return wide_access<std::uint64_t>(kind, loads, width);
    default:
      return nullptr;
  }
}

std::uint8_t watch_of(const Instruction& in, bool loads) {
  if (in.space == Space::constant || in.space == Space::param) return 0;
  if (in.has(kNonCoherent)) return kShowsNonCoherent;
  return loads && in.read_only && strength_of(in) == 0 ? kShowsUnmarked : kShows;
}

bool decode_access(Decoder& d, bool loads) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const Operand& address = in.src[0];
  Kind kind = in.space == Space::shared    ? Kind::shared
              : in.space == Space::local   ? Kind::local
              : in.space == Space::generic ? Kind::generic
                                           : Kind::global;
  out.option = in.has(kVolatile) || in.order == Order::acquire || in.order == Order::relaxed || in.order == Order::mmio ||
                       in.cache == Cache::cv || (loads && in.cache == Cache::cg)
                   ? kWaits
                   : 0;
  out.option |= strength_of(in);
  d.image().in_step |= in.has(kVolatile) && (kind == Kind::shared || kind == Kind::generic);
  // What a plain load saw before a loop of compare-and-swaps is compared again: if it was old, the loop goes on.
  if (loads && d.begins_swap(in)) out.option |= kIsStrong;
  out.traced = in.space != Space::constant && in.space != Space::param;  // these two have caches of their own
  if (in.space == Space::param) {
    const bool kernels = d.function().entry && (!address.is(Operand::param) || address.value < d.function().param_block);
    if (kernels && address.is(Operand::param)) {
      kind = Kind::param;
      out.value = address.value;
    } else if (kernels) {  // [%rd], with the address of a parameter
      kind = Kind::global;
      take_address(d, address);
    } else {
      kind = Kind::local;
      out.option |= kNoTrace;
      take_address(d, address);
    }
  } else {
    take_address(d, address);
  }
  if (kind == Kind::global || kind == Kind::generic) out.watch = watch_of(in, loads);
  const std::vector<Operand> values = d.elements(loads ? in.dst[0] : in.src[1]);
  const unsigned size = size_of(in.type);
  unsigned width = size;
  for (const Operand& v : values) width = std::max(width, d.width(v, size));
  out.run = memory_handler(kind, loads, in.type, width);
  if (out.run == nullptr) return false;
  out.count = static_cast<std::uint8_t>(values.size());
  out.bytes = static_cast<std::uint8_t>(size);
  std::vector<Ref> refs;
  for (const Operand& v : values) refs.push_back(loads ? d.result(v, bit_type(width)) : d.source(v, bit_type(width)));
  if (refs.size() == 1) {
    (loads ? out.dst[0] : out.src[1]) = refs[0];
  } else {
    out.extra = static_cast<std::uint32_t>(d.code().refs.size());
    d.code().refs.insert(d.code().refs.end(), refs.begin(), refs.end());
  }
  return true;
}

void fence(Warp& w, const Inst& i) { show_fence(w, i.option != 0); }
void pause(Warp& w, const Inst&) {
  w.suspicious = true;
  if (w.launch->short_turns) w.budget = 0;
}

}  // namespace

bool decode_memory(Decoder& d) {
  switch (d.in->op) {
    case Op::ld:
    case Op::ldu:
      return decode_access(d, true);
    case Op::st:
      return !d.in->has(kAsync) && decode_access(d, false);
    case Op::membar:
    case Op::fence:
      d.out->run = &fence;
      d.out->option = d.in->scope != Scope::cta;
      return true;
    case Op::prefetch:
    case Op::applypriority:
    case Op::discard:
    case Op::pmevent:         // nobody counts
    case Op::griddepcontrol:  // launches run one after the other: what it waits for has ended
      d.out->run = &nothing;
      return true;
    case Op::nanosleep:
      d.out->run = &pause;
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
