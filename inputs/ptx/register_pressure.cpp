#include "inputs/ptx/register_pressure.hpp"

#include <algorithm>

#include "inputs/ptx/access_flow.hpp"
#include "inputs/ptx/instruction_registers.hpp"
#include "inputs/ptx/liveness.hpp"

namespace atl::ptx {
namespace {

constexpr std::uint32_t kPerSm = 65536, kMostPerThread = 255, kGranularity = 8, kLeast = 16, kWarp = 32;

/// 32-bit registers that each virtual register takes.
std::vector<std::uint32_t> units_of(const Function& f) {
  std::vector<std::uint32_t> units, writes(f.registers.size());
  for (const Register& r : f.registers) units.push_back(r.type == Type::pred ? 0 : std::max(1u, size_of(r.type) / 4));
  for (const Instruction& i : f.code) each_result(f, i, [&](std::uint32_t r) { ++writes[r]; });
  // Literals and kernel parameters, and copies of them, are operands that SASS has no register for.
  for (const Instruction& i : f.code) {
    const bool copies = i.op == Op::mov || (i.op == Op::cvta && i.space == Space::global);
    const Operand& from = i.src[0];
    const bool constant = (copies && (from.is(Operand::imm) || (from.is(Operand::reg) && units[from.index] == 0))) ||
                          (i.op == Op::ld && i.space == Space::param && f.entry && from.is(Operand::param));
    if (constant) each_result(f, i, [&](std::uint32_t r) { units[r] = writes[r] == 1 ? 0 : units[r]; });
  }
  return units;
}

/// The registers that are alive at a point, and how many 32-bit ones they take.
class Live {
 public:
  explicit Live(const std::vector<std::uint32_t>& units) : units_(&units), alive_(units.size()) {}
  void add(std::uint32_t r) { count_ += alive_.has(r) ? 0 : (*units_)[r], alive_.add(r); }
  void remove(std::uint32_t r) { count_ -= alive_.has(r) ? (*units_)[r] : 0, alive_.remove(r); }
  void add(const RegisterSet& others) {
    others.each([&](std::uint32_t r) { add(r); });
  }
  /// From behind an instruction to before it.
  void step(const Function& f, const Instruction& i) {
    if (i.guard == kNone) each_result(f, i, [&](std::uint32_t r) { remove(r); });  // else it may stay as it was
    each_source(f, i, [&](std::uint32_t r) { add(r); });
  }
  std::uint32_t count() const { return count_; }
  std::uint32_t units(std::uint32_t r) const { return (*units_)[r]; }
  bool has(std::uint32_t r) const { return alive_.has(r); }

 private:
  const std::vector<std::uint32_t>* units_;
  RegisterSet alive_;
  std::uint32_t count_ = 0;
};

class Pressure {
 public:
  explicit Pressure(const Module& m) : m_(m), known_(m.functions.size()), entered_(m.functions.size()) {}

  /// The most that is alive at any point of a function and of what it calls. Recursion is counted once.
  std::uint32_t of(std::uint32_t function) {
    if (entered_[function] || !m_.functions[function].defined) return known_[function];
    entered_[function] = true;
    return known_[function] = most(m_.functions[function]);
  }

 private:
  std::uint32_t most(const Function& f) {
    const FlowGraph graph = make_flow_graph(f);
    const std::vector<std::uint32_t> units = units_of(f);
    const std::vector<RegisterSet> at_begin = live_at_begin(f, graph);
    std::uint32_t most = 0;
    for (const Block& block : graph.blocks) {
      Live live(units);
      for (const std::uint32_t n : block.next) live.add(at_begin[n]);
      for (std::uint32_t at = block.last + 1; at-- > block.first;) {
        most = std::max(most, during(f, f.code[at], live));
        live.step(f, f.code[at]);
        most = std::max(most, live.count());
      }
    }
    return most;
  }

  /// While an instruction delivers results, also such as nobody reads, or while what it calls runs.
  std::uint32_t during(const Function& f, const Instruction& i, const Live& behind) {
    std::uint32_t with_results = behind.count(), across = behind.count();
    each_result(f, i, [&](std::uint32_t r) { with_results += behind.has(r) ? 0 : behind.units(r); });
    if (i.op != Op::call) return with_results;
    each_result(f, i, [&](std::uint32_t r) { across -= behind.has(r) ? behind.units(r) : 0; });
    std::uint32_t most = with_results;
    for (const std::uint32_t target : call_targets(m_, f.calls[i.table])) most = std::max(most, across + of(target));
    return most;
  }

  const Module& m_;
  std::vector<std::uint32_t> known_;
  std::vector<bool> entered_;
};

/// What a CTA of so many threads may have at most, if `ctas` of them are to fit an SM.
std::uint32_t most_for(std::uint32_t threads, std::uint32_t ctas) {
  const std::uint32_t whole = (threads + kWarp - 1) / kWarp * kWarp * ctas;
  return whole == 0 ? kPerSm : kPerSm / whole / kGranularity * kGranularity;
}

}  // namespace

std::uint32_t estimate_registers(const Module& m, std::uint32_t kernel) {
  const Function& f = m.functions[kernel];
  const std::uint32_t threads = f.max_threads[0] * f.max_threads[1] * f.max_threads[2];
  std::uint32_t most = std::min(kMostPerThread, most_for(threads, std::max(1u, f.min_ctas)));
  if (f.max_registers != 0) most = std::min(most, f.max_registers);
  const std::uint32_t n = std::min(Pressure(m).of(kernel), most);
  return std::max(kLeast, (n + kGranularity - 1) / kGranularity * kGranularity);
}

std::uint32_t registers_at_launch(std::uint32_t estimate, std::uint32_t threads_per_cta) {
  return std::max(kLeast, std::min(estimate, most_for(threads_per_cta, 1)));
}

}  // namespace atl::ptx
