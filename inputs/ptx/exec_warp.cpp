#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_decoder.hpp"
#include "inputs/ptx/exec_meeting.hpp"

/// Instructions by which the lanes of a warp see each other: those that meet by their member mask.
namespace atl::ptx::exec {
namespace {

void shuffle(const Meeting& m) {
  std::uint32_t a[kLanes] = {};  // the result may be written over it
  m.gather(0, a);
  m.each([&](Warp& w, const Inst& i) {
    const auto *b = w.at<std::uint32_t>(i.src[1]), *c = w.at<std::uint32_t>(i.src[2]);
    const auto mode = static_cast<Mode>(i.option);
    std::uint32_t inside = 0, strangers = 0;
    const std::uint32_t alive = w.active == kFullMask ? kFullMask : living(w);
    each_active<std::uint32_t>(w, i.dst[0], [&](unsigned l) {
      const int lane = static_cast<int>(l), offset = b[l] & 31, clamp = c[l] & 31, segment = c[l] >> 8 & 31;
      const int low = lane & segment, high = low | (clamp & ~segment & 31);
      int from = lane;
      bool in = false;
      switch (mode) {
        case Mode::up:
          from = lane - offset, in = from >= high;
          break;
        case Mode::down:
          from = lane + offset, in = from <= high;
          break;
        case Mode::bfly:
          from = lane ^ offset, in = from <= high;
          break;
        default:
          from = low | (offset & ~segment & 31), in = from <= high;
          break;
      }
      inside |= static_cast<std::uint32_t>(in) << l;
      if (!in) return a[lane];
      if ((m.members >> from & 1) != 0) return a[from];
      // PTX leaves this open: what a lane gets that asks one which is not there.
      strangers |= 1u << l;
      return (alive >> from & 1) != 0 ? a[lane] : 0;
    });
    set_predicate(w, i.dst[1], inside);
    if (strangers != 0 && w.launch->spec->check != nullptr) w.launch->spec->check->asked_strangers(w, strangers);
  });
}

void vote(const Meeting& m) {
  const std::uint32_t counted = m.counted();
  std::uint32_t p = 0;
  m.each([&](Warp& w, const Inst& i) {
    p |= (i.count ? ~predicate(w, i.src[0]) : predicate(w, i.src[0])) & w.active & counted;
  });
  m.each([&](Warp& w, const Inst& i) {
    switch (static_cast<Mode>(i.option)) {
      case Mode::all:
        set_predicate(w, i.dst[0], p == counted ? kFullMask : 0);
        break;
      case Mode::any:
        set_predicate(w, i.dst[0], p != 0 ? kFullMask : 0);
        break;
      case Mode::uni:
        set_predicate(w, i.dst[0], p == 0 || p == counted ? kFullMask : 0);
        break;
      default:
        each_lane<std::uint32_t>(w, i.dst[0], [=](unsigned) { return p; });
    }
  });
}

template <class T> void match(const Meeting& m) {
  const std::uint32_t counted = m.counted();
  T a[kLanes] = {};
  m.gather(0, a);
  const auto same = [&](unsigned l) {
    std::uint32_t mask = 0;
    for_active(counted, [&](unsigned other) { mask |= static_cast<std::uint32_t>(a[other] == a[l]) << other; });
    return mask;
  };
  const bool all = same(static_cast<unsigned>(std::countr_zero(counted))) == counted;
  m.each([&](Warp& w, const Inst& i) {
    if (static_cast<Mode>(i.option) == Mode::any) {
      each_active<std::uint32_t>(w, i.dst[0], same);
      return;
    }
    each_active<std::uint32_t>(w, i.dst[0], [&](unsigned) { return all ? counted : 0; });
    set_predicate(w, i.dst[1], all ? kFullMask : 0);
  });
}

template <class T> void reduce(const Meeting& m) {
  const std::uint32_t counted = m.counted();
  T a[kLanes] = {};
  m.gather(0, a);
  const auto mode = static_cast<Mode>(m.arrivals[0].inst->option);
  T r = a[std::countr_zero(counted)];
  for_active(counted & (counted - 1), [&](unsigned l) {
    switch (mode) {
      case Mode::add:
        r = static_cast<T>(static_cast<std::uint32_t>(r) + static_cast<std::uint32_t>(a[l]));
        break;
      case Mode::min:
        r = std::min(r, a[l]);
        break;
      case Mode::max:
        r = std::max(r, a[l]);
        break;
      case Mode::and_:
        r &= a[l];
        break;
      case Mode::or_:
        r |= a[l];
        break;
      default:
        r ^= a[l];
    }
  });
  m.each([&](Warp& w, const Inst& i) { each_active<T>(w, i.dst[0], [=](unsigned) { return r; }); });
}

/// elect.sync: PTX leaves open which lane it is.
void elect(const Meeting& m) {
  const auto leader = static_cast<unsigned>(std::countr_zero(m.counted()));
  m.each([&](Warp& w, const Inst& i) {
    each_lane<std::uint32_t>(w, i.dst[0], [=](unsigned) { return leader; });
    set_predicate(w, i.dst[1], 1u << leader);
  });
}

void only_meet(const Meeting&) {}

void active_mask(Warp& w, const Inst& i) {
  const std::uint32_t active = w.active;
  each_active<std::uint32_t>(w, i.dst[0], [=](unsigned) { return active; });
}

/// The member mask; forms without it, older than Volta, meet those that execute them together.
void take_mask(Decoder& d, unsigned source) {
  if (d.in->op != Op::bar && !d.in->has(kSync)) return;
  d.out->src[3] = d.source(d.in->src[source], Type::u32);
  d.out->value = kHasMask;
}

}  // namespace

bool decode_warp(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  out.option = static_cast<std::uint8_t>(in.mode);
  switch (in.op) {
    case Op::shfl:
      out.run = &meeting<&shuffle>;
      for (unsigned n = 0; n < 3; ++n) d.take(n, Type::u32);
      take_mask(d, 3);
      d.give(0, Type::u32), d.give(1, Type::pred);
      return true;
    case Op::vote:
      out.run = &meeting<&vote>;
      take_mask(d, 1);
      out.count = in.src[0].negated;
      d.take(0, Type::pred), d.give(0, in.mode == Mode::ballot ? Type::u32 : Type::pred);
      return true;
    case Op::match:
      out.run = size_of(in.type) == 8 ? &meeting<&match<std::uint64_t>> : &meeting<&match<std::uint32_t>>;
      take_mask(d, 1);
      d.take(0, in.type), d.give(0, Type::u32), d.give(1, Type::pred);
      return true;
    case Op::redux:
      if (size_of(in.type) != 4 || in.type == Type::f32) return false;
      out.run = is_signed(in.type) ? &meeting<&reduce<std::int32_t>> : &meeting<&reduce<std::uint32_t>>;
      take_mask(d, 1);
      d.take(0, in.type), d.give(0, in.type);
      return true;
    case Op::bar:
      if (in.mode != Mode::warp_sync) return false;
      out.run = &meeting<&only_meet>;
      take_mask(d, 0);
      return true;
    case Op::elect:
      out.run = &meeting<&elect>;
      take_mask(d, 0);
      d.give(0, Type::u32), d.give(1, Type::pred);
      return true;
    case Op::activemask:
      out.run = &active_mask;
      d.give(0, Type::u32);
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
