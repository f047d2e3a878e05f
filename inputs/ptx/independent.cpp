#include <algorithm>

#include "inputs/ptx/cfg.hpp"
#include "inputs/ptx/exec.hpp"
#include "inputs/ptx/exec_code.hpp"
#include "inputs/ptx/instruction_registers.hpp"

/// Which kernels may run their CTAs in any order, or at the same time.
namespace atl::ptx {
namespace {

bool synchronises(const Instruction& in) {
  switch (in.op) {
    case Op::ld:
    case Op::ldu:
      if (in.space != Space::shared && (in.cache == Cache::cg || in.cache == Cache::cv)) return true;
      [[fallthrough]];
    case Op::st:
      return in.space != Space::shared && (in.has(kVolatile) || (in.order != Order::none && in.order != Order::weak));
    case Op::mov:
      return in.src[0].is(Operand::special) && in.src[0].index >= static_cast<std::uint32_t>(Special::clock) &&
             in.src[0].index <= static_cast<std::uint32_t>(Special::globaltimer_hi);
    case Op::nanosleep:
      return true;
    default:
      return false;
  }
}

/// Memory that other CTAs can reach; a generic address may lead there.
bool reaches_others(Space space) { return space == Space::global || space == Space::generic; }

/// An atomic whose effects add up to the same in any order.
bool commutes(const Instruction& in) {
  if (is_float(in.type)) return false;
  switch (in.mode) {
    case Mode::add:
    case Mode::min:
    case Mode::max:
    case Mode::and_:
    case Mode::or_:
    case Mode::xor_:
      return true;
    default:
      return false;
  }
}

/// What is known of a function's registers, without regard to control flow between basic blocks. Within a block, a register
/// that was set to a literal is one until it is written again: nvcc zeroes a loop's counter by a copy of the zero that
/// another register starts from, and that one may hold what was loaded later on.
class Registers {
 public:
  explicit Registers(const Function& f)
      : f_(f), loaded_(f.registers.size()), read_(registers_read(f)), literal_in_(f.registers.size()) {
    const FlowGraph graph = make_flow_graph(f);
    for (bool grown = true; grown;) {
      grown = false;
      for (const Block& block : graph.blocks) {
        ++pass_;
        for (std::uint32_t at = block.first; at <= block.last; ++at) {
          const Instruction& in = f.code[at];
          if (delivers_memory(in) || has_loaded_source(in)) grown |= mark(in);
          note_literal(in);
        }
      }
    }
  }

  /// It may depend on what memory held: an index read from an array, say.
  bool loaded(const Operand& o) const {
    bool any = false;
    each_register(f_, o, [&](std::uint32_t r) { any |= loaded_[r]; });
    return any;
  }
  bool read(const Operand& o) const {
    bool any = false;
    each_register(f_, o, [&](std::uint32_t r) { any |= read_[r]; });
    return any;
  }

 private:
  bool delivers_memory(const Instruction& in) const {
    switch (in.op) {
      case Op::ld:
      case Op::ldu:
        return in.space != Space::constant && !(in.space == Space::param && f_.entry);
      case Op::atom:
      case Op::tex:
      case Op::tld4:
      case Op::suld:
      case Op::call:
      case Op::wmma:
      case Op::ldmatrix:
      case Op::mbarrier:
        return true;
      default:
        return false;
    }
  }
  bool has_loaded_source(const Instruction& in) const {
    if (in.guard != kNone && loaded_[in.guard]) return true;
    bool any = false;
    for (const Operand& o : in.src) each_register(f_, o, [&](std::uint32_t r) { any |= loaded_[r] && !is_literal(r); });
    return any;
  }
  bool mark(const Instruction& in) {
    bool grown = false;
    each_result(f_, in, [&](std::uint32_t r) { grown |= !loaded_[r], loaded_[r] = true; });
    return grown;
  }
  bool is_literal(std::uint32_t r) const { return literal_in_[r] == pass_; }
  void note_literal(const Instruction& in) {
    const Operand& from = in.src[0];
    const bool literal = in.op == Op::mov && in.guard == kNone && in.dst[0].is(Operand::reg) &&
                         (from.is(Operand::imm) || (from.is(Operand::reg) && is_literal(from.index)));
    each_result(f_, in, [&](std::uint32_t r) { literal_in_[r] = literal ? pass_ : 0; });
  }

