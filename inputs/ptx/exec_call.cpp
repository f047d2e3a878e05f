#include "inputs/ptx/exec_decoder.hpp"

/// Calls: a frame of registers and local memory per call, so that functions may recurse.
namespace atl::ptx::exec {
namespace {

constexpr std::size_t kDeepest = 8192;  // frames

std::uint64_t read_local(const Warp& w, std::uint64_t offset, unsigned lane, unsigned bytes) {
  std::uint64_t v = 0;
  std::memcpy(&v, w.local.data() + Warp::local_index(offset, lane), bytes);
  return v;
}
void write_local(Warp& w, std::uint64_t offset, unsigned lane, std::uint64_t value, unsigned bytes) {
  std::memcpy(w.local.data() + Warp::local_index(offset, lane), &value, bytes);
}

std::byte* registers(Warp& w, const Frame& frame, Ref ref, unsigned lane, unsigned bytes) {
  std::byte* base = ref >> 30 == kRegisters ? w.registers.data() + frame.first_register : w.bank[ref >> 30];
  return base + (ref & kOffsetMask) + std::size_t{lane} * bytes;
}

/// Values of any size, 8 bytes at a time at most; offsets are aligned like their values.
void copy(Warp& w, std::uint32_t lanes, const Frame& from, const CallArgument& a, const Frame& to, const CallArgument& b) {
  if (!a.in_memory || !b.in_memory) {
    for_active(lanes, [&](unsigned l) { write_argument(w, to, b, l, read_argument(w, from, a, l)); });
    return;
  }
  const std::uint64_t source = from.first_local + from.code->param_base + a.offset;
  const std::uint64_t target = to.first_local + to.code->param_base + b.offset;
  const std::uint32_t size = std::min(a.size, b.size);
  for_active(lanes, [&](unsigned l) {
    for (std::uint32_t at = 0; at < size;) {
      // No piece crosses a granule of local memory on either side.
      const auto room = 16 - std::max((source + at) % 16, (target + at) % 16);
      const auto piece = static_cast<unsigned>(std::min<std::uint64_t>({8, size - at, room}));
      write_local(w, target + at, l, read_local(w, source + at, l, piece), piece);
      at += piece;
    }
  });
}

CallArgument place_of(const Formal& f) { return {f.ref, !f.in_register, f.offset, f.size}; }

void push_frame(Warp& w, const Code& code, const CallSite* site, std::uint32_t lanes) {
  Frame frame;
  frame.code = &code, frame.site = site, frame.mask = lanes;
  std::uint32_t local = 0;
  if (!w.frames.empty()) {
    const Frame& below = w.frame();
    frame.first_register = below.first_register + below.code->register_bytes;
    local = below.first_local + below.code->frame_bytes;
  }
  const std::uint32_t align = std::max<std::uint32_t>(16, code.function->local_align);
  frame.first_local = (local + align - 1) / align * align;
  frame.first_path = static_cast<std::uint32_t>(w.paths.size());
  if (w.registers.size() < std::size_t{frame.first_register} + code.register_bytes)
    w.registers.resize(std::size_t{frame.first_register} + code.register_bytes);
  for (const RegisterPiece& piece : code.unset)
    std::memset(w.registers.data() + frame.first_register + piece.first, 0, piece.bytes);
  const std::size_t bytes = (std::size_t{frame.first_local} + code.frame_bytes + 15) / 16 * 16 * kLanes;
  if (w.local.size() < bytes) w.local.resize(bytes);
  w.frames.push_back(frame);
  w.bank[kRegisters] = w.registers.data() + frame.first_register;
  w.code = code.code.data();
  for (const FrameAddress& a : code.addresses) {
    const std::uint64_t value = frame.first_local + a.offset;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (a.bytes == 8)
        w.at<std::uint64_t>(a.ref)[l] = value;
      else
        w.at<std::uint32_t>(a.ref)[l] = static_cast<std::uint32_t>(value);
    }
  }
}

void enter(Warp& w, const CallSite& site, std::uint32_t callee) {
  const Code& code = w.launch->image->functions[callee];
  if (!code.function->defined) {
    call_external(w, *code.function, site);
    return;
  }
  const auto lane = static_cast<unsigned>(std::countr_zero(w.active));
  if (w.frames.size() >= kDeepest)
    throw Fault{ExecutionError::Kind::illegal_address, lane, "stack overflow: too many nested calls"};
  if (code.params.size() != site.arguments.size())
    throw Fault{ExecutionError::Kind::unsupported, lane,
                "a call of " + code.function->name + " passes other parameters than it has"};
  w.paths.push_back({w.pc, w.reconverge, w.mask});
  push_frame(w, code, &site, w.active);
  const Frame caller = w.frames[w.frames.size() - 2], callee_frame = w.frame();
  for (std::size_t n = 0; n < code.params.size(); ++n)
    copy(w, w.active, caller, site.arguments[n], callee_frame, place_of(code.params[n]));
  w.pc = 0, w.reconverge = kNone, w.mask = w.active;
}

void call(Warp& w, const Inst& i) {
  const CallSite& site = w.frame().code->calls[i.extra];
  if (site.callee != kNone) {
    enter(w, site, site.callee);
    return;
  }
  const auto* through = w.at<std::uint64_t>(site.through);
  const auto first = static_cast<unsigned>(std::countr_zero(w.active));
  const std::uint64_t target = through[first];
  const std::uint64_t index = (target & ~kWindowMask) >> kCodeShift;
  if ((target & kWindowMask) != kCodeWindow || index >= w.launch->image->functions.size())
    throw Fault{ExecutionError::Kind::illegal_address, first, "a call through a pointer that is no function"};
  const std::uint32_t same = w.active & lanes_where([=](unsigned l) { return through[l] == target; });
  if (same != w.active) {
    // The lanes with other targets execute this instruction again; all meet behind it. Lanes that the guard turned off
    // do so, too, and skip it once more.
    const std::uint32_t next = w.pc, others = w.mask & ~same;
    w.paths.push_back({next, w.reconverge, w.mask});
    w.paths.push_back({i.index, next, others});
    w.reconverge = next, w.mask = w.active = same;
  }
  enter(w, site, static_cast<std::uint32_t>(index));
}

void leave_frame(Warp& w) {
  const Frame done = w.frame();
  w.frames.pop_back();
  const Frame& caller = w.frame();
  w.bank[kRegisters] = w.registers.data() + caller.first_register;
  w.code = caller.code->code.data();
  const std::uint32_t lanes = done.mask & w.alive;
  for (std::size_t n = 0; n < done.site->results.size() && n < done.code->results.size(); ++n)
    copy(w, lanes, done, place_of(done.code->results[n]), caller, done.site->results[n]);
}

}  // namespace

