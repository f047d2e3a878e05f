#include "inputs/ptx/exec_spin.hpp"

#include <algorithm>
#include <functional>

#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {
namespace {

constexpr std::uint32_t kPollsOfLoop = 16;  // a loop of more does not come back to the one that is remembered
constexpr std::size_t kMostKeptBytes =
    256 << 10;  // of registers: deep within calls, remembering them takes longer than all else

std::size_t register_bytes(const Warp& w) {
  const Frame& f = w.frames.back();
  return std::min<std::size_t>(f.first_register + f.code->register_bytes, w.registers.size());
}

bool stands_again(const Warp& w, const SpinPoint& s) {
  return s.pc == w.pc && s.active == w.active && (w.recorder == nullptr || s.events < w.events.size()) &&
         s.paths == w.paths && s.frames == w.frames && s.registers.size() == register_bytes(w) &&
         std::memcmp(s.registers.data(), w.registers.data(), s.registers.size()) == 0;
}

/// A first round sets registers that the loop itself made before, predicates for one. If it is the same in the trace as
/// those that follow, it is left out like them.
void drop_first_round(Warp& w, SpinPoint& s) {
  const auto same = [](const auto& all, std::size_t first, std::size_t second) {
    return all.size() - second == second - first &&
           std::equal(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(second),
                      all.begin() + static_cast<std::ptrdiff_t>(second));
  };
  s.again = s.again && same(w.events, s.events_before, s.events) && same(w.addresses, s.addresses_before, s.addresses);
  if (!s.again) return;
  s.again = false;
  s.events = s.events_before, s.addresses = s.addresses_before;
  ++w.repeated_polls;
}

}  // namespace

void note_poll(Warp& w) {
  if (w.recorder == nullptr && !w.launch->only_polls) return;
  SpinPoint& s = w.spin;
  if (s.known && s.pc != w.pc && ++s.others < kPollsOfLoop) return;
  if (s.known && stands_again(w, s)) {
    s.others = 0;
    s.stood = true;
    if (w.recorder == nullptr) return;
    drop_first_round(w, s);
    w.events.resize(s.events);
    w.addresses.resize(s.addresses);
    ++w.repeated_polls;
    return;
  }
  s.went_on = true;
  if (register_bytes(w) > kMostKeptBytes) return s.forget();
  s.again = s.known && s.pc == w.pc && s.active == w.active && s.events < w.events.size();
  s.events_before = s.events, s.addresses_before = s.addresses;
  s.registers.assign(w.registers.begin(), w.registers.begin() + static_cast<std::ptrdiff_t>(register_bytes(w)));
  s.pc = w.pc, s.active = w.active, s.others = 0;
  s.paths = w.paths, s.frames = w.frames;
  s.events = w.events.size(), s.addresses = w.addresses.size();
  s.known = true;
}

}  // namespace atl::ptx::exec
