#include "inputs/cuda/runtime/device_code.hpp"

#include <errno.h>
#include <stdexcept>

#include <algorithm>
#include <cstring>

#include "core/engine/error.hpp"
#include "inputs/cuda/runtime/recording.hpp"
#include "inputs/ptx/parser.hpp"
#include "inputs/ptx/source_name.hpp"

namespace atl::cudart {
namespace {

constexpr std::uint64_t kContainerHeader = 16;

/// A container in memory says itself how long it is.
cuda::Bytes container_at(const std::uint8_t* at, const std::string& where) {
  std::uint64_t body = 0;
  std::memcpy(&body, at + 8, sizeof body);
  const cuda::Bytes whole(at, kContainerHeader + body);
  return whole.first(cuda::container_size(whole, where));
}

struct Target {
  unsigned arch = 0;
  cuda::FatbinEntry::Only only = cuda::FatbinEntry::Only::none;
};

/// PTX that the device cannot compile.
[[noreturn]] void refuse_target(const std::string& where, const Target& target, const cuda::DeviceModel& model) {
  using Only = cuda::FatbinEntry::Only;
  const char* const suffix = target.only == Only::arch ? "a" : target.only == Only::family ? "f" : "";
  const std::string number = std::to_string(std::max(model.arch, 75u));
  const bool other = target.arch <= cuda::DeviceModel::kNewestArch;
  throw NoKernelImage(where, "the kernels are there only as PTX for compute_" + std::to_string(target.arch) + suffix +
                                 ", which a GPU of compute capability " + std::to_string(model.major()) + "." +
                                 std::to_string(model.minor()) + " cannot run; rebuild with nvcc -gencode arch=compute_" +
                                 number + ",code=compute_" + number +
                                 (other ? ", or record for another GPU (--device)" : ""));
}

/// PTX given as text may be for any target.
void check_target(const ptx::Module& m, const std::string& name, const cuda::DeviceModel& model) {
  using Only = cuda::FatbinEntry::Only;
  const Only only = m.target_suffix == 'a' ? Only::arch : m.target_suffix == 'f' ? Only::family : Only::none;
  if (!cuda::fits(m.target, only, model.arch)) refuse_target(name, {m.target, only}, model);
}

/// NVIDIA's library of device-side launches, which lies beside relocatable objects; the executor has its functions.
bool launches_of_kernels(const std::string& ptx) { return ptx.find("_cuda_device_runtime_cu_") != std::string::npos; }

bool needs_memory(const ptx::Variable& v) { return v.space != ptx::Space::shared && v.size > 0 && !v.external; }

}  // namespace

DeviceCode::DeviceCode(const cuda::DeviceModel& model, cuda::DeviceArena& arena, Recording& recording)
    : model_(model), arena_(arena), recording_(recording) {
  // malloc in kernels: from the arena too, because a heap of the process would give other addresses in every run.
  device_.allocate = [this](std::uint64_t size) {
    return allocate(size, cuda::MemoryKind::device, "malloc in a kernel", InStream::now().device);
  };
  device_.release = [this](std::uint64_t address) { release(address); };
}

Binary* DeviceCode::add_binary(const cuda::FatbinWrapper& wrapper) {
  auto binary = std::make_unique<Binary>();
  binary->name = std::string(program_invocation_short_name) + "." + std::to_string(made_++) + ".ptx";
  if (wrapper.magic == cuda::kWrapperMagic) {
    if (wrapper.container) binary->containers.push_back(wrapper.container);
    for (auto more = wrapper.version >= 2 ? wrapper.more : nullptr; more && *more; ++more)
      binary->containers.push_back(*more);
  }
  binaries_.push_back(std::move(binary));
  return binaries_.back().get();
}

Binary* DeviceCode::add_texts(std::vector<std::string> ptx) {
  Binary* binary = add_binary({});
  binary->texts = std::move(ptx);
  return binary;
}

Kernel* DeviceCode::add_kernel(Binary& binary, const void* host, const std::string& name) {
  Kernel* made = binary.kernels.emplace_back(std::make_unique<Kernel>()).get();
  made->binary = &binary, made->name = name, made->host = host;
  handles_[made] = made;
  kernels_[host ? host : made] = made;
  return made;
}

void DeviceCode::add_symbol(Binary& binary, const void* host, const std::string& name, std::uint64_t size, void** shadow) {
  Symbol* made = binary.symbols.emplace_back(std::make_unique<Symbol>()).get();
  made->binary = &binary, made->name = name, made->size = size, made->shadow = shadow;
  symbols_[host] = made;
}

void DeviceCode::remove(Binary* binary) {
  const auto found = std::find_if(binaries_.begin(), binaries_.end(), [&](const auto& b) { return b.get() == binary; });
  if (found == binaries_.end()) return;
  std::erase_if(handles_, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(kernels_, [&](const auto& entry) { return entry.second->binary == binary; });
  std::erase_if(symbols_, [&](const auto& entry) { return entry.second->binary == binary; });
  // The module and its variables stay: at the end of the program other destructors may still read managed memory.
  binary->kernels.clear(), binary->symbols.clear();
}

void DeviceCode::unload(Binary* binary) {
  remove(binary);
  if (binary->module) {
    device_.unload(*binary->module);
    for (const auto& of_device : binary->variables)
      for (const std::uint64_t address : of_device)
        if (address != 0) release(address);
  }
  std::erase_if(binaries_, [&](const auto& b) { return b.get() == binary; });
}

Binary& DeviceCode::binary_of(const ptx::Module& module) const {
  for (const auto& binary : binaries_)
    if (binary->module.get() == &module) return *binary;
  throw std::logic_error("a module of no binary");
}

Binary* DeviceCode::loaded_binary(const void* handle) const {
  for (const auto& binary : binaries_)
    if (binary.get() == handle && binary->module) return binary.get();
  return nullptr;
}

bool DeviceCode::knows(const Binary* binary) const {
  return std::any_of(binaries_.begin(), binaries_.end(), [&](const auto& b) { return b.get() == binary; });
}

Kernel* DeviceCode::find_kernel(const void* key) {
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  const auto handle = handles_.find(key);
  return handle == handles_.end() ? nullptr : handle->second;
}

Symbol* DeviceCode::find_symbol(const void* host) {
  const auto found = symbols_.find(host);
  return found == symbols_.end() ? nullptr : found->second;
}

bool DeviceCode::has_variable(std::string_view name) const {
  return std::ranges::any_of(symbols_,
                             [&](const auto& entry) { return ptx::source_name_of_variable(entry.second->name) == name; });
}

const ptx::Function& DeviceCode::function(Kernel& kernel, unsigned device) {
  load(*kernel.binary, device);
  const ptx::Module& module = *kernel.binary->module;
  if (kernel.function == ptx::kNone) kernel.function = module.find_function(kernel.name);
  if (kernel.function == ptx::kNone) throw InputError(kernel.binary->name, "has no kernel " + kernel.name);
  return module.functions[kernel.function];
}

std::uint64_t DeviceCode::address(Symbol& symbol, unsigned device) {
  load(*symbol.binary, device);
  return symbol.addresses[device];
}

std::unique_ptr<ptx::Module> DeviceCode::parse(const Binary& binary) const {
  std::vector<ptx::Module> modules;
  const bool several = std::max(binary.texts.size(), binary.containers.size()) > 1;
  const auto name_of_next = [&] {
    std::string name = binary.name;
    if (several) name.insert(name.size() - 4, "." + std::to_string(modules.size()));
    return name;
  };
  const auto add = [&](const std::string& text, const std::string& name) {
    recording_.keep_ptx(name, text);
    modules.push_back(ptx::parse(text, name, ptx::Unsupported::keep));
  };
  for (const std::string& text : binary.texts) {
    const std::string name = name_of_next();
    add(text, name);
    check_target(modules.back(), name, model_);
  }
  bool other_code = false;
  unsigned arch = 75;
  std::optional<Target> unfit;  // that the device cannot run
  for (const std::uint8_t* at : binary.containers) {
    const auto entries = cuda::list_entries(container_at(at, binary.name), binary.name);
    const cuda::FatbinEntry* chosen = cuda::choose_ptx(entries, model_.arch);
    const auto ptx = std::find_if(entries.begin(), entries.end(),
                                  [](const cuda::FatbinEntry& e) { return e.kind == cuda::FatbinEntry::Kind::ptx; });
    if (!chosen && several && ptx != entries.end() && launches_of_kernels(cuda::ptx_text(*ptx, binary.name))) continue;
    if (!chosen) chosen = cuda::ptx_beside_machine_code(entries, model_.arch);
    if (!chosen) {
      if (ptx != entries.end()) unfit = Target{ptx->arch, ptx->only};
      other_code = other_code || (!entries.empty() && ptx == entries.end());
      if (!entries.empty()) arch = entries.front().arch;
      continue;
    }
    const std::string name = name_of_next();
    add(cuda::ptx_text(*chosen, name), name);
  }
  // Beside relocatable objects lies what nvcc linked of them, as machine code.
  if (modules.empty() && (!other_code || several) && unfit) refuse_target(binary.name, *unfit, model_);
  if (modules.empty()) {
    const std::string number = std::to_string(std::clamp(arch, 75u, std::max(model_.arch, 75u)));
    throw InputError(binary.name,
                     std::string(other_code ? "the kernels are there only as machine code" : "holds no kernels") +
                         ", without PTX; rebuild with nvcc -gencode arch=compute_" + number + ",code=compute_" + number);
  }
  if (modules.size() == 1) return std::make_unique<ptx::Module>(std::move(modules.front()));
  return std::make_unique<ptx::Module>(ptx::link(std::move(modules)));
}

void DeviceCode::load(Binary& binary, unsigned device) {
  if (binary.module && device_.loaded(*binary.module, device)) return;
  std::unique_ptr<ptx::Module> parsed = binary.module ? nullptr : parse(binary);
  const ptx::Module& module = parsed ? *parsed : *binary.module;
  if (parsed) binary.variables.assign(arena_.devices(), {});
  place_variables(binary, module, device);
  if (parsed) binary.accesses = ptx::analyse(*parsed);  // marks the loads of what a kernel never writes
  device_.load(module, binary.variables[device], device);
  if (parsed) binary.module = std::move(parsed);
}

void DeviceCode::place_variables(Binary& binary, const ptx::Module& module, unsigned device) {
  std::vector<std::uint64_t>& at = binary.variables[device];
  at.assign(module.variables.size(), 0);
  const auto other =
      std::find_if(binary.variables.begin(), binary.variables.end(), [&](const auto& v) { return &v != &at && !v.empty(); });
  const auto shared = [&](std::size_t i) { return module.variables[i].managed && other != binary.variables.end(); };
  for (std::size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& v = module.variables[i];
    if (!needs_memory(v)) continue;
    const auto kind = v.managed ? cuda::MemoryKind::managed : cuda::MemoryKind::device;
    const std::string name = ptx::source_name_of_variable(v.name);
    at[i] = shared(i) ? (*other)[i] : allocate(v.size, kind, name, device);
    if (at[i] == 0) throw InputError(binary.name, "variable " + name + " does not fit into device memory");
  }
  // Only when all have an address: an initialiser may hold that of a later variable.
  for (std::size_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& v = module.variables[i];
    if (!needs_memory(v) || shared(i)) continue;
    const auto bytes = ptx::initial_bytes(module, v, at);  // the arena's memory is zero
    std::copy(bytes.begin(), bytes.end(), reinterpret_cast<std::uint8_t*>(at[i]));
  }
  for (const auto& symbol : binary.symbols) {
    const std::uint32_t index = module.find_variable(symbol->name);
    symbol->addresses.resize(arena_.devices());
    // nvcc leaves out what no kernel uses; the program may copy to it all the same.
    symbol->addresses[device] = index != ptx::kNone ? at[index]
                                                    : allocate(symbol->size, cuda::MemoryKind::device,
                                                               ptx::source_name_of_variable(symbol->name), device);
    if (symbol->shadow) *symbol->shadow = reinterpret_cast<void*>(symbol->addresses[device]);
  }
}

std::uint64_t DeviceCode::allocate(std::uint64_t size, cuda::MemoryKind kind, const std::string& name, unsigned device) {
  const std::uint64_t address = arena_.allocate(size, kind, cuda::DeviceArena::kAlignment, device);
  if (address != 0) show(address, name);
  return address;
}

/// A block of the arena is there: kernels may touch it, and the trace names it.
void DeviceCode::show(std::uint64_t address, const std::string& name) {
  const cuda::Allocation& block = *arena_.find(address);
  const unsigned owner = arena_.devices() == 1 ? 0 : arena_.device_of(address);
  device_.memory.add({address, block.size, name.empty() ? "allocation " + std::to_string(block.ordinal) : name,
                      owner < arena_.devices() ? static_cast<std::uint8_t>(owner) : ptx::kOfNoDevice});
  recording_.note_allocation(block, name);
}

bool DeviceCode::release(std::uint64_t address) {
  if (!arena_.release(address)) return false;
  device_.memory.remove(address);
  return true;
}

bool DeviceCode::map(std::uint64_t address, std::uint64_t size) {
  if (!arena_.map(address, size)) return false;
  show(address, "mapped memory");
  return true;
}

void DeviceCode::unmap(std::uint64_t address) {
  if (arena_.unmap(address)) device_.memory.remove(address);
}

void DeviceCode::add_host_range(std::uint64_t address, std::uint64_t size) {
  if (arena_.in_arena(address)) return;  // kernels may use it anyhow
  host_ranges_[address] = size;
  device_.memory.add({address, size, "registered host memory"});
}

void DeviceCode::remove_host_range(std::uint64_t address) {
  if (host_ranges_.erase(address) != 0) device_.memory.remove(address);
}

bool DeviceCode::in_host_range(std::uint64_t address) const {
  const auto after = host_ranges_.upper_bound(address);
  return after != host_ranges_.begin() && address - std::prev(after)->first < std::prev(after)->second;
}

}  // namespace atl::cudart