  const Function& f_;
  std::vector<bool> loaded_, read_;
  std::vector<std::uint64_t> literal_in_;  // by register: the pass through a block that has set it to a literal
  std::uint64_t pass_ = 0;
};

/// Collects what the functions of a kernel do to memory that CTAs share.
class Judge {
 public:
  explicit Judge(const LaunchSpec& spec) : spec_(spec) {}

  void look_at(const Function& f) {
    if (!f.defined) {
      depends_ |= f.name != "__assertfail";  // printf's order, malloc's addresses
      return;
    }
    const Registers registers(f);
    for (const Instruction& in : f.code) look_at(in, f, registers);
  }
  bool independent() const { return !depends_ && !(scatters_ && reads_written_) && !(surface_stores_ && surface_loads_); }

 private:
  void look_at(const Instruction& in, const Function& f, const Registers& r) {
    depends_ |= synchronises(in);
    switch (in.op) {
      case Op::ld:
      case Op::ldu:
        if (reaches_others(in.space)) load(in, r.loaded(in.src[0]) || !f.entry);
        break;
      case Op::wmma:
        if (!reaches_others(in.space) || in.mode == Mode::multiply) break;
        if (in.mode == Mode::store_d)
          depends_ |= r.loaded(in.src[0]) || !f.entry;
        else
          load(in, r.loaded(in.src[0]) || !f.entry);
        break;
      case Op::cp:
        if (in.mode == Mode::copy) load(in, r.loaded(in.src[1]) || !f.entry);
        break;
      case Op::bulk:
        if (in.shape != 0) {  // the address is in a tensor map
          load(in, true);
          depends_ |= in.space == Space::global && in.mode != Mode::prefetch;
          break;
        }
        if (in.source_space == Space::global) load(in, r.loaded(in.src[1]) || !f.entry);
        if (in.space != Space::global || in.mode == Mode::prefetch) break;
        depends_ |= r.loaded(in.src[0]) || !f.entry || in.mode != Mode::copy;
        break;
      case Op::st:
        if (!reaches_others(in.space) || (f.entry && !r.loaded(in.src[0]))) break;
        // Where to is known at run time only. All store the same, or the last one wins.
        depends_ |= !in.src[1].is(Operand::imm);
        scatters_ = true;
        break;
      case Op::atom:
      case Op::red:
        if (in.space == Space::shared) break;
        depends_ |= !commutes(in) || r.read(in.dst[0]);
        scatters_ = true;
        break;
      case Op::tex:
      case Op::tld4:
        depends_ |= !spec_.textures_hold;  // the book of races does not know textures
        break;
      case Op::suld:
        surface_loads_ = true;
        break;
      case Op::sust:
        depends_ |= r.loaded(in.src[1]) || !f.entry;
        surface_stores_ = true;
        break;
      default:
        break;
    }
  }
  /// `anywhere`: the address comes from memory, or from a caller.
  void load(const Instruction& in, bool anywhere) {
    if ((spec_.nc_holds && in.has(kNonCoherent)) || (spec_.read_only_marks && in.read_only)) return;
    reads_written_ = true;
    depends_ |= anywhere;
  }

  const LaunchSpec& spec_;
  bool depends_ = false;        // on the order of CTAs
  bool scatters_ = false;       // writes to where several CTAs may write, but in any order with the same outcome
  bool reads_written_ = false;  // reads what the kernel may also write
  bool surface_loads_ = false, surface_stores_ = false;
};

}  // namespace

bool independent_ctas(const LaunchSpec& spec, Device& device) {
  const std::array<std::uint32_t, 3> cluster = cluster_of(spec);
  if (spec.cooperative || cluster[0] * cluster[1] * cluster[2] > 1) return false;
  Judge judge(spec);
  for (const exec::Code& code : device.image(*spec.module, spec.kernel, spec.device).functions)
    if (code.function != nullptr) judge.look_at(*code.function);
  return judge.independent();
}

}  // namespace atl::ptx
