#include "inputs/ptx/exec_spin.hpp"

#include <algorithm>
#include <functional>

#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx::exec {
namespace {

constexpr std::uint32_t kPollsOfLoop = 16;  // a loop of more does not come back to the one that is remembered

std::size_t register_bytes(const Warp& w) {
  const Frame& f = w.frames.back();
  return std::min<std::size_t>(f.code->register_bytes, w.registers.size() - f.first_register);
}

bool stands_again(const Warp& w, const SpinPoint& s) {
  return s.pc == w.pc && s.active == w.active && s.paths == w.paths.size() && s.frames == w.frames.size() &&
         s.events < w.events.size() && s.registers.size() == register_bytes(w) &&
         std::memcmp(s.registers.data(), w.registers.data() + w.frames.back().first_register, s.registers.size()) == 0;
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
  if (w.recorder == nullptr) return;
  SpinPoint& s = w.spin;
  if (s.known && s.pc != w.pc && ++s.others < kPollsOfLoop) return;
  if (s.known && stands_again(w, s)) {
    drop_first_round(w, s);
    w.events.resize(s.events);
    w.addresses.resize(s.addresses);
    ++w.repeated_polls;
    s.others = 0;
    return;
  }
  s.again = s.known && s.pc == w.pc && s.active == w.active && s.events < w.events.size();
  s.events_before = s.events, s.addresses_before = s.addresses;
  const auto* from = w.registers.data() + w.frames.back().first_register;
  s.registers.assign(from, from + register_bytes(w));
  s.pc = w.pc, s.active = w.active, s.others = 0;
  s.paths = w.paths.size(), s.frames = w.frames.size();
  s.events = w.events.size(), s.addresses = w.addresses.size();
  s.known = true;
}

}  // namespace atl::ptx::exec
