#include <algorithm>

#include "inputs/ptx/access_flow.hpp"

namespace atl::ptx {
namespace {

constexpr std::int64_t kPointer = 8;

/// A formal parameter or result as an operand of its own function.
Operand formal(const Function& f, std::uint32_t number) {
  const std::size_t params = f.params.size();
  const Param& p = number < params ? f.params[number] : f.results[number - params];
  Operand o;
  o.kind = p.reg != kNone ? Operand::reg : Operand::param;
  o.index = p.reg != kNone ? p.reg : number;
  o.value = p.reg != kNone ? 0 : p.offset;
  return o;
}

}  // namespace

External external_effect(const std::string& name) {
  if (name == "vprintf" || name == "__assertfail" || name == "free") return External::harmless;
  return name == "malloc" || name.starts_with("__cudaCDP2GetParameterBuffer") ? External::allocates : External::unknown;
}

std::vector<std::uint32_t> call_targets(const Module& m, const Call& c) {
  if (c.callee != kNone) return {c.callee};
  std::vector<std::uint32_t> found;
  for (std::uint32_t t = 0; t < m.functions.size(); ++t) {
    const Function& f = m.functions[t];
    const bool listed = std::find(c.candidates.begin(), c.candidates.end(), t) != c.candidates.end();
    const bool fits = f.params.size() == c.arguments.size() && f.results.size() == c.results.size();
    if (fits && (c.candidates.empty() ? f.address_taken && !f.entry : listed)) found.push_back(t);
  }
  return found;
}

void AccessFlow::put_param(std::uint32_t f, const Operand& at, std::int64_t bytes, const ObjectSet& places, bool narrow) {
  for (std::int64_t g = at.value / kPointer; g <= (at.value + bytes - 1) / kPointer; ++g)
    put(states_[f].params[{at.index, g}], places, narrow);
}

ObjectSet AccessFlow::load_param(std::uint32_t f, const Operand& at, std::int64_t bytes, bool wide) const {
  ObjectSet places;
  for (std::int64_t g = at.value / kPointer; g <= (at.value + bytes - 1) / kPointer; ++g)
    if (const auto cell = states_[f].params.find({at.index, g}); cell != states_[f].params.end())
      places.add(loaded(cell->second, wide));
  return places;
}

/// Copies a parameter, eight bytes by eight: pointers in structures stay apart.
void AccessFlow::pass(std::uint32_t from_function, const Operand& from, std::uint32_t to_function, const Operand& to,
                      std::int64_t bytes) {
  if (!from.is(Operand::param) || !to.is(Operand::param)) {
    const bool memory = from.is(Operand::param);
    const ObjectSet places = memory ? load_param(from_function, from, bytes, true) : value(from_function, from);
    if (to.is(Operand::param)) return put_param(to_function, to, bytes, places, false);
    return assign(to_function, to, places);
  }
  for (std::int64_t at = 0; at < bytes; at += kPointer)
    for (std::int64_t g = (from.value + at) / kPointer; g <= (from.value + std::min(at + kPointer, bytes) - 1) / kPointer;
         ++g) {
      const auto cell = states_[from_function].params.find({from.index, g});
      if (cell == states_[from_function].params.end()) continue;
      const Cell copied = cell->second;
      Operand part = to;
      part.value += at;
      put_param(to_function, part, std::min(kPointer, bytes - at), copied.places, copied.narrow);
    }
}

void AccessFlow::call(std::uint32_t f, const Call& c) {
  const std::vector<std::uint32_t> targets = call_targets(m_, c);
  ObjectSet unknown;
  unknown.add(Places::kUnknown);
  if (targets.empty())
    for (const Operand& to : c.results) result_of_external(f, to, unknown);
  for (const std::uint32_t t : targets) call(f, c, t);
}

void AccessFlow::result_of_external(std::uint32_t f, const Operand& to, const ObjectSet& places) {
  if (to.is(Operand::param))
    put_param(f, to, kPointer, places, false);
  else
    assign(f, to, places);
}

void AccessFlow::call(std::uint32_t f, const Call& c, std::uint32_t target) {
  const Function& callee = m_.functions[target];
  if (!callee.defined) {
    ObjectSet places;
    if (const External effect = external_effect(callee.name); effect != External::harmless)
      places.add(effect == External::allocates ? Places::kHeap : Places::kUnknown);
    for (const Operand& to : c.results) result_of_external(f, to, places);
    return;
  }
  if (c.arguments.size() != callee.params.size() || c.results.size() != callee.results.size()) return;
  const auto params = static_cast<std::uint32_t>(callee.params.size());
  for (std::uint32_t a = 0; a < params; ++a) pass(f, c.arguments[a], target, formal(callee, a), callee.params[a].size);
  for (std::uint32_t r = 0; r < c.results.size(); ++r)
    pass(target, formal(callee, params + r), f, c.results[r], callee.results[r].size);
}

}  // namespace atl::ptx
