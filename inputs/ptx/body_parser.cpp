#include "inputs/ptx/body_parser.hpp"

#include "inputs/ptx/opcode_table.hpp"
#include "inputs/ptx/variable_parser.hpp"

namespace atl::ptx {

BodyParser::BodyParser(Cursor& in, Names& names, Module& module, std::uint32_t function, Unsupported unsupported)
    : in_(in),
      names_(names),
      module_(module),
      index_(function),
      f_(module.functions[function]),
      scopes_(f_),
      operand_(in, scopes_, names, module, f_),
      unsupported_(unsupported) {}

void BodyParser::parse() {
  scopes_.open();
  scopes_.add_formals();
  in_.expect("{");
  while (!in_.at("}")) statement();
  const auto unknown = scopes_.close();
  if (!unknown.empty()) in_.fail_at(unknown.front().line, "there is no label '" + std::string(unknown.front().name) + "'");
  in_.expect("}");
  end_of_body();
}

/// Running off the end returns. Afterwards every instruction list ends in an instruction that has no successor.
void BodyParser::end_of_body() {
  const auto ends = [](const Instruction& i) {
    return i.guard == kNone &&
           (i.op == Op::ret || i.op == Op::exit || i.op == Op::trap || i.op == Op::bra || i.op == Op::brx);
  };
  if (label_at_end_ || f_.code.empty() || !ends(f_.code.back())) {
    f_.gives_up_at_end =
        !label_at_end_ && !f_.code.empty() && f_.code.back().op == Op::call && f_.code.back().guard == kNone;
    Instruction end;
    end.op = Op::ret;
    end.line = in_.peek().line;
    end.spelling = intern("ret");
    f_.code.push_back(end);
  }
}

void BodyParser::block() {
  if (depth_ == kDeepest) in_.fail("more than " + std::to_string(kDeepest) + " blocks within each other");
  ++depth_;
  scopes_.open();
  while (!in_.accept("}")) statement();
  scopes_.close();
  --depth_;
}

void BodyParser::statement() {
  const Token t = in_.peek();
  if (in_.accept(";")) return;
  if (in_.accept("{")) return block();
  if (t.kind == Token::word && t.text.front() == '.') {
    in_.next();
    if (!declaration(t.text)) in_.fail_at(t.line, "unknown directive '" + std::string(t.text) + "'");
    return;
  }
  if (t.kind == Token::word && in_.peek(1).is(":")) {
    in_.next(), in_.next();
    return label(t.text);
  }
  if (t.kind != Token::word && !t.is("@")) in_.expected("an instruction");
  instruction();
}

bool BodyParser::declaration(std::string_view word) {
  Space space{};
  if (word == ".reg")
    declare_registers();
  else if (word == ".param")
    declare_param();
  else if (word == ".local")
    declare_local();
  else if (word == ".loc")
    module_.lines.read_loc(in_);
  else if (word == ".file")
    module_.lines.read_file(in_);
  else if (word == ".pragma")
    in_.skip_past(";");
  else if (word == ".extern" && in_.accept(".shared"))
    declare_variables(Space::shared);
  else if (space_of(word.substr(1), space))
    declare_variables(space);
  else
    return false;
  return true;
}

void BodyParser::declare_registers() {
  Type type = Type::none;
  if (in_.peek().kind != Token::word || !type_of(in_.next().text.substr(1), type)) in_.fail("expected a register type");
  do {
    const std::string_view name = in_.name_of("a register name");
    if (in_.accept("<")) {
      scopes_.top().ranges.push_back({name, static_cast<std::uint32_t>(in_.count("the number of registers")), type});
      in_.expect(">");
    } else {
      scopes_.add_register(name, type);
    }
  } while (in_.accept(","));
  in_.expect(";");
}

void BodyParser::declare_param() {
  const Declaration first = parse_declaration(in_);
  Declaration d = first;
  while (true) {
    if (d.size() > (1u << 20)) in_.fail("parameter '" + std::string(d.name) + "' is larger than a mebibyte");
    scopes_.add_param(d.name, d.alignment(), static_cast<std::uint32_t>(d.size()));
    if (!in_.accept(",")) break;
    d = parse_next_name(in_, first);
  }
  in_.expect(";");
}

void BodyParser::declare_local() {
  const Declaration first = parse_declaration(in_);
  Declaration d = first;
  while (true) {
    if (d.size() > (1u << 24)) in_.fail("more local memory than a thread can have");
    scopes_.add_local(d.name, d.alignment(), static_cast<std::uint32_t>(d.size()));
    if (!in_.accept(",")) break;
    d = parse_next_name(in_, first);
  }
  in_.expect(";");
}

void BodyParser::declare_variables(Space space) {
  Linkage linkage;
  const std::uint32_t first = parse_variables(in_, space, linkage, index_, names_, module_);
  for (std::uint32_t v = first; v < module_.variables.size(); ++v) {
    Operand o;
    o.kind = Operand::variable;
    o.index = v;
    if (module_.variables[v].size == 0) module_.variables[v].external = true;
    scopes_.top().variables.insert_or_assign(module_.variables[v].name, o);
  }
}

void BodyParser::label(std::string_view name) {
  if (in_.accept(".callprototype")) {
    scopes_.top().prototypes.insert_or_assign(name, prototype());
  } else if (in_.accept(".calltargets")) {
    scopes_.top().prototypes.insert_or_assign(name, call_targets());
  } else if (in_.accept(".branchtargets")) {
    branch_targets(name);
  } else {
    if (!scopes_.top().labels.emplace(name, static_cast<std::uint32_t>(f_.code.size())).second)
      in_.fail("label '" + std::string(name) + "' stands twice");
    label_at_end_ = true;
  }
}

void BodyParser::branch_targets(std::string_view name) {
  const auto table = static_cast<std::uint32_t>(f_.branch_tables.size());
  std::vector<std::uint32_t> entries;
  do {
    const std::uint32_t line = in_.peek().line;
    scopes_.top().pending.push_back(
        {in_.name_of("a label"), line, kNone, table, static_cast<std::uint32_t>(entries.size())});
    entries.push_back(kNone);
  } while (in_.accept(","));
  in_.expect(";");
  f_.branch_tables.push_back(std::move(entries));
  scopes_.top().tables.insert_or_assign(name, table);
}

Prototype BodyParser::prototype() {
  Prototype p;
  std::uint32_t frame = 0;
  std::vector<Param> before = parse_params(in_, frame);
  in_.name_of("'_'");
  frame = 0;
  p.arguments = parse_params(in_, frame);
  place_results(before, frame);
  p.results = std::move(before);
  in_.skip_past(";");  // .noreturn, .abi_preserve n
  return p;
}

Prototype BodyParser::call_targets() {
  Prototype p;
  do {
    const auto f = names_.functions.find(in_.name_of("a function"));
    if (f == names_.functions.end()) in_.fail("unknown function in .calltargets");
    p.targets.push_back(f->second);
  } while (in_.accept(","));
  in_.expect(";");
  return p;
}

}  // namespace atl::ptx