std::uint64_t read_argument(Warp& w, const Frame& frame, const CallArgument& from, unsigned lane) {
  const unsigned bytes = std::min<unsigned>(from.size, 8);
  if (from.in_memory) return read_local(w, frame.first_local + frame.code->param_base + from.offset, lane, bytes);
  std::uint64_t v = 0;
  std::memcpy(&v, registers(w, frame, from.ref, lane, bytes), bytes);
  return v;
}
void write_argument(Warp& w, const Frame& frame, const CallArgument& to, unsigned lane, std::uint64_t value) {
  const unsigned bytes = std::min<unsigned>(to.size, 8);
  if (to.in_memory)
    write_local(w, frame.first_local + frame.code->param_base + to.offset, lane, value, bytes);
  else
    std::memcpy(registers(w, frame, to.ref, lane, bytes), &value, bytes);
}

void start_warp(Warp& w, std::uint32_t lanes) {
  w.paths.clear(), w.frames.clear();
  w.local.clear();  // 0 for each CTA: what is in it must not depend on who ran before on which thread
  w.mask = w.alive = lanes;
  w.pc = 0, w.reconverge = kNone, w.carry = 0;
  w.state = WarpState::ready;
  w.whole = true;
  w.stuck = 0;
  push_frame(w, w.launch->image->functions[w.launch->image->kernel], nullptr, lanes);
}

void pop_path(Warp& w) {
  for (;;) {
    while (w.paths.size() > w.frame().first_path) {
      const Path path = w.paths.back();
      w.paths.pop_back();
      if (path.mask == 0) continue;
      w.pc = path.pc, w.reconverge = path.reconverge, w.mask = path.mask;
      return;
    }
    if (w.frames.size() == 1) {
      w.mask = 0;
      w.state = WarpState::done;
      w.budget = 0;
      return;
    }
    leave_frame(w);
    const Path path = w.paths.back();
    w.paths.pop_back();
    if (path.mask == 0) continue;
    w.pc = path.pc, w.reconverge = path.reconverge, w.mask = path.mask;
    return;
  }
}

bool decode_call(Decoder& d) {
  if (d.in->op != Op::call) return false;
  d.out->run = &call;
  d.out->extra = d.in->table;
  return true;
}

}  // namespace atl::ptx::exec
