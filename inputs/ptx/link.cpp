#include <map>

#include "core/engine/error.hpp"
#include "inputs/ptx/parser.hpp"
#include "inputs/ptx/shared_layout.hpp"

namespace atl::ptx {
namespace {

/// How much a symbol's declaration says: a strong definition beats a weak one beats a mere declaration.
enum class Strength : std::uint8_t { declared, common, weak, strong };

Strength strength(const Function& f) { return !f.defined ? Strength::declared : f.weak ? Strength::weak : Strength::strong; }
Strength strength(const Variable& v) {
  return v.external ? Strength::declared : v.common ? Strength::common : v.weak ? Strength::weak : Strength::strong;
}
/// Names that other modules can see. Dynamic shared memory is one array for all, whatever it is called.
bool shared_name(const Function& f) { return f.visible || f.weak || !f.defined; }
bool shared_name(const Variable& v) {
  return v.owner == kNone && v.space != Space::shared && (v.visible || v.weak || v.common || v.external);
}

class Linker {
 public:
  Module run(std::vector<Module>& modules) {
    for (Module& m : modules) {
      if (out_.name.empty()) out_.name = m.name, out_.version = m.version;
      out_.target = std::max(out_.target, m.target);
      add(m);
    }
    for (const Variable& v : out_.variables)
      if (v.external && v.owner == kNone && v.space != Space::shared)
        throw InputError(out_.name, "no module defines the variable '" + v.name + "'");
    lay_out_shared(out_);
    return std::move(out_);
  }

 private:
  template <typename T>
  std::vector<std::uint32_t> place(std::vector<T>& from, std::vector<T>& to, std::map<std::string, std::uint32_t>& names,
                                   const std::string& module, std::vector<std::uint32_t>& taken) {
    std::vector<std::uint32_t> where;
    for (std::uint32_t n = 0; n < from.size(); ++n) {
      T& symbol = from[n];
      const auto end = static_cast<std::uint32_t>(to.size());
      const auto at = shared_name(symbol) ? names.emplace(symbol.name, end).first->second : end;
      where.push_back(at);
      if (at == end) {
        to.push_back(std::move(symbol));
        taken.push_back(at);
        continue;
      }
      const Strength mine = strength(symbol), theirs = strength(to[at]);
      if (mine == Strength::strong && theirs == Strength::strong)
        throw InputError(module + ":" + std::to_string(symbol.line),
                         "'" + symbol.name + "' is defined in another module too");
      if (mine > theirs)
        replace(to[at], symbol), taken.push_back(at);
      else
        kept(to[at], symbol);
    }
    return where;
  }
  static void replace(Function& old, Function& better) {
    better.address_taken |= old.address_taken;
    old = std::move(better);
  }
  static void replace(Variable& old, Variable& better) { old = std::move(better); }
  static void kept(Function& f, const Function& other) { f.address_taken |= other.address_taken; }
  static void kept(Variable&, const Variable&) {}

  /// Moves the symbols of `m` over and renumbers what refers to them.
  void add(Module& m) {
    std::vector<std::uint32_t> new_functions, new_variables;
    const auto functions = place(m.functions, out_.functions, function_names_, m.name, new_functions);
    const auto variables = place(m.variables, out_.variables, variable_names_, m.name, new_variables);
    const auto fix = [&](Operand& o) {
      if (o.is(Operand::function)) o.index = functions[o.index];
      if (o.is(Operand::variable)) o.index = variables[o.index];
    };
    const std::uint32_t lines = out_.lines.append(std::move(m.lines));
    for (const std::uint32_t at : new_functions) {
      Function& f = out_.functions[at];
      f.line += lines;
      for (Instruction& i : f.code) {
        i.line += lines;
        for (Operand& o : i.dst) fix(o);
        for (Operand& o : i.src) fix(o);
      }
      for (Operand& o : f.elements) fix(o);
      for (Call& c : f.calls) {
        if (c.callee != kNone) c.callee = functions[c.callee];
        for (std::uint32_t& candidate : c.candidates) candidate = functions[candidate];
        for (Operand& o : c.arguments) fix(o);
      }
    }
    for (const std::uint32_t at : new_variables) {
      Variable& v = out_.variables[at];
      v.line += lines;
      if (v.owner != kNone) v.owner = functions[v.owner];
      for (Relocation& r : v.relocations) r.index = r.function ? functions[r.index] : variables[r.index];
    }
  }

  Module out_;
  std::map<std::string, std::uint32_t> function_names_, variable_names_;
};

}  // namespace

Module link(std::vector<Module> modules) { return Linker().run(modules); }

}  // namespace atl::ptx
