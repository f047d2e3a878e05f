#include "inputs/ptx/access_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/engine/function_name.hpp"
#include "inputs/ptx/exec_memory.hpp"
#include "inputs/ptx/exec_warp.hpp"

namespace atl::ptx {
namespace {

constexpr char kWhoseFault[] =
    "; unless the program reaches one allocation through a pointer to another, which CUDA does not allow, this is a defect "
    "of the read-only analysis (docs/ptx.md): please report it with the PTX";
constexpr char kPromise[] = "; the program itself promised this, by ld.global.nc (const __restrict__, __ldg) or a texture";

bool accesses_memory(Op op) {
  return op == Op::ld || op == Op::ldu || op == Op::st || op == Op::atom || op == Op::red || op == Op::cp ||
         op == Op::bulk || op == Op::wmma || op == Op::ldmatrix || op == Op::stmatrix;
}
const char* deed(const SharedTouch& t) { return !t.writes ? "reads" : t.strong ? "updates (atomic or volatile)" : "writes"; }

}  // namespace

/// The instruction that a warp executes.
struct AccessCheck::Current {
  explicit Current(exec::Warp& w) : warp(w), inst(w.code[w.pc - 1]), in(w.frame().code->function->code[inst.index]) {
    const bool atomic = in.op == Op::atom || in.op == Op::red;
    writes = atomic || in.op == Op::st || in.op == Op::sust || in.op == Op::stmatrix ||
             (in.op == Op::wmma && in.mode == Mode::store_d) || (in.op == Op::bulk && in.space == Space::global);
    const std::uint8_t strength = exec::strength_of(in);
    reads = !writes || in.op == Op::atom;
    // Of a load the decoder knows more.
    strong = ((in.op == Op::ld ? inst.option : strength) & exec::kIsStrong) != 0;
    orders = (strength & exec::kOrders) != 0;
    promised = in.has(kNonCoherent) || (in.op == Op::tex && w.launch->spec->textures_hold);
  }
  /// What a plain store of one register or literal writes for a lane.
  std::optional<std::uint64_t> stored(unsigned lane) const {
    const Operand& from = in.src[1];
    const unsigned size = size_of(in.type);
    if (in.op != Op::st || strong || inst.count != 1 || size > sizeof(std::uint64_t)) return std::nullopt;
    if (!from.is(Operand::reg) && !from.is(Operand::imm)) return std::nullopt;
    const Function& function = *warp.frame().code->function;
    const unsigned wide = from.is(Operand::reg) ? std::max(size, size_of(function.registers[from.index].type)) : size;
    std::uint64_t value = 0;
    std::memcpy(&value, warp.at<std::byte>(inst.src[1]) + std::size_t{lane} * wide, size);
    return value;
  }

