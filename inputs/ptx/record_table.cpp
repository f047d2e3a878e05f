#include "inputs/ptx/record_table.hpp"

#include <algorithm>

#include "inputs/ptx/matrix_shape.hpp"

/// What PTX instructions cost, in the classes of docs/traces.md. An instruction that ptxas turns into a sequence takes as
/// many issue slots as its usual path on sm_75 has instructions, roughly.
namespace atl::ptx {
namespace {

constexpr std::uint16_t kAlu = 4, kConstant = 8, kSpecialFunction = 21, kDouble = 64, kTensor = 32;

struct Cost {
  std::uint16_t issue = 1, latency = kAlu;
};

/// sm_75 multiplies 16 x 8 x 8 in one instruction, bytes 8 x 8 x 16.
std::uint16_t tensor_slots(const Instruction& in) {
  const MatrixShape& s = kShapes[in.shape - 1];
  return static_cast<std::uint16_t>(std::max(1, s.m * s.n * s.k / 1024));
}

Cost cost_of(const Instruction& in) {
  const bool is_double = in.type == Type::f64 || (in.op == Op::cvt && in.source_type == Type::f64);
  const bool wide = size_of(in.type) == 8;
  switch (in.op) {
    case Op::mma:
      return {tensor_slots(in), kTensor};
    case Op::wmma:
      return in.mode == Mode::multiply ? Cost{tensor_slots(in), kTensor} : Cost{};
    case Op::ex2:
    case Op::lg2:
    case Op::sin:
    case Op::cos:
    case Op::tanh:
    case Op::rsqrt:
      return {1, kSpecialFunction};
    case Op::rcp:
    case Op::sqrt:
      if (is_double) return in.has(kApprox) ? Cost{1, kSpecialFunction} : Cost{10, kDouble};
      return in.has(kApprox) ? Cost{1, kSpecialFunction} : Cost{7, kSpecialFunction};
    case Op::div:
      if (is_double) return {12, kDouble};
      if (is_float(in.type)) return in.has(kApprox) ? Cost{2, kSpecialFunction} : Cost{9, kSpecialFunction};
      return wide ? Cost{70, kSpecialFunction} : Cost{16, kSpecialFunction};
    case Op::rem:
      return wide ? Cost{72, kSpecialFunction} : Cost{18, kSpecialFunction};
    case Op::mul:
    case Op::mad:
      return wide && !is_double ? Cost{4, kAlu} : Cost{1, is_double ? kDouble : kAlu};
    default:
      return {1, is_double ? kDouble : kAlu};
  }
}

/// What a GPU does at no cost: kernel parameters are operands from a constant bank, parameters of functions are registers,
/// generic addresses of global memory are the addresses themselves. The last instruction of a thread is the op `exit`.
bool costs_nothing(const Instruction& in, const Function& f) {
  switch (in.op) {
    case Op::ld:
    case Op::st:
      return in.space == Space::param;
    case Op::cvta:
      return in.space == Space::global || in.space == Space::constant || in.space == Space::param;
    case Op::ret:
      return f.entry;
    case Op::exit:
      return true;
    default:
      return false;
  }
}

RecordInfo info_of(const Instruction& in, const Function& f, const exec::Inst& inst) {
  RecordInfo info;
  const Cost cost = cost_of(in);
  info.issue = cost.issue, info.latency = cost.latency;
  info.width = static_cast<std::uint16_t>(inst.bytes * inst.count);
  const bool strong = in.has(kVolatile) || (in.order != Order::none && in.order != Order::weak);
  if (strong || in.cache == Cache::cg || in.cache == Cache::cv) info.flags |= kBypassL1;
  if (costs_nothing(in, f)) {
    info.kind = RecordInfo::free;
    return info;
  }
  switch (in.op) {
    case Op::ld:
    case Op::ldu:
      if (in.space == Space::constant) {
        info.latency = kConstant;
        break;
      }
      info.kind = RecordInfo::load;
      if (in.read_only || in.has(kNonCoherent)) info.flags |= kReadOnly;
      break;
    case Op::tex:
      info.kind = RecordInfo::load;
      info.width = 4;  // the texel nearest to the coordinate stands for what a filter reads
      info.some_lanes = true;
      info.flags |= kReadOnly;
      break;
    case Op::st:
      info.kind = RecordInfo::store;
      break;
    case Op::wmma:
      if (in.mode == Mode::multiply) break;
      info.kind = in.mode == Mode::store_d ? RecordInfo::store : RecordInfo::load;
      if (in.mode != Mode::store_d && in.read_only) info.flags |= kReadOnly;
      info.pieces = inst.traced;
      break;
    case Op::ldmatrix:
    case Op::stmatrix:
      info.kind = in.op == Op::ldmatrix ? RecordInfo::load : RecordInfo::store;
      info.pieces = inst.traced;
      break;
    case Op::mbarrier:
      if (inst.traced == 0) break;
      info.kind = in.mode == Mode::init                                     ? RecordInfo::store
                  : in.mode == Mode::test_wait || in.mode == Mode::try_wait ? RecordInfo::phase_wait
                                                                            : RecordInfo::atomic;
      break;
    case Op::bulk:
      if (inst.traced == 0) break;  // from shared memory to that of another CTA
      info.pieces = 2;
      info.kind = in.mode == Mode::prefetch   ? RecordInfo::bulk_prefetch
                  : in.space == Space::shared ? RecordInfo::bulk_load
                  : in.mode == Mode::copy     ? RecordInfo::bulk_store
                                              : RecordInfo::bulk_reduce;
      break;
    case Op::suld:
    case Op::sust:
      info.kind = in.op == Op::suld ? RecordInfo::load : RecordInfo::store;
      info.width = static_cast<std::uint16_t>(inst.bytes * inst.value);
      info.some_lanes = true;
      break;
    case Op::atom:
    case Op::red:
      info.kind = RecordInfo::atomic;
      break;
    case Op::cp:
      if (in.mode == Mode::mbarrier_arrive) {
        if (inst.traced != 0) info.kind = RecordInfo::atomic;
        break;
      }
      info.pieces = inst.traced != 0 ? 2 : 1;
      info.kind = inst.traced != 0                ? RecordInfo::copy
                  : in.mode == Mode::commit_group ? RecordInfo::copy_commit
                  : in.mode == Mode::wait_group   ? RecordInfo::copy_wait
                                                  : RecordInfo::copy_wait_all;
      info.some_lanes = info.kind == RecordInfo::copy;
      if (in.mode == Mode::wait_group) info.outstanding = static_cast<std::uint16_t>(in.src[0].value);
      break;
    case Op::bar:
      // That CTAs of a cluster wait for each other is in no trace: each waits for its own warps.
      if (in.mode != Mode::warp_sync && in.mode != Mode::arrive) info.kind = RecordInfo::barrier;
      break;
    default:
      break;
  }
  return info;
}

class Builder {
 public:
  Builder(RecordTable& table, bool textures_hold) : table_(table), textures_hold_(textures_hold) {}

