#include "inputs/ptx/exec_decoder.hpp"

#include <algorithm>

#include "inputs/ptx/instruction_registers.hpp"
#include "inputs/ptx/liveness.hpp"
#include "inputs/ptx/register_pressure.hpp"

namespace atl::ptx::exec {
namespace {

constexpr std::size_t kLine = 64;  // registers begin at cache lines, so that vector loads are aligned

std::size_t rounded(std::size_t n, std::size_t to) { return (n + to - 1) / to * to; }
unsigned register_width(Type t) { return t == Type::pred ? 0 : size_of(t); }

}  // namespace

Decoder::Decoder(const Module& module, Image& image, const std::vector<std::uint64_t>& variables)
    : module_(module), image_(image), variables_(variables) {}

void Decoder::refuse(const std::string& why) const {
  const std::string spelling = in != nullptr ? "'" + function().spelling(*in) + "': " : "";
  throw InputError(in != nullptr ? module_.lines.place(in->line) : module_.name,
                   spelling + why + " (in function " + function().name + ")");
}

void Decoder::layout() {
  const Function& f = function();
  std::size_t predicates = 0, bytes = 0;
  for (const Register& r : f.registers) predicates += r.type == Type::pred;
  bytes = rounded(predicates * 4, kLine);
  std::size_t next_predicate = 0;
  for (const Register& r : f.registers) {
    if (r.type == Type::pred) {
      code_->register_refs.push_back(make_ref(kRegisters, 4 * next_predicate++));
    } else {
      code_->register_refs.push_back(make_ref(kRegisters, bytes));
      bytes += rounded(std::size_t{register_width(r.type)} * kLanes, kLine);
    }
  }
  code_->register_bytes = static_cast<std::uint32_t>(bytes);
  seen_unset(f).each([&](std::uint32_t r) {
    const bool predicate = f.registers[r].type == Type::pred;
    code_->unset.push_back(
        {code_->register_refs[r] & kOffsetMask, predicate ? 4 : register_width(f.registers[r].type) * kLanes});
  });
  code_->param_base = static_cast<std::uint32_t>(rounded(f.local_frame, 16));
  code_->frame_bytes = code_->param_base + static_cast<std::uint32_t>(rounded(f.param_frame, 16));
}

void Decoder::formals() {
  const auto place = [&](const Param& p) {
    Formal formal{p.reg != kNone, 0, p.offset, p.size};
    if (formal.in_register) {
      formal.ref = code_->register_refs[p.reg];
      formal.size = register_width(function().registers[p.reg].type);
    }
    return formal;
  };
  for (const Param& p : function().results) code_->results.push_back(place(p));
  if (function().entry) return;
  for (const Param& p : function().params) code_->params.push_back(place(p));
}

void Decoder::calls() {
  const Function& f = function();
  for (const Call& call : f.calls) {
    CallSite site;
    site.callee = call.callee;
    if (call.callee == kNone) site.through = source(call.through, Type::u64);
    const std::vector<Param>& results = call.callee == kNone ? call.result_types : module_.functions[call.callee].results;
    const std::vector<Param>& arguments = call.callee == kNone ? call.argument_types : module_.functions[call.callee].params;
    const auto place = [&](const Operand& o, const std::vector<Param>& types, std::size_t n) {
      const std::uint32_t size = n < types.size() ? types[n].size : 8;
      if (o.is(Operand::param)) return CallArgument{0, true, static_cast<std::uint32_t>(o.value), size};
      const unsigned bytes = width(o, size);
      return CallArgument{source(o, bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : Type::b64), false, 0, bytes};
    };
    for (std::size_t n = 0; n < call.results.size(); ++n) site.results.push_back(place(call.results[n], results, n));
    for (std::size_t n = 0; n < call.arguments.size(); ++n) site.arguments.push_back(place(call.arguments[n], arguments, n));
    code_->calls.push_back(std::move(site));
  }
}

const Instruction* Decoder::only_writer(std::uint32_t reg) const {
  const Instruction* found = nullptr;
  for (const Instruction& i : function().code)
    for (const Operand& to : i.dst) {
      if (!to.is(Operand::reg) || to.index != reg) continue;
      if (found) return nullptr;
      found = &i;
    }
  return found;
}

Operand Decoder::base(Operand address) const {
  constexpr int kSteps = 4;  // nvcc takes one of each; a register of its own sum would never end
  for (int step = 0; step < kSteps && address.is(Operand::reg); ++step) {
    const Instruction* writer = only_writer(address.index);
    if (!writer || writer->guard != kNone) break;
    const Operand &from = writer->src[0], &more = writer->src[1];
    const bool names = writer->op == Op::mov && from.is(Operand::variable);
    if (!names && !(writer->op == Op::add && from.is(Operand::reg) && more.is(Operand::imm))) break;
    const std::int64_t offset = address.value + (names ? 0 : more.value);
    address = from;
    address.value += offset;
  }
  return address;
}

bool Decoder::begins_swap(const Instruction& load) const {
  const Operand& to = load.dst[0];
  return to.is(Operand::reg) && std::ranges::any_of(swaps_, [&](const Instruction* swap) {
           const Operand& compared = swap->src[1];
           if (!compared.is(Operand::reg) || compared.index != to.index) return false;
           const Operand at = base(swap->src[0]), from = base(load.src[0]);
           return at.kind == from.kind && at.index == from.index && at.value == from.value;
         });
}

void Decoder::function(std::uint32_t index) {
  code_ = &image_.functions[index];
  code_->function = &module_.functions[index];
  code_->decoded = true;
  in = nullptr;
  if (!function().defined) return;
  read_ = registers_read(function());
  swaps_.clear();
  for (const Instruction& i : function().code)
    if (i.op == Op::atom && i.mode == Mode::cas) swaps_.push_back(&i);
  layout();
  formals();
  calls();
  code_->first_id = image_.instructions;
  image_.instructions += static_cast<std::uint32_t>(function().code.size());
  using Group = bool (*)(Decoder&);
  constexpr Group kGroups[] = {decode_memory,  decode_control,       decode_call,    decode_move,     decode_compare,
                               decode_convert, decode_bits,          decode_integer, decode_float,    decode_half,
                               decode_warp,    decode_barrier,       decode_atomic,  decode_texture,  decode_surface,
                               decode_matrix,  decode_matrix_memory, decode_video,   decode_mbarrier, decode_cluster,
                               decode_bulk,    decode_copy};
  code_->code.resize(function().code.size());
  for (std::size_t n = 0; n < function().code.size(); ++n) {
    in = &function().code[n];
    const auto fresh = [&] {
      code_->code[n] = Inst{};
      out = &code_->code[n];
      out->index = static_cast<std::uint32_t>(n);
      if (in->guard != kNone) {
        out->guard = code_->register_refs[in->guard];
        out->guarded = in->guard_negated ? 2 : 1;
      }
    };
    bool done = false;
    for (const Group group : kGroups) {
      fresh();
      done = group(*this);
      if (done) break;
    }
    if (!done) refuse("this form is not supported");
  }
  in = nullptr;
}

unsigned Decoder::width(const Operand& operand, unsigned otherwise) const {
  if (!operand.is(Operand::reg)) return otherwise;
  return register_width(function().registers[operand.index].type);
}

std::vector<Operand> Decoder::elements(const Operand& operand) const {
  if (!operand.is(Operand::vector)) return {operand};
  const auto first = function().elements.begin() + operand.index;
  return {first, first + operand.count};
}

std::uint64_t Decoder::address_of(std::uint32_t variable) const {
  if (module_.variables[variable].space != Space::shared) return variables_[variable];
  const Function& kernel = module_.functions[image_.kernel];
  for (const SharedSlot& slot : kernel.shared)
    if (slot.variable == variable) return slot.offset;
  return kernel.shared_bytes;  // an array whose size the launch gives
}

Ref Decoder::constant(std::uint64_t bits, unsigned bytes) {
  const auto [known, fresh] = constants_.try_emplace({bytes, bits}, 0);
  if (!fresh) return known->second;
  const std::size_t at = image_.constants.size();
  if (bytes == 0) {  // a predicate
    image_.constants.resize(at + kLine);
    const std::uint32_t mask = bits != 0 ? kFullMask : 0;
    std::memcpy(&image_.constants[at], &mask, sizeof mask);
  } else {
    image_.constants.resize(at + rounded(std::size_t{bytes} * kLanes, kLine));
    for (unsigned lane = 0; lane < kLanes; ++lane) std::memcpy(&image_.constants[at + lane * bytes], &bits, bytes);
  }
  return known->second = make_ref(kConstants, at);
}

Ref Decoder::special(const Operand& operand, unsigned bytes) {
  const auto which = static_cast<Special>(operand.index);
  const auto number = which == Special::envreg ? static_cast<std::uint32_t>(operand.value) : 0;
  for (const SpecialSlot& s : image_.specials)
    if (!s.param && s.special == which && s.number == number && (s.mask ? 0 : s.bytes) == bytes) return s.ref;
  switch (which) {
    case Special::clock:
    case Special::clock_hi:
    case Special::clock64:
    case Special::globaltimer:
    case Special::globaltimer_lo:
    case Special::globaltimer_hi:
      refuse("a clock can only be read by mov");
    default:
      break;
  }
  SpecialSlot slot{which, false, number, static_cast<std::uint8_t>(bytes), bytes == 0, 0};
  if (slot.mask) slot.bytes = 4;
  return new_special(slot);
}

Ref Decoder::param_address(std::uint32_t offset, unsigned bytes) {
  for (const SpecialSlot& s : image_.specials)
    if (s.param && s.number == offset && s.bytes == bytes) return s.ref;
  return new_special({Special::laneid, true, offset, static_cast<std::uint8_t>(bytes), false, 0});
}

Ref Decoder::new_special(SpecialSlot slot) {
  slot.ref = make_ref(kSpecials, image_.special_bytes);
  image_.special_bytes += static_cast<std::uint32_t>(rounded(std::size_t{slot.bytes} * kLanes, kLine));
  image_.specials.push_back(slot);
  return slot.ref;
}

Ref Decoder::frame_address(std::uint64_t offset, unsigned bytes) {
  for (const FrameAddress& a : code_->addresses)
    if (a.offset == offset && a.bytes == bytes) return a.ref;
  const Ref ref = make_ref(kRegisters, code_->register_bytes);
  code_->addresses.push_back({ref, static_cast<std::uint8_t>(bytes), offset});
  code_->register_bytes += static_cast<std::uint32_t>(rounded(std::size_t{bytes} * kLanes, kLine));
  return ref;
}

Ref Decoder::source(const Operand& operand, Type type) {
  const unsigned bytes = register_width(type);
  const auto offset = static_cast<std::uint64_t>(operand.value);
  switch (operand.kind) {
    case Operand::reg:
      if (register_width(function().registers[operand.index].type) != bytes)
        refuse("register " + function().registers[operand.index].name + " has another width than the instruction");
      return code_->register_refs[operand.index];
    case Operand::imm:
      return constant(offset, bytes);
    case Operand::special:
      return special(operand, bytes);
    case Operand::variable:
      return constant(address_of(operand.index) + offset, bytes);
    case Operand::local:
      return frame_address(offset, bytes);
    case Operand::param:
      if (function().entry && offset < function().param_block)
        return param_address(static_cast<std::uint32_t>(offset), bytes);
      return frame_address(code_->param_base + offset, bytes);
    case Operand::function:
      return constant(kCodeWindow | std::uint64_t{operand.index} << kCodeShift, bytes);
    case Operand::none:
      return constant(0, bytes);
    case Operand::vector:
      refuse("a vector where a single operand is expected");
  }
  return 0;
}

Ref Decoder::result(const Operand& operand, Type type) {
  if (operand.is(Operand::none)) return make_ref(kSink, 0);
  if (!operand.is(Operand::reg)) refuse("the result is no register");
  if (register_width(function().registers[operand.index].type) != register_width(type))
    refuse("register " + function().registers[operand.index].name + " has another width than the result");
  return code_->register_refs[operand.index];
}

bool Decoder::wanted() const {
  bool any = false;
  each_register(function(), in->dst[0], [&](std::uint32_t r) { any |= read_[r]; });
  return any;
}

lane::Round rounding(Round round) {
  switch (round) {
    case Round::rz:
    case Round::rzi:
      return lane::Round::rz;
    case Round::rm:
    case Round::rmi:
      return lane::Round::rm;
    case Round::rp:
    case Round::rpi:
      return lane::Round::rp;
    case Round::rna:
      return lane::Round::rna;
    default:
      return lane::Round::rn;
  }
}

namespace {

/// Deepest ways of calls through an image.
class StackDepth {
 public:
  explicit StackDepth(const Image& image) : image_(image), bytes_(image.functions.size(), kUnknown) {
    for (const Code& code : image.functions) largest_ = std::max(largest_, own(code));
  }
  std::size_t of(std::uint32_t function) {
    std::size_t& known = bytes_[function];
    if (known != kUnknown) return known;
    const Code& code = image_.functions[function];
    known = 0;  // who calls itself finds this
    std::size_t below = 0;
    for (const CallSite& call : code.calls) below = std::max(below, call.callee == kNone ? largest_ : of(call.callee));
    return known = own(code) + below;
  }

