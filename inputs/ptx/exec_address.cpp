#include <algorithm>

#include <fmt/format.h>

#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_address_layout.hpp"
#include "inputs/ptx/exec_memory.hpp"
#include "inputs/ptx/exec_outside.hpp"

namespace atl::ptx::exec {
namespace {

[[noreturn]] void outside(unsigned lane, const char* window, std::uint64_t offset, std::uint64_t bytes, std::uint64_t size,
                          const char* remedy = "") {
  throw Fault{ExecutionError::Kind::illegal_address, lane,
              fmt::format("access of {} bytes at offset {:#x} of {} memory, which has {} bytes{}", bytes, offset, window,
                          size, remedy)};
}

[[noreturn]] void absent(const Warp& w, unsigned lane, std::uint64_t offset) {
  const std::uint64_t rank = (offset >> kRankShift) - 1, ranks = w.cta->cluster->ctas.size();
  throw Fault{ExecutionError::Kind::illegal_address, lane,
              fmt::format("access at {:#x} of the shared memory of block {} of its cluster, which {}", offset & kOwnOffset,
                          rank, rank < ranks ? "has ended" : fmt::format("has {} blocks", ranks))};
}

/// `address`: generic, or in a window.
[[noreturn]] void misaligned(unsigned lane, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t window = address & kWindowMask, offset = address & ~kWindowMask;
  const std::string place = window == kSharedWindow  ? fmt::format("offset {:#x} of shared memory", offset)
                            : window == kLocalWindow ? fmt::format("offset {:#x} of local memory", offset)
                                                     : fmt::format("{:#x}", address);
  throw Fault{ExecutionError::Kind::misaligned, lane, fmt::format("access of {} bytes at {} is misaligned", bytes, place)};
}

std::uint64_t local_size(const Warp& w) { return w.local.size() / kLanes; }

// Where the memory of a launch itself stands in the trace: below local memory (record_cta.cpp). Its host addresses are not
// the same in two runs.
constexpr std::uint64_t kLaunchBase = (std::uint64_t{1} << 48) - (std::uint64_t{1} << 20), kBarrierBase = kLaunchBase - 4096;

/// Parameters that are read through their address, and the workspace of grid barriers.
void hide_host_addresses(const Launch& launch, std::uint64_t* address, std::size_t count) {
  const auto move = [](std::uint64_t& a, const Bytes& memory, std::uint64_t to) {
    const auto begin = reinterpret_cast<std::uint64_t>(memory.data());
    if (a - begin < memory.size()) a = to + (a - begin);
  };
  for (std::size_t n = 0; n < count; ++n) {
    move(address[n], launch.params, kLaunchBase);
    move(address[n], launch.grid_barrier, kBarrierBase);
  }
}

void trace_addresses(Warp& w, const std::uint64_t* address, std::uint64_t window) {
  if (w.recorder == nullptr) return;
  const std::size_t begin = w.addresses.size();
  if (w.active == kFullMask) {
    w.addresses.insert(w.addresses.end(), address, address + kLanes);
  } else {
    for_active(w.active, [&](unsigned l) { w.addresses.push_back(address[l]); });
  }
  if (window != 0)
    for (std::size_t at = begin; at < w.addresses.size(); ++at) w.addresses[at] |= window;
  else if (w.launch->own_memory)
    hide_host_addresses(*w.launch, w.addresses.data() + begin, w.addresses.size() - begin);
}

/// Apart from what is executed without a recorder: that is not to be slower for it.
[[gnu::noinline]] void trace_spread(Warp& w, const AddressLayout& at, std::uint64_t window) {
  if (w.active != kFullMask || at.spread == Spread::apart) return trace_addresses(w, at.address, window);
  w.events.back().spread = at.spread;
  w.addresses.push_back(at.address[0] | window);
  if (window == 0 && w.launch->own_memory) hide_host_addresses(*w.launch, &w.addresses.back(), 1);
}

/// Heard of by the check of accesses, and by the recorder.
void note_access(Warp& w, const AddressLayout& at, std::uint64_t window) {
  if (w.launch->spec->check != nullptr) w.launch->spec->check->access(w, at.address, window);
  if (w.recorder != nullptr) trace_spread(w, at, window);
}

void check_alignment(const Warp& w, const AddressLayout& at, std::uint64_t window = 0) {
  if ((at.bits & (at.bytes - 1)) == 0) return;
  for_active(w.active, [&](unsigned l) {
    if ((at.address[l] & (at.bytes - 1)) != 0) misaligned(l, at.address[l] | window, at.bytes);
  });
}

/// Lanes out of bounds, if these are tolerated there; else it throws. Leaves in `seen` where the others are.
[[gnu::noinline]] std::uint32_t look_up(Warp& w, const AddressLayout& at, Range& seen) {
  const std::uint64_t* const address = at.address;
  const unsigned bytes = at.bytes;
  std::uint32_t outside = 0;
  const auto& params = w.launch->params;
  const auto param_begin = reinterpret_cast<std::uint64_t>(params.data());
  const DeviceMemory& memory = w.launch->device->memory;
  bool all = false;  // that all lanes are in one allocation is seen at the first
  for_active(w.active, [&](unsigned l) {
    if (all || (address[l] >= seen.low && address[l] + bytes <= seen.high)) return;
    if (const Allocation* found = memory.find(address[l], bytes)) {
      if (found->device != kOfNoDevice && (w.launch->spec->visible >> found->device & 1) == 0)
        foreign(w, l, address[l], *found);
      seen = {found->address, found->address + found->size};
      all = at.within(seen);
      return;
    }
    if (address[l] >= param_begin && address[l] + bytes <= param_begin + params.size()) return;
    const auto& grid = w.launch->grid_barrier;
    const auto grid_begin = reinterpret_cast<std::uint64_t>(grid.data());
    if (address[l] >= grid_begin && address[l] + bytes <= grid_begin + grid.size()) return;
    if (!tolerates(w, address[l])) illegal(w, l, address[l], bytes);
    outside |= 1u << l;
  });
  return outside;
}

/// The same; most instructions access what they accessed last.
inline std::uint32_t check_global(Warp& w, const AddressLayout& at) {
  Range& seen = w.seen[w.pc % w.seen.size()];
  if (at.within(seen)) [[likely]]
    return 0;
  return look_up(w, at, seen);
}

/// Lanes of one access may lie in several memories. In the trace these are an access to each: to global memory, which
/// takes longest, last.
void record_windows(Warp& w, const std::uint64_t* address) {
  const std::uint32_t active = w.active;
  const auto in = [&](std::uint64_t window) {
    return active & lanes_where([=](unsigned l) { return (address[l] & kWindowMask) == window; });
  };
  const std::uint32_t shared = in(kSharedWindow), local = in(kLocalWindow);
  if (w.recorder == nullptr || shared == active || local == active) return record_addresses(w, address, 0);
  if (w.launch->spec->check != nullptr) w.launch->spec->check->access(w, address, 0);
  const std::uint32_t id = w.events.back().id;
  w.events.pop_back();
  for (const std::uint32_t lanes : {shared, local, active & ~(shared | local)}) {
    if (lanes == 0) continue;
    w.events.emplace_back(id, lanes);
    w.active = lanes;
    trace_addresses(w, address, 0);
  }
  w.active = active;
}

/// Lanes out of bounds go to zeroes that nobody reads again, and are in the trace at the end of the nearest allocation, or
/// at the begin of shared memory.
void redirect(Warp& w, std::uint64_t* address, std::uint32_t outside, unsigned bytes, std::uint64_t window) {
  note_outside(w, address, outside, bytes, window);
  const Inst& i = w.code[w.pc - 1];
  std::uint64_t traced[kLanes];
  std::copy(address, address + kLanes, traced);
  for_active(outside, [&](unsigned l) {
    traced[l] = in_shared(address[l] | window) ? kSharedWindow ^ window : nearest_inside(w, address[l], bytes);
  });
  const std::uint32_t active = w.active;
  if (w.launch->spec->check != nullptr && active != outside) {
    w.active = active & ~outside;
    w.launch->spec->check->access(w, traced, window);
    w.active = active;
  }
  if (i.traced != 0) trace_addresses(w, traced, window);
  w.cta->beyond = {};
  const auto nowhere = reinterpret_cast<std::uint64_t>(w.cta->beyond.data());
  for (unsigned l = 0; l < kLanes; ++l)
    if (((active & ~outside) >> l & 1) == 0) address[l] = nowhere + 64 * l;
}

}  // namespace

void offsets(Warp& w, Ref base, std::int64_t offset, bool narrow, std::uint64_t* out) {
  const auto add = static_cast<std::uint64_t>(offset);
  if (narrow) {
    const auto* a = w.at<std::uint32_t>(base);  // the sum wraps around as well
#pragma GCC ivdep
    for (unsigned l = 0; l < kLanes; ++l) out[l] = a[l] + static_cast<std::uint32_t>(add);
  } else {
    const auto* a = w.at<std::uint64_t>(base);
#pragma GCC ivdep
    for (unsigned l = 0; l < kLanes; ++l) out[l] = a[l] + add;
  }
  if (w.active == kFullMask) return;
  const std::uint32_t active = w.active;
  const std::uint64_t first = out[std::countr_zero(active)];
#pragma GCC ivdep
  for (unsigned l = 0; l < kLanes; ++l) out[l] = (active >> l & 1) != 0 ? out[l] : first;
}

void record_addresses(Warp& w, const std::uint64_t* address, std::uint64_t window) {
  if (w.launch->spec->check != nullptr) w.launch->spec->check->access(w, address, window);
  trace_addresses(w, address, window);
}

void record_bulk(Warp& w, const std::uint64_t* address, const std::uint64_t* bytes) {
  trace_addresses(w, address, 0);
  trace_addresses(w, bytes, 0);
}

void resolve_global(Warp& w, const Inst& i, unsigned bytes, Addresses& out) {
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, out.host);
  const AddressLayout at(out.host, bytes);
  check_alignment(w, at);
  if (const std::uint32_t outside = check_global(w, at); outside != 0) return redirect(w, out.host, outside, bytes, 0);
  if (i.traced != 0) note_access(w, at, 0);
  out.spread = at.spread;
  out.global = true;
}

