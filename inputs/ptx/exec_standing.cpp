#include "inputs/ptx/exec_standing.hpp"

#include <algorithm>
#include <array>

#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {
namespace {

std::uint64_t both(std::uint32_t low, std::uint32_t high) { return low | std::uint64_t{high} << 32; }

template <class F, class T> bool give(const F& piece, const T* values, std::size_t count) {
  return piece(reinterpret_cast<const std::byte*>(values), count * sizeof(T));
}

/// What is short, and differs most often, comes first.
template <class F> bool each_head(const Cta& cta, const F& piece) {
  for (const auto& w : cta.warps) {
    if (w->state == WarpState::done) continue;  // parts of warps are left behind when they have become one again
    const std::array<std::uint64_t, 7> head{
        both(w->pc, w->reconverge),
        both(w->mask, w->alive),
        both(w->carry, w->members),
        both(w->number, w->stuck),
        both(static_cast<std::uint32_t>(w->state), (w->whole ? 1u : 0u) + (w->alone ? 2u : 0u)),
        both(static_cast<std::uint32_t>(w->paths.size()), static_cast<std::uint32_t>(w->frames.size())),
        w->local.size()};
    if (!give(piece, head.data(), head.size())) return false;
  }
  for (const Barrier& b : cta.barriers) {
    const std::array<std::uint64_t, 3> head{both(b.arrived, b.expected), both(b.ones, b.voters), b.waiters.size()};
    if (!give(piece, head.data(), head.size())) return false;
    for (const Barrier::Waiter& waiter : b.waiters) {
      const std::array<std::uint64_t, 2> arrival{both(cta.warps[waiter.warp]->number, waiter.mask),
                                                 reinterpret_cast<std::uintptr_t>(waiter.instruction)};
      if (!give(piece, arrival.data(), arrival.size())) return false;
    }
  }
  return true;
}

/// Calls piece(bytes, count) for all that decides what the CTA does next, until one returns false.
template <class F> bool each_piece(const Cta& cta, const F& piece) {
  static_assert(sizeof(Path) == 16 && sizeof(Frame) == 32);  // nothing in between that need not be the same
  if (!each_head(cta, piece)) return false;
  for (const auto& w : cta.warps) {
    if (w->state == WarpState::done) continue;
    const Frame& f = w->frames.back();
    const std::size_t registers = std::min<std::size_t>(f.first_register + f.code->register_bytes, w->registers.size());
    if (!give(piece, w->paths.data(), w->paths.size()) || !give(piece, w->frames.data(), w->frames.size()) ||
        !piece(w->registers.data(), registers) || !piece(w->local.data(), w->local.size()))
      return false;
  }
  return piece(cta.shared.data(), cta.shared.size());
}

bool stands_so(const Cta& cta, const Bytes& state) {
  std::size_t at = 0;
  const auto same = [&](const std::byte* bytes, std::size_t count) {
    const bool equal = count <= state.size() - at && std::equal(bytes, bytes + count, state.data() + at);
    at += count;
    return equal;
  };
  return each_piece(cta, same) && at == state.size();
}

}  // namespace

void note_standing(Cta& cta) {
  Standing& s = cta.standing;
  if (s.again) return;
  if (!s.state.empty() && stands_so(cta, s.state)) {
    s.again = true, s.state = Bytes();
    return;
  }
  if (s.turns > 0 && --s.turns > 0) return;
  s.state.clear();
  each_piece(cta, [&](const std::byte* bytes, std::size_t count) {
    s.state.insert(s.state.end(), bytes, bytes + count);
    return true;
  });
  s.turns = s.span, s.span *= 2;
}

}  // namespace atl::ptx::exec
