#include "inputs/ptx/exec_decoder.hpp"

/// Instructions by which the lanes of a warp see each other. They act on the lanes that execute them together.
namespace atl::ptx::exec {
namespace {

void shuffle(Warp& w, const Inst& i) {
  std::uint32_t a[kLanes];  // the result may be written over it
  std::memcpy(a, w.at<std::uint32_t>(i.src[0]), sizeof a);
  const auto *b = w.at<std::uint32_t>(i.src[1]), *c = w.at<std::uint32_t>(i.src[2]);
  const auto mode = static_cast<Mode>(i.option);
  std::uint32_t inside = 0;
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
    return a[in ? from : lane];
  });
  set_predicate(w, i.dst[1], inside);
}

void vote(Warp& w, const Inst& i) {
  const std::uint32_t p = (i.count ? ~predicate(w, i.src[0]) : predicate(w, i.src[0])) & w.active;
  switch (static_cast<Mode>(i.option)) {
    case Mode::all:
      set_predicate(w, i.dst[0], p == w.active ? kFullMask : 0);
      break;
    case Mode::any:
      set_predicate(w, i.dst[0], p != 0 ? kFullMask : 0);
      break;
    case Mode::uni:
      set_predicate(w, i.dst[0], p == 0 || p == w.active ? kFullMask : 0);
      break;
    default:
      each_lane<std::uint32_t>(w, i.dst[0], [=](unsigned) { return p; });
  }
}

template <class T> void match(Warp& w, const Inst& i) {
  T a[kLanes];
  std::memcpy(a, w.at<T>(i.src[0]), sizeof a);
  const std::uint32_t active = w.active;
  const auto same = [&](unsigned l) {
    std::uint32_t mask = 0;
    for_active(active, [&](unsigned other) { mask |= static_cast<std::uint32_t>(a[other] == a[l]) << other; });
    return mask;
  };
  if (static_cast<Mode>(i.option) == Mode::any) {
    each_active<std::uint32_t>(w, i.dst[0], same);
    return;
  }
  const bool all = same(static_cast<unsigned>(std::countr_zero(active))) == active;
  each_active<std::uint32_t>(w, i.dst[0], [&](unsigned) { return all ? active : 0; });
  set_predicate(w, i.dst[1], all ? kFullMask : 0);
}

template <class T> void reduce(Warp& w, const Inst& i) {
  const T* a = w.at<T>(i.src[0]);
  const auto mode = static_cast<Mode>(i.option);
  T r = a[std::countr_zero(w.active)];
  for_active(w.active & (w.active - 1), [&](unsigned l) {
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
  each_active<T>(w, i.dst[0], [=](unsigned) { return r; });
}

void active_mask(Warp& w, const Inst& i) {
  const std::uint32_t active = w.active;
  each_active<std::uint32_t>(w, i.dst[0], [=](unsigned) { return active; });
}

}  // namespace

bool decode_warp(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  out.option = static_cast<std::uint8_t>(in.mode);
  switch (in.op) {
    case Op::shfl:
      out.run = &shuffle;
      for (unsigned n = 0; n < 3; ++n) d.take(n, Type::u32);
      d.give(0, Type::u32), d.give(1, Type::pred);
      return true;
    case Op::vote:
      out.run = &vote;
      out.count = in.src[0].negated;
      d.take(0, Type::pred), d.give(0, in.mode == Mode::ballot ? Type::u32 : Type::pred);
      return true;
    case Op::match:
      out.run = size_of(in.type) == 8 ? &match<std::uint64_t> : &match<std::uint32_t>;
      d.take(0, in.type), d.give(0, Type::u32), d.give(1, Type::pred);
      return true;
    case Op::redux:
      if (size_of(in.type) != 4 || in.type == Type::f32) return false;
      out.run = is_signed(in.type) ? &reduce<std::int32_t> : &reduce<std::uint32_t>;
      d.take(0, in.type), d.give(0, in.type);
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
