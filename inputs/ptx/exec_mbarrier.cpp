#include "inputs/ptx/exec_mbarrier.hpp"

#include <algorithm>

#include "inputs/ptx/exec_memory.hpp"

/// mbarrier: a barrier that is a word of shared memory. Here it holds, from the lowest bit, the arrivals that a phase takes,
/// those that are missing in this one, the bytes that are to come (below 0: come before anybody expected them), and the last
/// bits of the number of the phase; the state that arrive returns is a copy of it. Who waits asks for the current phase or
/// the one before. cp.async.mbarrier.arrive arrives at once, as the copies before it are made.
namespace atl::ptx::exec {
namespace {

constexpr unsigned kCountBits = 20, kBytesBits = 22, kPhaseAt = 2 * kCountBits + kBytesBits;
constexpr std::uint64_t kCount = (std::uint64_t{1} << kCountBits) - 1, kBytes = (std::uint64_t{1} << kBytesBits) - 1;
constexpr std::int64_t kMostBytes = (std::int64_t{1} << kCountBits) - 1;  // PTX ISA, mbarrier: tx-count

struct Object {
  std::uint64_t expected = 0, pending = 0, phase = 0;
  std::int64_t bytes = 0;
  static Object of(std::uint64_t word) {
    const auto bytes = static_cast<std::int64_t>(word >> 2 * kCountBits & kBytes);
    return {word & kCount, word >> kCountBits & kCount, word >> kPhaseAt,
            bytes - (bytes << 1 & std::int64_t{1} << kBytesBits)};
  }
  std::uint64_t word() const {
    return expected | pending << kCountBits | (static_cast<std::uint64_t>(bytes) & kBytes) << 2 * kCountBits |
           phase << kPhaseAt;
  }
  /// More bytes are to come, or fewer.
  void expect(unsigned lane, std::int64_t more) {
    bytes += more;
    if (bytes > kMostBytes || bytes < -kMostBytes)
      throw Fault{ExecutionError::Kind::trap, lane, "an mbarrier waits for more than 1048575 bytes"};
  }
  /// Ends the phase if nobody and nothing is missing. `cta`: in whose shared memory it lies, and whose warps wait.
  void settle(Cta& cta) {
    if (pending != 0 || bytes != 0) return;
    ++phase, pending = expected;
    ++cta.view.epoch;
  }
};

enum MbarrierOption : std::uint8_t { kParityOf = 32, kDrops = 64, kHasCount = 128, kExpects = 16 };

/// Calls f(lane, object, the CTA whose it is) for each lane and keeps what it makes of the object.
template <class F> void each_object(Warp& w, const Inst& i, F f) {
  std::uint64_t address[kLanes];
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, address);
  if (i.target != 0)
    for (std::uint64_t& a : address) a |= kSharedWindow;
  Addresses at;
  resolve_given(w, address, 8, at);
  if (at.global) throw Fault{ExecutionError::Kind::unsupported, 0, "an mbarrier that does not lie in shared memory"};
  for_active(w.active, [&](unsigned l) {
    std::uint64_t word = 0;
    std::memcpy(&word, reinterpret_cast<const void*>(at.host[l]), sizeof word);
    Object o = Object::of(word);
    f(l, o, *shared_owner(w, address[l] & ~kWindowMask));
    word = o.word();
    std::memcpy(reinterpret_cast<void*>(at.host[l]), &word, sizeof word);
  });
}

void init_object(Warp& w, const Inst& i) {
  const auto* count = w.at<std::uint32_t>(i.src[1]);
  w.change();
  each_object(w, i, [&](unsigned l, Object& o, Cta&) {
    if (count[l] == 0 || count[l] > kCount)
      throw Fault{ExecutionError::Kind::unsupported, l, "an mbarrier for " + std::to_string(count[l]) + " arrivals"};
    o = {count[l], count[l], 0, 0};
  });
}
void end_object(Warp& w, const Inst& i) {
  w.change();
  each_object(w, i, [](unsigned, Object& o, Cta&) { o = {}; });
}

void change_bytes(Warp& w, const Inst& i) {
  const auto* bytes = w.at<std::uint32_t>(i.src[1]);
  w.change();
  each_object(w, i, [&](unsigned l, Object& o, Cta& cta) {
    o.expect(l, (i.option & kExpects) != 0 ? std::int64_t{bytes[l]} : -std::int64_t{bytes[l]});
    if ((i.option & kExpects) == 0) o.settle(cta);
  });
}

void arrive_at(Warp& w, const Inst& i) {
  const auto* count = w.at<std::uint32_t>(i.src[1]);
  auto* state = w.at<std::uint64_t>(i.dst[0]);
  w.change();
  if (w.cta->races != nullptr) w.cta->races->publish(w.number);
  each_object(w, i, [&](unsigned l, Object& o, Cta& cta) {
    const std::uint64_t arrivals = (i.option & kHasCount) != 0 ? count[l] : 1;
    if (arrivals > o.pending)
      throw Fault{ExecutionError::Kind::trap, l, "more arrivals at an mbarrier than it was made for"};
    if ((i.option & kExpects) != 0) o.expect(l, count[l]);
    state[l] = o.word();
    o.pending -= arrivals;
    if ((i.option & kDrops) != 0) o.expected -= std::min(o.expected, arrivals);
    o.settle(cta);
  });
}

void test_phase(Warp& w, const Inst& i) {
  const auto* state = w.at<std::uint64_t>(i.src[1]);
  const auto* parity = w.at<std::uint32_t>(i.src[1]);
  std::uint32_t over = 0;
  each_object(w, i, [&](unsigned l, Object& o, Cta&) {
    const bool done = (i.option & kParityOf) != 0 ? (o.phase & 1) != (parity[l] & 1) : o.phase != Object::of(state[l]).phase;
    over |= static_cast<std::uint32_t>(done) << l;
  });
  set_predicate(w, i.dst[0], over);
  if (over != 0 && w.cta->races != nullptr) w.cta->races->observe(w.number);
  if (over == w.active) return;
  w.suspicious = true;
  if (over == 0) w.budget = 0;  // others are to arrive
  note_poll(w);
}

void count_pending(Warp& w, const Inst& i) {
  const auto* state = w.at<std::uint64_t>(i.src[0]);
  each_active<std::uint32_t>(w, i.dst[0],
                             [&](unsigned l) { return static_cast<std::uint32_t>(Object::of(state[l]).pending); });
}

}  // namespace

