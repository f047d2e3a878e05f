#pragma once
#include <array>
#include <cstring>

#include "inputs/ptx/exec_warp.hpp"

/// Instructions with a member mask wait until all lanes that the mask names, except those that have exited, execute the
/// same one with the same mask: they meet. Lanes that are not there yet may be on a branch that the warp has put aside,
/// or in another part of the warp, split off at a divergent barrier.
namespace atl::ptx::exec {

/// Lanes that came together, with the instruction of each group of them.
struct Meeting {
  struct Arrival {
    Warp* warp = nullptr;
    const Inst* inst = nullptr;
    std::uint32_t lanes = 0;
    std::uint32_t path = kNone;  ///< of warp->paths: lanes that waited there
  };
  std::array<Arrival, kLanes> arrivals{};
  unsigned count = 0;
  std::uint32_t members = 0;        ///< all lanes that are there
  std::uint32_t named = kFullMask;  ///< by the member mask

  /// Those whose values count. Where none that is there is named, PTX says nothing of the result, and all count.
  std::uint32_t counted() const { return (members & named) != 0 ? members & named : members; }
  void add(const Arrival& a) {
    arrivals[count++] = a;
    members |= a.lanes;
  }
  /// The first `n` values of source `slot`, each lane's from its own instruction.
  template <class T> void gather(unsigned slot, T* out) const {
    for (unsigned n = 0; n < count; ++n) {
      const Arrival& a = arrivals[n];
      const T* from = a.warp->at<T>(a.inst->src[slot]);
      if (n == 0)
        std::memcpy(out, from, sizeof(T) * kLanes);
      else
        for_active(a.lanes, [&](unsigned l) { out[l] = from[l]; });
    }
  }
  /// Calls f(warp, instruction) for each group, with its lanes as the active ones.
  template <class F> void each(F f) const {
    for (unsigned n = 0; n < count; ++n) {
      const Arrival& a = arrivals[n];
      const std::uint32_t active = a.warp->active;
      a.warp->active = a.lanes;
      f(*a.warp, *a.inst);
      a.warp->active = active;
    }
  }
};

/// What the lanes of a meeting do to each other.
using Exchange = void (*)(const Meeting&);

/// Inst::value: the instruction has a member mask, in src[3]; without it, the lanes that execute it together meet.
inline constexpr std::int64_t kHasMask = 1;

/// Executes an instruction of the warp for the active lanes, mask by mask, or lets lanes wait.
void meet(Warp& w, const Inst& i, Exchange exchange);

template <Exchange kExchange> void meeting(Warp& w, const Inst& i) {
  if (i.value == kHasMask) {
    // Most of the time a whole warp with one mask.
    const auto* mask = w.at<std::uint32_t>(i.src[3]);
    if (w.active != w.alive || !w.whole || mask[0] != kFullMask || i.src[3] >> 30 != kConstants) {
      meet(w, i, kExchange);
      return;
    }
  }
  Meeting m;
  m.add({&w, &i, w.active});
  kExchange(m);
}

}  // namespace atl::ptx::exec