namespace {

/// Whether lanes name the shared memory of CTAs of the cluster, and none that of one which is not in it: that is an address
/// far out of bounds.
bool names_cluster(const Warp& w, const std::uint64_t* address) {
  std::uint64_t most = 0;
  for_active(w.active, [&](unsigned l) { most = std::max(most, address[l] >> kRankShift); });
  return most != 0 && most <= w.cta->cluster->ctas.size();
}

/// A lane beyond the shared memory of its own CTA is to be borne with, or ends the program.
void beyond_shared(const Warp& w, unsigned lane, std::uint64_t offset, unsigned bytes) {
  if (w.launch->spec->outside == nullptr)
    outside(lane, "shared", offset, bytes, w.launch->shared_bytes, "; --tolerate-oob lets it pass");
}

/// Some lanes name the shared memory of another CTA.
void resolve_cluster(Warp& w, unsigned bytes, Addresses& out) {
  record_addresses(w, out.host, kSharedWindow);
  for_active(w.active, [&](unsigned l) {
    out.host[l] = reinterpret_cast<std::uint64_t>(translate(w, l, out.host[l] | kSharedWindow, bytes, bytes));
  });
  const std::uint64_t first = out.host[std::countr_zero(w.active)];
  for_active(~w.active, [&](unsigned l) { out.host[l] = first; });
}

}  // namespace

