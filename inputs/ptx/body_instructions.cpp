#include "inputs/ptx/body_parser.hpp"
#include "inputs/ptx/modifiers.hpp"

namespace atl::ptx {
namespace {

/// How many operands before the sources are written.
unsigned destinations(const Instruction& i) {
  switch (i.op) {
    case Op::st:
    case Op::red:
    case Op::sust:
    case Op::bra:
    case Op::brx:
    case Op::membar:
    case Op::fence:
    case Op::griddepcontrol:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::brkpt:
    case Op::nanosleep:
    case Op::pmevent:
    case Op::prefetch:
    case Op::applypriority:
    case Op::discard:
    case Op::cp:
    case Op::bulk:
    case Op::stmatrix:
    case Op::setmaxnreg:
      return 0;
    case Op::wmma:
      return i.mode == Mode::store_d ? 0 : 1;
    case Op::bar:
      return i.mode == Mode::and_ || i.mode == Mode::or_ || i.mode == Mode::popc ? 1 : 0;
    case Op::mbarrier:
      return i.mode == Mode::init || i.mode == Mode::inval || i.mode == Mode::expect_tx || i.mode == Mode::complete_tx ? 0
                                                                                                                       : 1;
    default:
      return 1;
  }
}

/// What an instruction cannot do without: shorter lists are no PTX, and would surprise whoever executes them.
unsigned least_sources(const Instruction& i) {
  switch (i.op) {
    case Op::bfi:
    case Op::lop3:
      return 4;
    case Op::fma:
    case Op::mad:
    case Op::mad24:
    case Op::madc:
    case Op::sad:
    case Op::selp:
    case Op::slct:
    case Op::bfe:
    case Op::prmt:
    case Op::shf:
    case Op::dp2a:
    case Op::dp4a:
    case Op::fns:
    case Op::shfl:
    case Op::sust:
    case Op::mma:
      return 3;
    case Op::video:
      return i.vector == 1 && !i.has(kSum) ? 2 : 3;
    case Op::wmma:
      return i.mode == Mode::multiply ? 3 : i.mode == Mode::store_d ? 2 : 1;
    case Op::add:
    case Op::addc:
    case Op::sub:
    case Op::subc:
    case Op::mul:
    case Op::mul24:
    case Op::div:
    case Op::rem:
    case Op::min:
    case Op::max:
    case Op::and_:
    case Op::or_:
    case Op::xor_:
    case Op::shl:
    case Op::shr:
    case Op::set:
    case Op::setp:
    case Op::bmsk:
    case Op::szext:
    case Op::copysign:
    case Op::atom:
    case Op::red:
    case Op::st:
    case Op::tex:
    case Op::tld4:
    case Op::suld:
    case Op::stmatrix:
    case Op::mapa:
      return 2;
    case Op::cp:
      return i.mode == Mode::copy ? 3 : i.mode == Mode::wait_group || i.mode == Mode::mbarrier_arrive ? 1 : 0;
    case Op::bulk:
      return i.mode == Mode::commit_group ? 0 : i.mode == Mode::wait_group ? 1 : i.mode == Mode::prefetch ? 2 : 3;
    case Op::bar:
      return i.scope == Scope::cluster ? 0 : 1;
    case Op::activemask:
    case Op::ret:
    case Op::exit:
    case Op::trap:
    case Op::brkpt:
    case Op::membar:
    case Op::fence:
    case Op::griddepcontrol:
      return 0;
    default:
      return 1;
  }
}

/// The type of the sources where it is not that of the instruction.
Type literal_type(const Instruction& i) {
  const bool two_types = i.op == Op::cvt || i.op == Op::set || i.op == Op::tex || i.op == Op::tld4;
  return two_types && i.source_type != Type::none ? i.source_type : i.type;
}

bool is_texture(Op op) { return op == Op::tex || op == Op::tld4 || op == Op::suld || op == Op::sust || op == Op::txq; }

}  // namespace

std::uint16_t BodyParser::intern(std::string_view spelled) {
  const auto [at, fresh] = spellings_.emplace(spelled, static_cast<std::uint16_t>(f_.spellings.size()));
  if (fresh) f_.spellings.emplace_back(spelled);
  return at->second;
}

void BodyParser::instruction() {
  Instruction i;
  if (in_.accept("@")) {
    i.guard_negated = in_.accept("!");
    i.guard = operand_.parse_predicate();
  }
  i.line = in_.peek().line;
  const std::string_view spelled = in_.name_of("an opcode");
  i.spelling = intern(spelled);
  if (const std::string_view part = decode_opcode(spelled, i); !part.empty()) {
    unsupported(i, spelled, part);
  } else if (i.op == Op::call) {
    call(i);
  } else if (i.op == Op::bra) {
    scopes_.top().pending.push_back({in_.name_of("a label"), i.line, static_cast<std::uint32_t>(f_.code.size())});
  } else {
    operands(i);
  }
  in_.expect(";");
  f_.code.push_back(i);
  label_at_end_ = false;
}

void BodyParser::unsupported(Instruction& i, std::string_view spelled, std::string_view part) {
  const bool opcode = part == spelled.substr(0, spelled.find('.'));
  if (unsupported_ == Unsupported::refuse)
    in_.fail_at(i.line, "unsupported instruction '" + std::string(spelled) + "'" +
                            (opcode ? "" : " (modifier '." + std::string(part) + "')"));
  const std::uint32_t guard = i.guard;
  const Instruction plain;
  Instruction kept = plain;
  kept.op = Op::unsupported;
  kept.line = i.line;
  kept.spelling = i.spelling;
  kept.guard = guard;
  kept.guard_negated = i.guard_negated;
  i = kept;
  while (!in_.done() && !in_.at(";")) in_.next();
}

void BodyParser::operands(Instruction& i) {
  unsigned written = destinations(i), used = 0;
  while (!in_.at(";")) {
    if (used < written) {
      destination(i, used);
    } else if (is_texture(i.op) && in_.at("[")) {
      texel(i);
    } else if (i.op == Op::bulk && i.shape != 0 && in_.at("[")) {
      for (const Operand& o : operand_.parse_tensor())
        if (!o.is(Operand::none)) source(i, o);
    } else if (i.op == Op::brx && i.sources == 1) {
      i.table = scopes_.find_table(in_.name_of("a list of branch targets"));
      if (i.table == kNone) in_.fail("unknown list of branch targets");
    } else {
      source(i, operand_.parse(literal_type(i)));
    }
    if (!in_.accept(",")) break;
  }
  // Which lines an L2 is to keep is no matter of the program's results; others have this operand where nobody looks.
  if (i.op == Op::cp && i.has(kCacheHint) && i.sources > least_sources(i)) i.src[--i.sources] = {};
  if (i.sources < least_sources(i)) in_.fail("too few operands of '" + f_.spelling(i) + "'");
  if (i.op == Op::brx && i.table == kNone) in_.expected("a list of branch targets");
}

/// `d`, or `d|p`.
void BodyParser::destination(Instruction& i, unsigned& used) {
  i.dst[0] = operand_.parse(i.type);
  if (i.dst[0].is(Operand::imm)) in_.fail("the destination of '" + f_.spelling(i) + "' is no register");
  if (in_.accept("|")) i.dst[1] = operand_.parse(Type::pred);
  ++used;
}

void BodyParser::texel(Instruction& i) {
  const auto pair = operand_.parse_texel(i.op == Op::tex || i.op == Op::tld4 ? i.source_type : Type::s32);
  source(i, pair[0]);
  source(i, pair[1]);
}

void BodyParser::source(Instruction& i, const Operand& o) {
  if (i.sources == i.src.size()) in_.fail("too many operands of '" + f_.spelling(i) + "'");
  i.src[i.sources++] = o;
}

std::vector<Operand> BodyParser::call_operands() {
  std::vector<Operand> list;
  in_.expect("(");
  while (!in_.accept(")")) {
    if (!list.empty()) in_.expect(",");
    list.push_back(operand_.parse(Type::b64));
  }
  return list;
}

/// call (results), f, (arguments), prototype;  with f a function, or a register for a call through a pointer.
void BodyParser::call(Instruction& i) {
  Call c;
  if (in_.at("(")) {
    c.results = call_operands();
    in_.expect(",");
  }
  const std::string_view name = in_.peek().text;
  if (const auto f = names_.functions.find(name); f != names_.functions.end() && scopes_.find_register(name) == kNone) {
    in_.next();
    c.callee = f->second;
  } else {
    c.through = operand_.parse(Type::b64);
    if (!c.through.is(Operand::reg)) in_.fail("'" + std::string(name) + "' is no function");
  }
  if (in_.accept(",")) {
    if (in_.at("("))
      c.arguments = call_operands();
    else
      in_.expected("the arguments");
  }
  if (in_.accept(",")) {
    const Prototype* p = scopes_.find_prototype(in_.name_of("a prototype"));
    if (p == nullptr) in_.fail("unknown prototype");
    c.result_types = p->results;
    c.argument_types = p->arguments;
    c.candidates = p->targets;
  }
  i.table = static_cast<std::uint32_t>(f_.calls.size());
  f_.calls.push_back(std::move(c));
}

}  // namespace atl::ptx
