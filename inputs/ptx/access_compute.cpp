#include "inputs/ptx/access_flow.hpp"

namespace atl::ptx {
namespace {

/// Results that are numbers or truth values, whatever the operands are: no address is made of them alone.
bool makes_number(const Instruction& i) {
  switch (i.op) {
    case Op::mul:
    case Op::mul24:
    case Op::div:
    case Op::rem:
    case Op::popc:
    case Op::clz:
    case Op::bfind:
    case Op::bmsk:
    case Op::fns:
    case Op::setp:
    case Op::set:
    case Op::testp:
    case Op::isspacep:
    case Op::vote:
    case Op::activemask:
    case Op::tex:
    case Op::tld4:
    case Op::txq:
    case Op::mbarrier:
    case Op::bar:
    case Op::mma:
    case Op::wmma:
    case Op::movmatrix:
    case Op::video:
    case Op::getctarank:
    case Op::elect:
    case Op::createpolicy:
      return true;
    case Op::cvt:
      return is_float(i.type) || is_float(i.source_type);
    case Op::mov:
    case Op::selp:
    case Op::slct:
    case Op::shfl:
      return false;
    // A number from memory that is scaled is an index. Large shifts take pointers apart or put them together.
    case Op::shl:
      return i.src[1].is(Operand::imm) && i.src[1].value < 16;
    default:
      return is_float(i.type);
  }
}

}  // namespace

void AccessFlow::compute(std::uint32_t f, const Instruction& i) {
  if (makes_number(i)) return;
  ObjectSet places;
  const bool product = i.op == Op::mad || i.op == Op::mad24 || i.op == Op::madc || i.op == Op::sad;
  for (unsigned s = product ? 2 : 0; s < i.sources; ++s) places.add(value(f, i.src[s]));
  const bool wide = size_of(i.type) >= 8;
  const bool pieces = i.op == Op::mov && i.src[0].is(Operand::vector);
  const bool half = i.op == Op::shl && i.src[1].is(Operand::imm) && i.src[1].value == 32;
  if (wide && (pieces || half)) places.add(Places::kUnknown);
  assign(f, i.dst[0], places);
}

void AccessFlow::step(std::uint32_t f, const Instruction& i) {
  switch (i.op) {
    case Op::ld:
    case Op::ldu:
      return load(f, i, false);
    case Op::suld: {
      ObjectSet unknown;
      unknown.add(Places::kUnknown);
      if (size_of(i.type) >= 8) assign(f, i.dst[0], unknown);
      return;
    }
    case Op::st:
    case Op::red:
      return store(f, i, i.src[1]);
    case Op::atom:
      store(f, i, i.src[1]);
      if (i.sources > 2) store(f, i, i.src[2]);
      return load(f, i, true);
    case Op::cp: {
      // What lands in shared memory was in global memory: pointers in it are anybody's.
      ObjectSet unknown;
      unknown.add(Places::kUnknown);
      if (i.mode == Mode::copy) put(shared_, unknown, false);
      return;
    }
    case Op::bulk: {
      ObjectSet unknown;
      unknown.add(Places::kUnknown);
      if (i.space == Space::shared && i.source_space == Space::global) put(shared_, unknown, false);
      return;
    }
    case Op::call:
      return call(f, m_.functions[f].calls[i.table]);
    default:
      return compute(f, i);
  }
}

}  // namespace atl::ptx