void resolve_shared(Warp& w, const Inst& i, unsigned bytes, Addresses& out) {
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, out.host);
  const AddressLayout at(out.host, bytes);
  check_alignment(w, at, kSharedWindow);
  const auto& shared = w.cta->shared;
  const std::uint64_t size = w.launch->shared_bytes;
  const auto begin = reinterpret_cast<std::uint64_t>(shared.data());
  if (!at.within({0, size})) {
    if (names_cluster(w, out.host)) return resolve_cluster(w, bytes, out);
    std::uint32_t beyond = 0;
    for_active(w.active, [&](unsigned l) {
      if (out.host[l] + bytes <= size && out.host[l] + bytes >= out.host[l]) return;
      beyond_shared(w, l, out.host[l], bytes);
      beyond |= 1u << l;
    });
    if (beyond != 0) {
      redirect(w, out.host, beyond, bytes, kSharedWindow);
      for_active(w.active & ~beyond, [&](unsigned l) { out.host[l] += begin; });
      return;
    }
  }
  note_access(w, at, kSharedWindow);
  out.spread = at.spread;
#pragma GCC ivdep
  for (unsigned l = 0; l < kLanes; ++l) out.host[l] += begin;
}

void resolve_given(Warp& w, const std::uint64_t* address, unsigned bytes, Addresses& out) {
  const AddressLayout at(address, bytes);
  check_alignment(w, at);
  if ((at.bits & kWindowMask) == 0) {
    std::copy(address, address + kLanes, out.host);
    if (const std::uint32_t outside = check_global(w, at); outside != 0) return redirect(w, out.host, outside, bytes, 0);
    record_addresses(w, address, 0);
    out.global = true;
    return;
  }
  std::uint32_t beyond = 0;
  const std::uint64_t size = w.launch->shared_bytes;
  for_active(w.active, [&](unsigned l) {
    const std::uint64_t offset = address[l] & ~kWindowMask;
    if (!in_shared(address[l]) || offset >> kRankShift != 0 || offset + bytes <= size) return;
    beyond_shared(w, l, offset, bytes);
    beyond |= 1u << l;
  });
  if (beyond != 0) {
    std::copy(address, address + kLanes, out.host);
    redirect(w, out.host, beyond, bytes, 0);
    for_active(w.active & ~beyond, [&](unsigned l) {
      out.host[l] = reinterpret_cast<std::uint64_t>(translate(w, l, address[l], bytes, bytes));
    });
    return;
  }
  for_active(w.active,
             [&](unsigned l) { out.host[l] = reinterpret_cast<std::uint64_t>(translate(w, l, address[l], bytes, bytes)); });
  record_windows(w, address);
  const std::uint64_t first = out.host[std::countr_zero(w.active)];
  for_active(~w.active, [&](unsigned l) { out.host[l] = first; });
}