  exec::Warp& warp;
  const exec::Inst& inst;
  const Instruction& in;
  bool writes = false, reads = false, strong = false;
  bool orders = false;    ///< acquires or releases
  bool promised = false;  ///< the program says itself that nobody writes what this load reads
};

void AccessCheck::begin_kernel(const LaunchSpec& spec, const exec::Image& image) {
  spec_ = &spec;
  ++counts_.launches;
  book_.clear();
  races_.clear(), misuses_.clear();
  granule_ = 4;
  for (const exec::Code& code : image.functions)
    for (const exec::Inst& i : code.code)
      if (const Instruction& in = code.function->code[i.index]; accesses_memory(in.op) && i.traced != 0 && i.bytes != 0)
        granule_ = in.op == Op::bulk && in.shape != 0 ? 1 : std::min<std::uint32_t>(granule_, i.bytes);  // 1: of a tensor
}

void AccessCheck::add(const AccessCheck& other) {
  counts_.launches += other.counts_.launches;
  counts_.loads += other.counts_.loads, counts_.marked += other.counts_.marked;
  held_ &= other.held_;
}

void AccessCheck::access(exec::Warp& w, const std::uint64_t* address, std::uint64_t window) {
  const Current now(w);
  if (now.in.space == Space::constant || now.in.space == Space::param) return;
  const std::uint32_t bytes = std::uint32_t{now.inst.bytes} * now.inst.count;
  exec::for_active(w.active, [&](unsigned lane) {
    const std::uint64_t a = address[lane] | window;
    if ((a & exec::kWindowMask) == 0)
      global(now, lane, a, bytes);
    else if ((a & exec::kWindowMask) == exec::kSharedWindow && exec::shared_owner(w, a & ~exec::kWindowMask) == w.cta)
      shared(now, lane, static_cast<std::uint32_t>(a & exec::kOwnOffset), bytes);
  });
}

void AccessCheck::access(exec::Warp& w, unsigned lane, std::uint64_t address, std::uint32_t bytes) {
  global(Current(w), lane, address, bytes);
}

void AccessCheck::global(const Current& now, unsigned lane, std::uint64_t address, std::uint32_t bytes) {
  const Instruction& in = now.in;
  const auto place = [this](std::uint32_t line) { return spec_->module->lines.place(line); };
  if (!now.writes) {
    const bool marked = spec_->read_only_marks && (in.read_only || now.promised);
    const bool first = lane == static_cast<unsigned>(std::countr_zero(now.warp.active));
    counts_.loads += first, counts_.marked += first && marked;
    if (!marked) return;
    if (const auto clash = book_.note(ByteBook::promised, address, bytes, in.line))
      wrong(lane, fmt::format("this load carries the read-only mark, but the store at {} has written {}{}",
                              place(clash->line), owner(now, clash->address), in.read_only ? kWhoseFault : kPromise));
    return;
  }
  for (const ReadOnlyClaim& c : claims_) {
    if (address + bytes <= c.address || address >= c.address + c.size) continue;
    std::vector<std::string> reads;
    for (const std::uint32_t line : c.reads) reads.push_back(place(line));
    wrong(lane, fmt::format("this store changes {}, which the kernel only reads ({}){}", owner(now, address),
                            fmt::join(reads, "; "), kWhoseFault));
  }
  if (const auto clash = book_.note(ByteBook::written, address, bytes, in.line))
    wrong(lane, fmt::format("this store changes {}, which the load at {} has read with the read-only mark{}",
                            owner(now, clash->address), place(clash->line), kWhoseFault));
}

void AccessCheck::shared(const Current& now, unsigned lane, std::uint32_t offset, std::uint32_t bytes) {
  exec::Warp& w = now.warp;
  SharedTouch touch;
  touch.line = now.in.line, touch.warp = static_cast<std::uint8_t>(w.number);
  touch.writes = now.in.op == Op::bulk ? now.in.space == Space::shared
                                       : now.writes || (now.in.op == Op::cp && now.in.mode == Mode::copy);
  touch.reads = !touch.writes || now.reads;
  touch.strong = now.strong;
  touch.value = now.stored(lane);
  if (touch.writes && now.orders) w.cta->races->fence(w.number);
  const auto race = w.cta->races->access(offset, bytes, touch);
  if (!race) return;
  SharedRace& known = races_[{race->first.line, race->second.line}];
  if (known.times++ != 0) return;
  const Module& module = *spec_->module;
  known.kernel = module.functions[spec_->kernel].name;
  known.first_place = module.lines.place(race->first.line), known.second_place = module.lines.place(race->second.line);
  std::copy(w.cta->id, w.cta->id + 3, known.cta.begin());
  known.race = *race;
}

/// "0x200000000010 in allocation 3 (parameter p)".
std::string AccessCheck::owner(const Current& now, std::uint64_t address) const {
  const Allocation* found = now.warp.launch->device->memory.find(address);
  std::string text = fmt::format("{:#x} in {}", address, found != nullptr ? found->name : "memory of no allocation");
  for (const ReadOnlyClaim& c : claims_)
    if (address - c.address < c.size) return text + fmt::format(" ({})", c.structure);
  return text;
}

void AccessCheck::wrong(unsigned lane, const std::string& what) {
  held_ = false;
  throw exec::Fault{ExecutionError::Kind::wrong_mark, lane, what};
}

void AccessCheck::misuse(exec::Warp& w, WarpMisuse::Kind kind, std::uint32_t lanes) {
  const Current now(w);
  WarpMisuse& known = misuses_[{now.in.line, kind}];
  if (known.times++ != 0) return;
  known.kernel = spec_->module->functions[spec_->kernel].name, known.place = spec_->module->lines.place(now.in.line);
  known.spelling = w.frame().code->function->spelling(now.in);
  known.kind = kind, known.line = now.in.line, known.warp = w.number, known.lanes = lanes;
  std::copy(w.cta->id, w.cta->id + 3, known.cta.begin());
}

/// `bar` is `barrier.aligned`.
void AccessCheck::apart(exec::Warp& w, std::uint32_t lanes) {
  const Current now(w);
  if (now.in.has(kAligned) || w.frame().code->function->spelling(now.in).starts_with("bar."))
    misuse(w, WarpMisuse::apart, lanes);
}

std::vector<WarpMisuse> AccessCheck::misuses() const {
  std::vector<WarpMisuse> all;
  for (const auto& [line, misuse] : misuses_) all.push_back(misuse);
  return all;
}

std::string text_of(const WarpMisuse& m) {
  const char* what =
      m.kind == WarpMisuse::outside ? "lanes ({:#x}) are not in their own member mask, which PTX leaves undefined"
      : m.kind == WarpMisuse::apart
          ? "lanes ({:#x}) of the warp are elsewhere, by another way through the program, which PTX leaves undefined at "
            "this barrier"
      : m.kind == WarpMisuse::missed
          ? "the member mask names lanes that did not come (lanes {:#x}); those that were there met without them"
          : "lanes ({:#x}) ask for values of lanes outside of the mask, which PTX leaves undefined: they get "
            "their own, or 0 from lanes that have exited";
  return fmt::format("kernel {}, block ({}, {}, {}), warp {}, {}: {}: {}; {} times in this launch", function_name(m.kernel),
                     m.cta[0], m.cta[1], m.cta[2], m.warp, m.place, m.spelling, fmt::format(fmt::runtime(what), m.lanes),
                     m.times);
}

std::vector<SharedRace> AccessCheck::races() const {
  std::vector<SharedRace> all;
  for (const auto& [lines, race] : races_) all.push_back(race);
  return all;
}

std::string text_of(const SharedRace& r) {
  const auto side = [&](const SharedTouch& t, const std::string& place) {
    return fmt::format("warp {} {} ({})", t.warp, deed(t), place);
  };
  return fmt::format(
      "kernel {}, block ({}, {}, {}): shared-memory race at byte {}: {}, then {}, and no barrier or fence orders them; {} "
      "accesses in this launch",
      function_name(r.kernel), r.cta[0], r.cta[1], r.cta[2], r.race.offset, side(r.race.first, r.first_place),
      side(r.race.second, r.second_place), r.times);
}

}  // namespace atl::ptx
