#include "inputs/ptx/variable_parser.hpp"

#include "inputs/ptx/initialiser.hpp"

namespace atl::ptx {
namespace {

constexpr std::uint64_t kMostShared = 1u << 20;  ///< of one variable; SMs have up to 228 KiB

Variable make_variable(const Declaration& d, Space space, const Linkage& linkage, std::uint32_t owner, std::uint32_t line) {
  Variable v;
  v.name = d.name;
  v.space = space;
  v.type = d.type;
  v.align = d.alignment();
  v.size = d.size();
  v.owner = owner;
  v.external = linkage.external;
  v.visible = linkage.visible;
  v.weak = linkage.weak;
  v.common = linkage.common;
  v.managed = d.managed;
  v.line = line;
  return v;
}

/// A name of the module's scope takes the place of its own earlier declaration.
void add(Variable v, Names& names, Module& module) {
  if (v.owner == kNone) {
    const auto [at, fresh] = names.variables.emplace(v.name, static_cast<std::uint32_t>(module.variables.size()));
    if (!fresh) {
      if (!v.external) module.variables[at->second] = std::move(v);
      return;
    }
  }
  module.variables.push_back(std::move(v));
}

}  // namespace

std::uint32_t parse_variables(Cursor& in, Space space, const Linkage& linkage, std::uint32_t owner, Names& names,
                              Module& module) {
  const auto first = static_cast<std::uint32_t>(module.variables.size());
  Declaration d = parse_declaration(in);
  const Declaration qualifiers = d;
  while (true) {
    Variable v = make_variable(d, space, linkage, owner, in.peek().line);
    if (in.accept("=")) {
      parse_initialiser(in, names, module, v);
      if (v.size == 0) v.size = v.init.size();
    }
    if (space == Space::shared && v.size > kMostShared) in.fail("'" + v.name + "' is more shared memory than an SM has");
    add(std::move(v), names, module);
    if (!in.accept(",")) break;
    d = parse_next_name(in, qualifiers);
  }
  in.expect(";");
  return first;
}

}  // namespace atl::ptx
