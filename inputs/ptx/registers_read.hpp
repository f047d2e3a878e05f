#pragma once
#include <vector>

#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// Calls `visit` with each register of an operand.
template <class F> void each_register(const Function& f, const Operand& o, F visit) {
  if (o.is(Operand::reg)) visit(o.index);
  if (o.is(Operand::vector))
    for (unsigned e = 0; e < o.count; ++e) each_register(f, f.elements[o.index + e], visit);
}

/// By register: whether anything reads it, an instruction, a guard, a call, or who has called the function.
inline std::vector<bool> registers_read(const Function& f) {
  std::vector<bool> read(f.registers.size());
  const auto reads = [&](std::uint32_t r) { read[r] = true; };
  for (const Instruction& in : f.code) {
    if (in.guard != kNone) reads(in.guard);
    for (const Operand& o : in.src) each_register(f, o, reads);
    if (in.op != Op::call) continue;
    each_register(f, f.calls[in.table].through, reads);
    for (const Operand& o : f.calls[in.table].arguments) each_register(f, o, reads);
  }
  for (const Param& p : f.results)
    if (p.reg != kNone) reads(p.reg);
  return read;
}

}  // namespace atl::ptx