void resolve_part(Warp& w, const std::uint64_t* address, unsigned bytes, unsigned alignment, Addresses& out) {
  std::fill(out.host, out.host + kLanes, address[std::countr_zero(w.active)]);
  for_active(w.active, [&](unsigned l) {
    out.host[l] = address[l];
    if ((address[l] & (alignment - 1)) != 0) misaligned(l, address[l], bytes);
  });
  if (const std::uint32_t outside = check_global(w, AddressLayout(out.host, bytes)); outside != 0)
    return redirect(w, out.host, outside, bytes, 0);
  if (AccessCheck* const check = w.launch->spec->check; check != nullptr)
    for_active(w.active, [&](unsigned l) { check->access(w, l, address[l], bytes); });
  trace_addresses(w, address, 0);
  out.global = true;
}

void resolve_generic(Warp& w, const Inst& i, unsigned bytes, Addresses& out) {
  std::uint64_t address[kLanes];
  offsets(w, i.src[0], i.value, (i.option & kNarrowBase) != 0, address);
  resolve_given(w, address, bytes, out);
}

bool is_global(Warp& w, unsigned lane, std::uint64_t address, unsigned bytes) {
  Range& seen = w.seen[w.pc % w.seen.size()];
  if (address >= seen.low && address + bytes <= seen.high) return true;
  std::uint64_t one[kLanes];
  std::fill(one, one + kLanes, address);
  const std::uint32_t active = w.active;
  w.active = 1u << lane;
  const std::uint32_t outside = look_up(w, AddressLayout(one, bytes), seen);
  w.active = active;
  return outside == 0;
}

std::byte* translate(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes, std::uint64_t alignment) {
  if ((address & (alignment - 1)) != 0) misaligned(lane, address, bytes);
  const std::uint64_t offset = address & ~kWindowMask;
  switch (address & kWindowMask) {
    case 0:
      if (!is_global(w, lane, address, static_cast<unsigned>(bytes))) illegal(w, lane, address, bytes);
      return reinterpret_cast<std::byte*>(address);
    case kSharedWindow: {
      Cta* const cta = shared_owner(w, offset);
      const std::uint64_t own = offset & kOwnOffset, size = w.launch->shared_bytes;
      if (cta == nullptr) absent(w, lane, offset);
      if (own + bytes > size) outside(lane, "shared", own, bytes, size);
      return cta->shared.data() + own;
    }
    case kLocalWindow:
      if (offset + bytes > local_size(w)) outside(lane, "local", offset, bytes, local_size(w));
      return w.local.data() + Warp::local_index(offset, lane);
    default:
      illegal(w, lane, address, bytes);
  }
}

std::string read_string(Warp& w, unsigned lane, std::uint64_t address) {
  std::string text;
  for (char c = 0;; text += c) {
    c = static_cast<char>(*translate(w, lane, address + text.size(), 1, 1));
    if (c == 0 || text.size() > 65536) return text;
  }
}

void take_address(Decoder& d, const Operand& operand, unsigned slot) {
  Operand base = operand;
  base.memory = false;
  if (operand.is(Operand::reg)) {
    const bool narrow = d.width(operand, 8) == 4;
    if (narrow) d.out->option |= kNarrowBase;
    base.value = 0;
    d.out->src[slot] = d.source(base, narrow ? Type::u32 : Type::u64);
    d.out->value = operand.value;
  } else {
    d.out->src[slot] = d.source(base, Type::u64);
    d.out->value = 0;
  }
}

}  // namespace atl::ptx::exec
