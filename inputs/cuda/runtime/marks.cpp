#include "inputs/cuda/runtime/marks.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace atl::cudart {
namespace {

// Nothing is loaded or stored below: null, and the handles of textures and surfaces, which count from 1.
constexpr std::uint64_t kLowest = 1 << 16;

const ptx::KernelAccess& access_of(const Binary& binary, std::uint32_t kernel) {
  return *std::find_if(binary.accesses.begin(), binary.accesses.end(), [&](const auto& a) { return a.kernel == kernel; });
}

bool changed(const ptx::DataObject& o) { return o.kind == ptx::AccessKind::written || o.kind == ptx::AccessKind::atomic; }

}  // namespace

LaunchMarks::LaunchMarks(const Binary& binary, const ptx::LaunchSpec& spec, const ptx::DeviceMemory& memory)
    : module_(*binary.module), access_(access_of(binary, spec.kernel)) {
  for (const ptx::DataObject& o : access_.objects) {
    std::uint64_t address = 0;
    if (o.parameter && o.offset + sizeof address <= spec.params.size())
      std::memcpy(&address, spec.params.data() + o.offset, sizeof address);
    else if (!o.parameter)
      address = binary.variables[spec.device][o.index];
    const ptx::Allocation* found = memory.find(address);
    places_.push_back(found ? *found : ptx::Allocation{});
    astray_ |= !found && address >= kLowest && o.kind != ptx::AccessKind::unused;
  }
}

bool LaunchMarks::hold() const {
  if (astray_) return false;
  std::vector<std::uint64_t> allocation;
  for (const ptx::Allocation& place : places_) allocation.push_back(place.address);
  const std::vector<bool> holds = ptx::read_only_at_launch(access_, allocation);
  for (std::size_t i = 0; i < access_.loads.size(); ++i) {
    const ptx::GlobalLoad& l = access_.loads[i];
    const bool through_null =
        std::all_of(l.objects.begin(), l.objects.end(), [&](std::uint32_t o) { return places_[o].size == 0; });
    if (!holds[i] && !through_null && module_.functions[l.function].code[l.instruction].read_only) return false;
  }
  return true;
}

std::vector<ptx::ReadOnlyClaim> LaunchMarks::claims() const {
  std::vector<ptx::ReadOnlyClaim> claims;
  if (astray_ || !access_.unknown_writes.empty()) return claims;
  std::set<std::uint64_t> written;
  for (std::size_t o = 0; o < places_.size(); ++o)
    if (changed(access_.objects[o])) written.insert(places_[o].address);
  for (std::size_t o = 0; o < places_.size(); ++o) {
    const ptx::DataObject& object = access_.objects[o];
    const ptx::Allocation& place = places_[o];
    if (object.kind != ptx::AccessKind::read_only || place.size == 0 || written.count(place.address) != 0) continue;
    claims.push_back(
        {(object.parameter ? "parameter " : "variable ") + object.name, place.address, place.size, object.reads});
  }
  return claims;
}

}  // namespace atl::cudart
