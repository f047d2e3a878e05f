#include "inputs/ptx/exec_decoder.hpp"

/// Branches and ends of threads.
namespace atl::ptx::exec {
namespace {

void suspend(Warp& w, std::uint32_t pc, std::uint32_t reconverge, std::uint32_t mask) {
  w.paths.push_back({pc, reconverge, mask});
}

/// Parts the current path: `taken` goes to `target` first, the others go on at `next`, both meet at `meet`.
void part(Warp& w, std::uint32_t taken, std::uint32_t target, std::uint32_t next, std::uint32_t meet) {
  const std::uint32_t others = w.mask & ~taken;
  if (meet == kNone) meet = w.reconverge;
  // Lanes that leave a loop wait where those before them wait: the path below is already there.
  if (meet != w.reconverge) suspend(w, meet, w.reconverge, w.mask);
  w.reconverge = meet;
  if (next != meet) suspend(w, next, meet, others);
  if (target != meet) {
    w.pc = target, w.mask = taken;
  } else {
    w.mask = 0;
    pop_path(w);
  }
}

void branch(Warp& w, const Inst& i) {
  if (w.active == w.mask)
    w.pc = i.target;
  else
    part(w, w.active, i.target, w.pc, i.reconverge);
}

/// brx.idx: one target after the other, most of the time only one.
void branch_indexed(Warp& w, const Inst& i) {
  const auto& table = w.frame().code->function->branch_tables[i.extra];
  const auto* index = w.at<std::uint32_t>(i.src[0]);
  const auto first = static_cast<unsigned>(std::countr_zero(w.active));
  if (index[first] >= table.size())
    throw Fault{ExecutionError::Kind::illegal_address, first,
                "brx.idx: index " + std::to_string(index[first]) + " is beyond the table"};
  const std::uint32_t target = table[index[first]];
  const std::uint32_t same =
      w.active & lanes_where([&](unsigned l) { return index[l] < table.size() && table[index[l]] == target; });
  if (same == w.mask) {
    w.pc = target;
    return;
  }
  // The rest executes this instruction again; lanes that the guard turned off fall through then.
  part(w, same, target, i.index, i.reconverge);
}

/// The current path lost its lanes, and those below some of theirs.
void leave(Warp& w, std::uint32_t lanes, std::size_t from) {
  for (std::size_t p = from; p < w.paths.size(); ++p) w.paths[p].mask &= ~lanes;
  w.mask &= ~lanes;
  if (w.mask == 0) pop_path(w);
}

void exit_lanes(Warp& w, std::uint32_t lanes) {
  w.alive &= ~lanes;
  w.cta->alive -= static_cast<std::uint32_t>(std::popcount(lanes));
  leave(w, lanes, 0);
  wake_meetings(w);
  for (Barrier& b : w.cta->barriers) check_barrier(*w.cta, b);
  leave_cluster(w, lanes);
}
void exit(Warp& w, const Inst&) { exit_lanes(w, w.active); }

void ret(Warp& w, const Inst&) {
  if (w.frames.size() == 1)
    exit_lanes(w, w.active);
  else
    leave(w, w.active, w.frame().first_path);
}

/// To the ret that all lanes of the kernel end at. nvcc makes `if (i >= n) return;` of it, and those that return are gone:
/// they do not wait there for the others, whose votes and shuffles would miss them.
void branch_to_end(Warp& w, const Inst& i) {
  if (w.active == w.mask || i.target != (i.reconverge == kNone ? w.reconverge : i.reconverge)) return branch(w, i);
  w.thread_executed += static_cast<std::uint64_t>(std::popcount(w.active));  // their ret
  exit_lanes(w, w.active);
}

void trap(Warp& w, const Inst&) {
  throw Fault{ExecutionError::Kind::trap, static_cast<unsigned>(std::countr_zero(w.active)), "the kernel executed a trap"};
}
/// Whether threads end at an instruction.
bool ends_kernel(const Function& f, std::uint32_t at) {
  if (!f.entry || at >= f.code.size()) return false;
  const Instruction& in = f.code[at];
  return in.guard == kNone && (in.op == Op::ret || in.op == Op::exit);
}

void unsupported(Warp& w, const Inst& i) {
  const Function& f = *w.frame().code->function;
  throw Fault{ExecutionError::Kind::unsupported, static_cast<unsigned>(std::countr_zero(w.active)),
              "instruction " + f.spelling(f.code[i.index]) +
                  " is not supported: it cannot be executed here (docs/recording.md says what can)"};
}

}  // namespace

void split_off(Warp& w, std::uint32_t lanes) {
  Cta& cta = *w.cta;
  flush_events(w);
  w.whole = false;
  auto other = std::make_unique<Warp>(w);
  const auto keep = [](Warp& part, std::uint32_t mask) {
    part.cluster_lanes &= mask;
    for (Path& p : part.paths) p.mask &= mask;
    for (Frame& f : part.frames) f.mask &= mask;
    part.mask &= mask, part.alive &= mask, part.active &= mask;
  };
  keep(w, lanes), keep(*other, ~lanes);
  other->bank[kRegisters] = other->registers.data() + other->frame().first_register;
  other->bank[kSpecials] = other->specials.data();
  other->slot = static_cast<std::uint32_t>(cta.warps.size());
  other->executed = other->thread_executed = 0;
  other->missed = other->repeated_polls = 0;
  other->stuck = 0;
  Warp& placed = *other;
  cta.warps.push_back(std::move(other));
  if (placed.mask == 0) pop_path(placed);
}

bool decode_control(Decoder& d) {
  const Instruction& in = *d.in;
  Inst& out = *d.out;
  out.target = in.target, out.reconverge = in.reconverge;
  switch (in.op) {
    case Op::bra:
      out.run = ends_kernel(d.function(), in.target) ? &branch_to_end : &branch;
      return true;
    case Op::brx:
      out.run = &branch_indexed, out.extra = in.table;
      d.take(0, Type::u32);
      return true;
    case Op::ret:
      out.run = &ret;
      return true;
    case Op::exit:
      out.run = &exit;
      return true;
    case Op::trap:
      out.run = &trap;
      return true;
    case Op::brkpt:
      out.run = &nothing;
      return true;
    case Op::unsupported:
      out.run = &unsupported;
      return true;
    default:
      return false;
  }
}

}  // namespace atl::ptx::exec