  void function(const exec::Code& code) {
    const Function& f = *code.function;
    base_ = static_cast<std::uint32_t>(table_.register_count);
    function_ = &f;
    table_.register_count += f.registers.size();
    for (std::size_t n = 0; n < f.code.size(); ++n) {
      const Instruction& in = f.code[n];
      RecordInfo info = info_of(in, f, code.code[n]);
      if (in.op == Op::tex && !textures_hold_) info.flags &= static_cast<std::uint8_t>(~kReadOnly);
      info.first = static_cast<std::uint32_t>(table_.registers.size());
      if (in.guard != kNone) add_register(in.guard);
      for (const Operand& o : in.src) add(o);
      if (in.op == Op::call)
        for (const Operand& o : f.calls[in.table].arguments) add(o);
      info.sources = static_cast<std::uint16_t>(table_.registers.size() - info.first);
      // nvcc writes `atom` with a register for a result that nobody reads. Machine code has none: a sum, say, becomes `RED`.
      const bool unread = in.op == Op::atom && code.code[n].dst[0] == exec::make_ref(exec::kSink, 0);
      if (!unread)
        for (const Operand& o : in.dst) add(o);
      info.results = static_cast<std::uint16_t>(table_.registers.size() - info.first - info.sources);
      table_.infos[code.first_id + n] = info;
    }
  }

 private:
  void add_register(std::uint32_t r) { table_.registers.push_back(base_ + r); }
  void add(const Operand& o) {
    if (o.is(Operand::reg)) add_register(o.index);
    if (o.is(Operand::vector))
      for (unsigned e = 0; e < o.count; ++e) add(function_->elements[o.index + e]);
  }

  RecordTable& table_;
  bool textures_hold_;
  std::uint32_t base_ = 0;
  const Function* function_ = nullptr;
};

}  // namespace

RecordTable make_record_table(const exec::Image& image, bool textures_hold) {
  RecordTable table;
  table.infos.resize(image.instructions);
  Builder builder(table, textures_hold);
  for (const exec::Code& code : image.functions)
    if (!code.code.empty()) builder.function(code);
  return table;
}

}  // namespace atl::ptx
