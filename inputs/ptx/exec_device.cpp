#include "inputs/ptx/exec_device.hpp"

#include <algorithm>
#include <cstring>

#include "inputs/ptx/exec_code.hpp"
#include "inputs/ptx/exec_cta_pool.hpp"

namespace atl::ptx {

void DeviceMemory::add(Allocation allocation) {
  const std::uint64_t address = allocation.address;
  by_address_[address] = std::move(allocation);
  ++changes_;
}

bool DeviceMemory::remove(std::uint64_t address) {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return false;
  freed_.push_front(std::move(found->second));
  if (freed_.size() > kRemembered) freed_.pop_back();
  by_address_.erase(found);
  ++changes_;
  return true;
}

const Allocation* DeviceMemory::freed(std::uint64_t address) const {
  const auto found =
      std::find_if(freed_.begin(), freed_.end(), [=](const Allocation& a) { return address - a.address < a.size; });
  return found == freed_.end() ? nullptr : &*found;
}

const Allocation* DeviceMemory::find(std::uint64_t address, std::uint64_t size) const {
  auto after = by_address_.upper_bound(address);
  if (after == by_address_.begin()) return nullptr;
  const Allocation& a = std::prev(after)->second;
  const std::uint64_t offset = address - a.address;
  return offset <= a.size && size <= a.size - offset ? &a : nullptr;
}

const Allocation* DeviceMemory::nearest(std::uint64_t address) const {
  const auto after = by_address_.upper_bound(address);
  if (after == by_address_.begin()) return after == by_address_.end() ? nullptr : &after->second;
  const Allocation& before = std::prev(after)->second;
  if (after == by_address_.end() || address < before.address + before.size) return &before;
  return address - (before.address + before.size) <= after->second.address - address ? &before : &after->second;
}

struct Device::Loaded {
  std::vector<std::uint64_t> addresses;
  std::vector<std::unique_ptr<std::byte[]>> owned;
  std::vector<std::uint64_t> allocations;  ///< of `owned`
  std::unordered_map<std::uint32_t, std::unique_ptr<exec::Image>> images;
};

Device::Device() : ctas_(std::make_unique<exec::CtaPool>()) {}
Device::~Device() = default;

void Device::load(const Module& module, std::vector<std::uint64_t> addresses, unsigned gpu) {
  addresses.resize(module.variables.size());
  note_constants(module, addresses);
  auto loaded = std::make_unique<Loaded>();
  loaded->addresses = std::move(addresses);
  modules_[{&module, gpu}] = std::move(loaded);
}

void Device::load(const Module& module) {
  constexpr std::uint64_t kAlign = 256;
  std::vector<std::uint64_t> addresses(module.variables.size());
  auto loaded = std::make_unique<Loaded>();
  for (std::size_t v = 0; v < module.variables.size(); ++v) {
    const Variable& variable = module.variables[v];
    if (variable.space == Space::shared) continue;
    loaded->owned.push_back(std::make_unique<std::byte[]>(variable.size + 2 * kAlign));
    const auto base = reinterpret_cast<std::uint64_t>(loaded->owned.back().get());
    addresses[v] = (base + kAlign - 1) / kAlign * kAlign;
    loaded->allocations.push_back(addresses[v]);
    memory.add({addresses[v], variable.size, "variable " + variable.name});
  }
  for (std::size_t v = 0; v < module.variables.size(); ++v) {
    if (addresses[v] == 0) continue;
    const std::vector<std::uint8_t> bytes = initial_bytes(module, module.variables[v], addresses);
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(addresses[v]));
  }
  note_constants(module, addresses);
  loaded->addresses = std::move(addresses);
  modules_[{&module, 0}] = std::move(loaded);
}

void Device::note_constants(const Module& module, const std::vector<std::uint64_t>& addresses) {
  for (std::size_t v = 0; v < module.variables.size(); ++v)
    if (module.variables[v].space == Space::constant && addresses[v] != 0)
      constants_[addresses[v]] = module.variables[v].size;
}

bool Device::constant(std::uint64_t address) const {
  const auto after = constants_.upper_bound(address);
  return after != constants_.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

void Device::unload(const Module& module) {
  for (auto found = modules_.lower_bound({&module, 0}); found != modules_.end() && found->first.first == &module;) {
    for (const std::uint64_t address : found->second->allocations) memory.remove(address);
    for (const std::uint64_t address : found->second->addresses) constants_.erase(address);
    found = modules_.erase(found);
  }
}

const std::vector<std::uint64_t>& Device::variables(const Module& module, unsigned gpu) const {
  return modules_.at({&module, gpu})->addresses;
}

const exec::Image& Device::image(const Module& module, std::uint32_t kernel, unsigned gpu) {
  Loaded& loaded = *modules_.at({&module, gpu});
  std::unique_ptr<exec::Image>& image = loaded.images[kernel];
  if (image == nullptr) image = exec::decode(module, kernel, loaded.addresses);
  return *image;
}

std::uint64_t Device::default_allocate(std::uint64_t size) {
  auto block = std::make_unique<std::byte[]>(size + 16);
  const auto address = (reinterpret_cast<std::uint64_t>(block.get()) + 15) / 16 * 16;
  memory.add({address, size, "malloc of a kernel"});
  heap_[address] = std::move(block);
  return address;
}

void Device::default_release(std::uint64_t address) {
  memory.remove(address);
  heap_.erase(address);
}

std::vector<std::uint8_t> initial_bytes(const Module& module, const Variable& variable,
                                        const std::vector<std::uint64_t>& addresses) {
  std::vector<std::uint8_t> bytes = variable.init;
  if (bytes.size() > variable.size) bytes.resize(variable.size);
  for (const Relocation& r : variable.relocations) {
    std::uint64_t value = exec::kCodeWindow | std::uint64_t{r.index} << exec::kCodeShift;
    if (!r.function) {
      value = addresses[r.index] + static_cast<std::uint64_t>(r.addend);
      if (r.generic && module.variables[r.index].space == Space::shared) value |= exec::kSharedWindow;
    }
    const std::uint64_t end = std::uint64_t{r.offset} + r.size;
    if (end > variable.size || r.size > sizeof value) continue;
    if (end > bytes.size()) bytes.resize(end);
    std::memcpy(&bytes[r.offset], &value, r.size);
  }
  return bytes;
}

}  // namespace atl::ptx
