#include "inputs/ptx/shared_layout.hpp"

#include <algorithm>

#include "inputs/ptx/declaration.hpp"

namespace atl::ptx {
namespace {

/// The function and all that it may come to run.
std::vector<bool> reachable(const Module& m, const std::vector<std::vector<std::uint32_t>>& calls, std::uint32_t from) {
  std::vector<bool> seen(m.functions.size());
  std::vector<std::uint32_t> open{from};
  seen[from] = true;
  while (!open.empty()) {
    const std::uint32_t f = open.back();
    open.pop_back();
    for (const std::uint32_t n : calls[f])
      if (!seen[n]) seen[n] = true, open.push_back(n);
  }
  return seen;
}

std::vector<std::uint32_t> shared_used(const Module& m, const Function& f) {
  std::vector<std::uint32_t> used;
  const auto note = [&](const Operand& o) {
    if (o.is(Operand::variable) && m.variables[o.index].space == Space::shared) used.push_back(o.index);
  };
  for (const Instruction& i : f.code) {
    std::for_each(i.dst.begin(), i.dst.end(), note);
    std::for_each(i.src.begin(), i.src.end(), note);
  }
  std::for_each(f.elements.begin(), f.elements.end(), note);
  for (const Call& c : f.calls) std::for_each(c.arguments.begin(), c.arguments.end(), note);
  return used;
}

void lay_out(const Module& m, Function& entry, const std::vector<bool>& used) {
  entry.shared.clear();
  std::uint32_t bytes = 0, dynamic_align = 1;
  const auto dynamic = [&](std::uint32_t v) { return m.variables[v].size == 0; };
  for (std::uint32_t v = 0; v < used.size(); ++v) {
    if (!used[v]) continue;
    if (dynamic(v)) {
      dynamic_align = std::max(dynamic_align, m.variables[v].align);
      continue;
    }
    bytes = align_up(bytes, m.variables[v].align);
    entry.shared.push_back({v, bytes});
    bytes += static_cast<std::uint32_t>(m.variables[v].size);
  }
  entry.shared_bytes = align_up(bytes, dynamic_align);
  for (std::uint32_t v = 0; v < used.size(); ++v)
    if (used[v] && dynamic(v)) entry.shared.push_back({v, entry.shared_bytes});
}

}  // namespace

std::vector<std::uint32_t> callees(const Module& m, const Function& caller) {
  std::vector<std::uint32_t> found;
  for (const Call& c : caller.calls) {
    if (c.callee != kNone) {
      found.push_back(c.callee);
    } else if (!c.candidates.empty()) {
      found.insert(found.end(), c.candidates.begin(), c.candidates.end());
    } else {
      for (std::uint32_t f = 0; f < m.functions.size(); ++f)
        if (m.functions[f].address_taken && !m.functions[f].entry) found.push_back(f);
    }
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

void lay_out_shared(Module& m) {
  std::vector<std::vector<std::uint32_t>> calls, uses;
  for (const Function& f : m.functions) {
    calls.push_back(callees(m, f));
    uses.push_back(shared_used(m, f));
  }
  for (std::uint32_t e = 0; e < m.functions.size(); ++e) {
    if (!m.functions[e].entry) continue;
    const std::vector<bool> run = reachable(m, calls, e);
    std::vector<bool> used(m.variables.size());
    for (std::uint32_t f = 0; f < run.size(); ++f)
      if (run[f])
        for (const std::uint32_t v : uses[f]) used[v] = true;
    lay_out(m, m.functions[e], used);
  }
}

}  // namespace atl::ptx
