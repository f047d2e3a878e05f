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

LaunchMarks::LaunchMarks(const Binary& binary, const ptx::LaunchSpec& spec, const ptx::Device& device)
    : module_(*binary.module), access_(access_of(binary, spec.kernel)), device_(device) {
  for (const ptx::DataObject& o : access_.objects) {
    std::uint64_t address = 0;
    if (o.parameter && o.offset + sizeof address <= spec.params.size())
      std::memcpy(&address, spec.params.data() + o.offset, sizeof address);
    else if (!o.parameter)
      address = binary.variables[spec.device][o.index];
    const ptx::Allocation* found = device.memory.find(address);
    values_.push_back(address);
    places_.push_back(found ? *found : ptx::Allocation{});
    astray_ |= !found && address >= kLowest && o.kind != ptx::AccessKind::unused;
  }
}

template <class Counts> bool LaunchMarks::unwritten(Counts counts) const {
  if (astray_) return false;
  std::vector<std::uint64_t> allocation;
  for (const ptx::Allocation& place : places_) allocation.push_back(place.address);
  const std::vector<bool> holds = ptx::read_only_at_launch(access_, allocation);
  for (std::size_t i = 0; i < access_.loads.size(); ++i) {
    const ptx::GlobalLoad& l = access_.loads[i];
    const bool through_null =
        std::all_of(l.objects.begin(), l.objects.end(), [&](std::uint32_t o) { return places_[o].size == 0; });
    if (!holds[i] && !through_null && counts(module_.functions[l.function].code[l.instruction])) return false;
  }
  return true;
}

bool LaunchMarks::hold() const {
  return unwritten([](const ptx::Instruction& in) { return in.read_only; });
}

bool LaunchMarks::nc_holds() const {
  const auto counts = [](const ptx::Instruction& in) { return in.has(ptx::kNonCoherent); };
  const bool any = std::any_of(access_.loads.begin(), access_.loads.end(), [&](const ptx::GlobalLoad& l) {
    return counts(module_.functions[l.function].code[l.instruction]);
  });
  return !any || unwritten(counts);
}

bool LaunchMarks::textures_hold() const {
  if (access_.textures.empty()) return true;
  std::set<std::uint64_t> written;
  for (std::size_t o = 0; o < places_.size(); ++o) {
    if (!changed(access_.objects[o])) continue;
    const auto surface = device_.surfaces.find(values_[o]);
    const ptx::Allocation* array =
        surface == device_.surfaces.end() ? nullptr : device_.memory.find(surface->second.address);
    written.insert(array ? array->address : places_[o].address);
  }
  const auto holds = [&](const ptx::Texture& t) {
    const ptx::Allocation* place = device_.memory.find(t.address);
    const bool unknown = t.array ? access_.unknown_surfaces : astray_ || !access_.unknown_writes.empty();
    return !unknown && (!place || written.count(place->address) == 0);
  };
  const auto all_hold = [&](const ptx::GlobalLoad& l) {
    const auto named = [&](std::uint32_t o) { return device_.textures.count(values_[o]) != 0; };
    if (!l.known || !std::all_of(l.objects.begin(), l.objects.end(), named))
      return std::all_of(device_.textures.begin(), device_.textures.end(), [&](const auto& t) { return holds(t.second); });
    return std::all_of(l.objects.begin(), l.objects.end(),
                       [&](std::uint32_t o) { return holds(device_.textures.at(values_[o])); });
  };
  return std::all_of(access_.textures.begin(), access_.textures.end(), all_hold);
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