void complete_transaction(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes) {
  std::byte* const at = translate(w, lane, address, 8, 8);
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  Object o = Object::of(word);
  o.expect(lane, -static_cast<std::int64_t>(bytes));
  o.settle(*shared_owner(w, address & ~kWindowMask));
  word = o.word();
  std::memcpy(at, &word, sizeof word);
  if (w.cta->races != nullptr) w.cta->races->publish(w.number);
}

bool decode_mbarrier(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  const bool copies = in.op == Op::cp && in.mode == Mode::mbarrier_arrive;
  if (in.op != Op::mbarrier && !copies) return false;
  if (in.mode == Mode::pending_count) {
    out.run = &count_pending;
    d.take(0, Type::b64), d.give(0, Type::b32);
    return true;
  }
  if (in.space != Space::shared && in.space != Space::generic) return false;
  // That an arrival completes no phase is a promise of the program's.
  if (in.has(kNoComplete) && !copies && in.mode != Mode::arrive && in.mode != Mode::arrive_drop) return false;
  if (copies && !in.has(kNoComplete)) {  // it adds the arrival that it makes: nothing is left of it
    out.run = [](Warp&, const Inst&) {};
    return true;
  }
  take_address(d, in.src[0]);
  out.target = in.space == Space::shared;
  out.bytes = 8, out.count = 1, out.traced = 1;
  switch (in.mode) {
    case Mode::init:
      if (in.sources < 2) return false;
      out.run = &init_object;
      d.take(1, Type::u32);
      return true;
    case Mode::inval:
      out.run = &end_object;
      return true;
    case Mode::arrive:
    case Mode::arrive_drop:
    case Mode::mbarrier_arrive:
      out.run = &arrive_at;
      if (in.mode == Mode::arrive_drop) out.option |= kDrops;
      if (in.sources > 1) out.option |= in.has(kExpectTx) ? kExpects : kHasCount, d.take(1, Type::u32);
      if (!copies) d.give(0, Type::b64);
      return true;
    case Mode::expect_tx:
    case Mode::complete_tx:
      if (in.sources < 2) return false;
      out.run = &change_bytes;
      if (in.mode == Mode::expect_tx) out.option |= kExpects;
      d.take(1, Type::u32);
      return true;
    case Mode::test_wait:
    case Mode::try_wait:
      if (in.sources < 2) return false;
      out.run = &test_phase;
      if (in.has(kParity)) out.option |= kParityOf;
      d.take(1, in.has(kParity) ? Type::u32 : Type::b64);
      d.give(0, Type::pred);
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
