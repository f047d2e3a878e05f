#include "inputs/ptx/exec_atomic.hpp"

#include <atomic>

#include "inputs/ptx/exec_float.hpp"
#include "inputs/ptx/exec_memory.hpp"

/// atom and red: the lanes one after the other, in the order of their numbers.
namespace atl::ptx::exec {
namespace {

struct AddOf {
  template <class T> static T of(T old, T b, T) {
    if constexpr (std::is_floating_point_v<T>)
      return old + b;
    else
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + static_cast<std::make_unsigned_t<T>>(b));
  }
};
/// Of f32 in global memory: subnormal operands and results become zero of the same sign, whatever -ftz says. In shared
/// memory, and in other types, they are kept (PTX ISA, atom and red).
struct FlushedAddOf {
  static float of(float old, float b, float) { return lane::flush(lane::flush(old) + lane::flush(b)); }
};
template <class T, class F> constexpr bool kFlushes = std::is_same_v<T, float>&& std::is_same_v<F, AddOf>;

struct MinOf {
  template <class T> static T of(T old, T b, T) { return b < old ? b : old; }
};
struct MaxOf {
  template <class T> static T of(T old, T b, T) { return old < b ? b : old; }
};
struct AndOf {
  template <class T> static T of(T old, T b, T) { return old & b; }
};
struct OrOf {
  template <class T> static T of(T old, T b, T) { return old | b; }
};
struct XorOf {
  template <class T> static T of(T old, T b, T) { return old ^ b; }
};
struct IncOf {
  template <class T> static T of(T old, T b, T) { return old >= b ? T{0} : static_cast<T>(old + 1); }
};
struct DecOf {
  template <class T> static T of(T old, T b, T) { return old == 0 || old > b ? b : static_cast<T>(old - 1); }
};
struct ExchOf {
  template <class T> static T of(T, T b, T) { return b; }
};
struct CasOf {
  template <class T> static T of(T old, T b, T c) { return old == b ? c : old; }
};

/// Sums and extrema of 16-bit floats, one or two in a word.
template <class N, unsigned kOp> struct HalfOf {
  template <class T> static T of(T old, T b, T) {
    T r = 0;
    for (unsigned part = 0; part < sizeof(T) * 8; part += 16) {
      const double x = N::widen(static_cast<std::uint32_t>(old) >> part & 0xFFFF);
      const double y = N::widen(static_cast<std::uint32_t>(b) >> part & 0xFFFF);
      const double v = kOp == 0 ? x + y : kOp == 1 ? lane::min<false>(x, y) : lane::max<false>(x, y);
      r = static_cast<T>(r | static_cast<T>(N::round(v, lane::Round::rn)) << part);
    }
    return r;
  }
};

/// Lanes whose address is in global memory.
template <Space kSpace> std::uint32_t global_lanes(Warp& w, const Inst& i) {
  if (kSpace != Space::generic) return kSpace == Space::shared ? 0 : kFullMask;
  std::uint64_t address[kLanes];
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, address);
  return lanes_where([&](unsigned l) { return (address[l] & kWindowMask) == 0; });
}

/// An atomic that changed nothing may be a poll, but not one whose result nobody reads: one that adds up zeros, say. To
/// remember how the warp stands takes much longer than the atomic.
void note_unchanged(Warp& w, const Inst& i) {
  if (i.dst[0] != make_ref(kSink, 0)) note_poll(w);
}

template <Space kSpace, class T, class F> void atomic(Warp& w, const Inst& i) {
  const std::uint32_t flushes = kFlushes<T, F> ? global_lanes<kSpace>(w, i) : 0;
  Addresses at;
  resolve<kSpace>(w, i, sizeof(T), at);
  w.suspicious = true;
  const bool shown = kSpace != Space::shared && shows(w, i);
  // A compare-and-swap that finds something else writes nothing. What it finds is known if no CTA runs beside this one.
  const bool judged = std::is_same_v<F, CasOf> && !w.launch->concurrent;
  if (shown && !judged) show_update(w, i, at, sizeof(T), w.active);
  const T *b = w.at<T>(i.src[1]), *c = w.at<T>(i.src[2]);
  T* d = w.at<T>(i.dst[0]);
  bool changes = false;
  std::uint32_t writers = 0;
  const auto next_of = [&](unsigned l, T old) {
    if constexpr (kFlushes<T, F>)
      if ((flushes >> l & 1) != 0) return FlushedAddOf::of(old, b[l], c[l]);
    return F::of(old, b[l], c[l]);
  };
  for_active(w.active, [&](unsigned l) {
    if (kSpace != Space::shared && w.launch->concurrent) {
      const std::atomic_ref<T> cell(*reinterpret_cast<T*>(at.host[l]));
      T old = cell.load(std::memory_order_relaxed);
      while (!cell.compare_exchange_weak(old, next_of(l, old), std::memory_order_relaxed)) continue;
      changes = true;
      d[l] = old;
      return;
    }
    T old;
    std::memcpy(&old, reinterpret_cast<const void*>(at.host[l]), sizeof old);
    const T next = next_of(l, old);
    std::memcpy(reinterpret_cast<void*>(at.host[l]), &next, sizeof next);
    const bool other =
        std::memcmp(&old, &next, sizeof old) != 0;  // NOLINT(bugprone-suspicious-memory-comparison): bits count
    changes |= other, writers |= std::uint32_t{other} << l;
    d[l] = old;
  });
  if (shown && judged) show_update(w, i, at, sizeof(T), writers);
  if (!changes)
    note_unchanged(w, i);
  else if (kSpace == Space::shared)
    w.change_own();
  else
    w.change();
}