 private:
  static constexpr std::size_t kUnknown = ~std::size_t{0};
  static std::size_t own(const Code& code) { return code.register_bytes + std::size_t{code.frame_bytes} * kLanes; }
  const Image& image_;
  std::vector<std::size_t> bytes_;  ///< by function
  std::size_t largest_ = 0;         ///< of one function: that a pointer may lead to
};

}  // namespace

std::unique_ptr<Image> decode(const Module& module, std::uint32_t kernel, const std::vector<std::uint64_t>& variables) {
  auto image = std::make_unique<Image>();
  image->module = &module, image->kernel = kernel;
  image->functions.resize(module.functions.size());
  image->registers = estimate_registers(module, kernel);
  Decoder decoder(module, *image, variables);
  std::vector<std::uint32_t> todo{kernel};
  bool indirect = false;
  while (!todo.empty()) {
    const std::uint32_t f = todo.back();
    todo.pop_back();
    if (image->functions[f].decoded) continue;
    decoder.function(f);
    for (const Call& call : module.functions[f].calls) {
      if (call.callee != kNone) todo.push_back(call.callee);
      if (call.callee != kNone || indirect) continue;
      indirect = true;
      for (std::uint32_t n = 0; n < module.functions.size(); ++n)
        if (module.functions[n].address_taken) todo.push_back(n);
    }
  }
  image->stack_bytes = StackDepth(*image).of(kernel);
  return image;
}

}  // namespace atl::ptx::exec
