#include "inputs/ptx/exec_outside.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "inputs/ptx/exec_memory.hpp"
#include "inputs/ptx/out_of_bounds.hpp"

namespace atl::ptx::exec {
namespace {

constexpr std::uint64_t kFar = std::uint64_t{1} << 30;   // from an allocation: an index a little wrong does not get there
constexpr std::uint64_t kNull = std::uint64_t{1} << 34;  // what indices of 32 bits get to from a null pointer

/// The freed allocation that an address lies in; none if its memory went to a live one in front of the address, which is
/// then more likely meant.
const Allocation* freed_at(const Warp& w, std::uint64_t address) {
  const DeviceMemory& memory = w.launch->device->memory;
  const Allocation *freed = memory.freed(address), *near = memory.nearest(address);
  if (freed == nullptr || near == nullptr) return freed;
  constexpr std::uint64_t kNear = 64 << 10;
  const bool reused =
      near->address >= freed->address && near->address <= address && address < near->address + near->size + kNear;
  return reused ? nullptr : freed;
}

/// Where an address lies that is in no allocation.
std::string whereabouts(Warp& w, std::uint64_t address) {
  std::string nearby = "the program has no allocation";
  if (const Allocation* freed = freed_at(w, address); freed != nullptr && address != 0) {
    nearby =
        fmt::format("it lies in {} ({} bytes at {:#x}), which has been freed", freed->name, freed->size, freed->address);
  } else if (const Allocation* near = w.launch->device->memory.nearest(address)) {
    const std::uint64_t end = near->address + near->size;
    const bool behind = address >= near->address;
    const std::string distance = !behind         ? fmt::format("{} bytes before", near->address - address)
                                 : address > end ? fmt::format("{} bytes behind", address - end)
                                                 : "right behind";
    nearby = fmt::format("{} {} ({} bytes at {:#x})", distance, near->name.empty() ? "the nearest allocation" : near->name,
                         near->size, near->address);
    if (behind && address < end)
      nearby = fmt::format("it crosses the end of {} ({} bytes at {:#x})", near->name, near->size, near->address);
    if ((behind ? address - std::min(address, end) : near->address - address) > kFar)
      nearby = address < kNull ? "no allocation is near; it is as from a null pointer"
                               : "no allocation is near; is an index wrong, or is it a pointer to host memory?";
  }
  return nearby;
}

constexpr std::uint64_t kMappedBeyond = std::uint64_t{2} << 20;  // a GPU maps memory in pieces of such a size

bool lies_near(const Warp& w, std::uint64_t address) {
  const Allocation* a = w.launch->device->memory.nearest(address);
  return a != nullptr && address + kMappedBeyond >= a->address && address < a->address + a->size + kMappedBeyond;
}

}  // namespace

void illegal(Warp& w, unsigned lane, std::uint64_t address, std::uint64_t bytes) {
  const bool near = freed_at(w, address) == nullptr && lies_near(w, address);
  throw Fault{ExecutionError::Kind::illegal_address, lane,
              fmt::format("access of {} bytes at {:#x} out of bounds: {}{}", bytes, address, whereabouts(w, address),
                          near ? "; most GPUs survive that, and so does --tolerate-oob" : "")};
}

void foreign(Warp& w, unsigned lane, std::uint64_t address, const Allocation& a) {
  throw Fault{ExecutionError::Kind::illegal_address, lane,
              fmt::format("device {} accesses {:#x} in {} of device {}, to which it has no peer access; the program must "
                          "call cudaDeviceEnablePeerAccess({}) for device {}",
                          w.launch->spec->device, address, a.name, a.device, a.device, w.launch->spec->device)};
}

bool tolerates(const Warp& w, std::uint64_t address) { return w.launch->spec->outside != nullptr && lies_near(w, address); }

void note_outside(Warp& w, const std::uint64_t* address, std::uint32_t outside, unsigned bytes, std::uint64_t window) {
  const Inst& i = w.code[w.pc - 1];
  const Instruction& in = w.frame().code->function->code[i.index];
  OutOfBounds::Site site;
  const Module& module = *w.launch->spec->module;
  site.kernel = module.functions[w.launch->spec->kernel].name, site.place = module.lines.place(in.line), site.line = in.line;
  site.bytes = bytes, site.cta = w.cta->number;
  site.writes = in.op == Op::st || in.op == Op::red || in.op == Op::atom || in.op == Op::stmatrix || in.op == Op::sust ||
                (in.op == Op::wmma && in.mode == Mode::store_d);
  site.count = static_cast<std::uint64_t>(std::popcount(outside));
  const auto first = static_cast<unsigned>(std::countr_zero(outside));
  site.thread = w.number * kLanes + first;
  const bool shared = in_shared(address[first] | window);
  site.address = shared ? address[first] & ~kWindowMask : address[first];
  site.where =
      shared ? fmt::format("of shared memory, which has {}", w.launch->shared_bytes) : whereabouts(w, address[first]);
  w.launch->spec->outside->note(site);
}

std::uint64_t nearest_inside(const Warp& w, std::uint64_t address, unsigned bytes) {
  const Allocation& a = *w.launch->device->memory.nearest(address);
  const std::uint64_t last = a.size < bytes ? 0 : (a.size - bytes) / bytes * bytes;
  return a.address + (address < a.address ? 0 : last);
}

}  // namespace atl::ptx::exec