/// The handler of an operation F on elements T.
struct InSpace {
  Space space;
  template <class T, class F> Handler of() const {
    switch (space) {
      case Space::shared:
        return &atomic<Space::shared, T, F>;
      case Space::global:
        return &atomic<Space::global, T, F>;
      default:
        return &atomic<Space::generic, T, F>;
    }
  }
  static constexpr Handler kNone = nullptr;
};

/// The operation itself, of reductions: those of floats are in global memory only.
struct InMemory {
  template <class T, class F> Combine of() const {
    return [](std::byte* to, const std::byte* from) {
      T a, b;
      std::memcpy(&a, to, sizeof a), std::memcpy(&b, from, sizeof b);
      if constexpr (kFlushes<T, F>)
        a = FlushedAddOf::of(a, b, b);
      else
        a = F::of(a, b, b);
      std::memcpy(to, &a, sizeof a);
    };
  }
  static constexpr Combine kNone = nullptr;
};

template <class T, class Make> auto integer_atomic(Mode mode, Make make) {
  using U = std::make_unsigned_t<T>;
  switch (mode) {
    case Mode::add:
      return make.template of<U, AddOf>();
    case Mode::min:
      return make.template of<T, MinOf>();
    case Mode::max:
      return make.template of<T, MaxOf>();
    case Mode::and_:
      return make.template of<U, AndOf>();
    case Mode::or_:
      return make.template of<U, OrOf>();
    case Mode::xor_:
      return make.template of<U, XorOf>();
    case Mode::inc:
      return make.template of<U, IncOf>();
    case Mode::dec:
      return make.template of<U, DecOf>();
    case Mode::exch:
      return make.template of<U, ExchOf>();
    case Mode::cas:
      return make.template of<U, CasOf>();
    default:
      return Make::kNone;
  }
}
template <class T, class Make> auto real_atomic(Mode mode, Make make) {
  switch (mode) {
    case Mode::add:
      return make.template of<T, AddOf>();
    case Mode::min:
      return make.template of<T, MinOf>();
    case Mode::max:
      return make.template of<T, MaxOf>();
    case Mode::exch:
      return make.template of<T, ExchOf>();
    default:
      return Make::kNone;
  }
}
template <class N, class T, class Make> auto half_atomic(Mode mode, Make make) {
  switch (mode) {
    case Mode::add:
      return make.template of<T, HalfOf<N, 0>>();
    case Mode::min:
      return make.template of<T, HalfOf<N, 1>>();
    case Mode::max:
      return make.template of<T, HalfOf<N, 2>>();
    default:
      return Make::kNone;
  }
}

template <class Make> auto operation(Type type, Mode mode, Make make) {
  auto found = Make::kNone;
  switch (type) {
    case Type::f32:
      return real_atomic<float>(mode, make);
    case Type::f64:
      return real_atomic<double>(mode, make);
    case Type::f16:
      return half_atomic<lane::F16, std::uint16_t>(mode, make);
    case Type::bf16:
      return half_atomic<lane::Bf16, std::uint16_t>(mode, make);
    case Type::f16x2:
      return half_atomic<lane::F16, std::uint32_t>(mode, make);
    case Type::bf16x2:
      return half_atomic<lane::Bf16, std::uint32_t>(mode, make);
    default:
      with_integer(type, [&]<class T>() { found = integer_atomic<T>(mode, make); });
      return found;
  }
}

}  // namespace

Combine combine_of(Type type, Mode mode) { return operation(type, mode, InMemory{}); }

bool decode_atomic(Decoder& d) {
  const Instruction& in = *d.in;
  if ((in.op != Op::atom && in.op != Op::red) || in.vector != 1 || in.has(kAsync)) return false;
  Inst& out = *d.out;
  out.run = operation(in.type, in.mode, InSpace{in.space});
  if (out.run == nullptr) return false;
  take_address(d, in.src[0]);
  d.take(1, in.type);
  out.src[2] = out.src[1];
  if (in.mode == Mode::cas) d.take(2, in.type);
  if (in.op == Op::atom) d.give(0, in.type);
  if (!d.wanted()) out.dst[0] = make_ref(kSink, 0);
  out.count = 1, out.bytes = static_cast<std::uint8_t>(size_of(in.type)), out.traced = 1;
  out.option |= strength_of(in);
  out.watch = in.space == Space::shared ? 0 : kShows;
  return true;
}

}  // namespace atl::ptx::exec
