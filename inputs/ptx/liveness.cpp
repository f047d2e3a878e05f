#include "inputs/ptx/liveness.hpp"

#include <utility>

#include "inputs/ptx/instruction_registers.hpp"

namespace atl::ptx {
namespace {

void add_returned(const Function& f, RegisterSet& live) {
  for (const Param& p : f.results)
    if (p.reg != kNone) live.add(p.reg);
}

/// From behind an instruction to before it.
void step(const Function& f, const Instruction& i, RegisterSet& live) {
  if (i.op == Op::ret) add_returned(f, live);
  if (i.guard == kNone) each_result(f, i, [&](std::uint32_t r) { live.remove(r); });  // else it may stay as it was
  each_source(f, i, [&](std::uint32_t r) { live.add(r); });
}

/// Whether an instruction takes and gives registers of all lanes, also of such as do not execute it. Shuffles, votes and
/// matches ask only those that do.
bool is_of_all_lanes(Op op) {
  switch (op) {
    case Op::ldmatrix:
    case Op::mma:
    case Op::movmatrix:
    case Op::stmatrix:
    case Op::wmma:
      return true;
    default:
      return false;
  }
}

}  // namespace

std::vector<RegisterSet> live_at_begin(const Function& f, const FlowGraph& graph) {
  std::vector<RegisterSet> at_begin(graph.blocks.size(), RegisterSet(f.registers.size()));
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = graph.blocks.size(); b-- > 0;) {
      const Block& block = graph.blocks[b];
      RegisterSet live(f.registers.size());
      if (block.next.empty()) add_returned(f, live);  // also at the end of the code, without a ret
      for (const std::uint32_t n : block.next) live.add(at_begin[n]);
      for (std::uint32_t at = block.last + 1; at-- > block.first;) step(f, f.code[at], live);
      if (live != at_begin[b]) at_begin[b] = std::move(live), changed = true;
    }
  }
  return at_begin;
}

RegisterSet seen_unset(const Function& f) {
  RegisterSet seen(f.registers.size());
  if (f.code.empty()) return seen;
  seen.add(live_at_begin(f, make_flow_graph(f)).front());
  for (const Param& p : f.params)
    if (!f.entry && p.reg != kNone) seen.remove(p.reg);  // set by the call
  for (const Instruction& i : f.code) {
    if (!is_of_all_lanes(i.op)) continue;
    each_result(f, i, [&](std::uint32_t r) { seen.add(r); });
    each_source(f, i, [&](std::uint32_t r) { seen.add(r); });
  }
  return seen;
}

}  // namespace atl::ptx
