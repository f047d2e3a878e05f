#pragma once
#include <cstdint>

#include "inputs/ptx/exec_code.hpp"

/// Tells a CTA that goes round in a circle, over barriers and stores to its own memory too, from one that gets on.
namespace atl::ptx::exec {

struct Cta;

/// How a CTA stood after some turn: registers, suspended paths and callers of its warps, their local memory, its shared
/// memory, its barriers. If it stands so again, and neither it nor anybody else has changed what is in global memory in
/// between, then it comes there again and again until somebody does.
struct Standing {
  Bytes state;                        ///< empty: not looked at yet
  std::uint64_t turns = 0, span = 1;  ///< until another one is remembered; that many next time
  bool again = false;                 ///< it stood so a second time
  void forget() { state = Bytes(), turns = 0, span = 1, again = false; }
};

/// After each turn of a CTA: compares it with what is remembered, which is replaced after longer and longer times, so that
/// circles of any length are found.
void note_standing(Cta& cta);

}  // namespace atl::ptx::exec
