#include "inputs/ptx/access_check.hpp"
#include "inputs/ptx/exec_memory.hpp"
#include "inputs/ptx/exec_outside.hpp"

/// Texels and elements of surfaces: lanes reach them one by one, and what stands for them in the trace is not always there.
namespace atl::ptx::exec {

std::byte* texel_at(Warp& w, unsigned lane, std::uint64_t address, unsigned bytes) {
  if (is_global(w, lane, address, bytes)) return reinterpret_cast<std::byte*>(address);
  std::uint64_t at[kLanes];
  at[lane] = address;
  note_outside(w, at, 1u << lane, bytes, 0);
  return nullptr;
}

void record_texel(Warp& w, unsigned lane, std::uint64_t address, unsigned bytes, bool accessed) {
  if (!accessed)
    address = kReadsNothing;
  else if (!is_global(w, lane, address, bytes))
    address = nearest_inside(w, address, bytes);
  else if (AccessCheck* const check = w.launch->spec->check; check != nullptr)
    check->access(w, lane, address, bytes);
  if (w.recorder != nullptr) w.addresses.push_back(address);
}

}  // namespace atl::ptx::exec
