#pragma once
#include <vector>

#include "inputs/ptx/ir.hpp"

/// Which registers an instruction reads and which it gives, by their index in the function.
namespace atl::ptx {

/// Calls `visit` with each register of an operand; of an address with its base.
template <class F> void each_register(const Function& f, const Operand& o, F&& visit) {
  if (o.is(Operand::reg)) visit(o.index);
  if (o.is(Operand::vector))
    for (unsigned e = 0; e < o.count; ++e) each_register(f, f.elements[o.index + e], visit);
}

/// What a call gives included.
template <class F> void each_result(const Function& f, const Instruction& in, F&& visit) {
  for (const Operand& o : in.dst) each_register(f, o, visit);
  if (in.op != Op::call) return;
  for (const Operand& o : f.calls[in.table].results) each_register(f, o, visit);
}

/// The guard's included, and what a call passes or goes through.
template <class F> void each_source(const Function& f, const Instruction& in, F&& visit) {
  if (in.guard != kNone) visit(in.guard);
  for (const Operand& o : in.src) each_register(f, o, visit);
  if (in.op != Op::call) return;
  each_register(f, f.calls[in.table].through, visit);
  for (const Operand& o : f.calls[in.table].arguments) each_register(f, o, visit);
}

/// By register: whether any instruction reads it, or who has called the function.
inline std::vector<bool> registers_read(const Function& f) {
  std::vector<bool> read(f.registers.size());
  for (const Instruction& in : f.code) each_source(f, in, [&](std::uint32_t r) { read[r] = true; });
  for (const Param& p : f.results)
    if (p.reg != kNone) read[p.reg] = true;
  return read;
}

}  // namespace atl::ptx
