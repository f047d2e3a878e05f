#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inputs/cuda/arena.hpp"
#include "inputs/cuda/device_model.hpp"
#include "inputs/cuda/fatbin.hpp"
#include "inputs/cuda/runtime/abi.hpp"
#include "inputs/cuda/runtime/streams.hpp"
#include "inputs/ptx/access_analysis.hpp"
#include "inputs/ptx/exec_device.hpp"
#include "inputs/ptx/ir.hpp"

namespace atl::cudart {

class Recording;
struct Binary;

/// A kernel that the program registered. Its address is the handle that __cudaGetKernel gives out.
struct Kernel {
  Binary* binary = nullptr;
  std::string name;                     ///< mangled, as in the PTX
  const void* host = nullptr;           ///< the function that stands for it in the program; none: only a handle does
  std::uint32_t function = ptx::kNone;  ///< in the binary's module, once that is loaded
  std::optional<std::size_t> max_dynamic_shared{};  ///< that the program has set
  bool wide_clusters = false;                       ///< of more blocks than every GPU takes, as the program has set
  Dim3 cluster{0, 0, 0};                            ///< the same: blocks, of a kernel that was compiled for none
  /// What cuFuncSetBlockShape and its like have set for the launches that name nothing but a grid.
  struct {
    Dim3 block;
    unsigned shared = 0;
    std::vector<std::byte> parameters{};
  } next{};
};

/// A `__device__`, `__constant__` or `__managed__` variable that the program registered.
struct Symbol {
  Binary* binary = nullptr;
  std::string name;
  std::uint64_t size = 0;
  std::vector<std::uint64_t> addresses;  ///< [device] 0: not loaded there; of managed ones all the same
  void** shadow = nullptr;               ///< managed: the program's pointer to it, which the runtime fills in
};

/// One __cudaRegisterFatBinary: an ordinary translation unit, or all that -rdc=true linked together.
struct Binary {
  std::string name;
  std::vector<const std::uint8_t*> containers;
  std::vector<std::string> texts;  ///< PTX, where there are no containers
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::vector<std::unique_ptr<Symbol>> symbols;
  std::unique_ptr<ptx::Module> module;                ///< null: not loaded yet
  std::vector<std::vector<std::uint64_t>> variables;  ///< [device] addresses, by index; empty: not loaded there
  std::vector<ptx::KernelAccess> accesses;            ///< what each kernel of the module reads and writes
};

/// PTX that the device cannot compile: cudaErrorNoKernelImageForDevice of what loads it while the program runs.
class NoKernelImage : public InputError {
  using InputError::InputError;
};

/// The device code of the program and the memory that it may touch. Modules are unpacked, parsed and given memory when
/// something of theirs is first used: most programs use few of their kernels.
class DeviceCode {
 public:
  DeviceCode(const cuda::DeviceModel& model, cuda::DeviceArena& arena, Recording& recording);

  Binary* add_binary(const cuda::FatbinWrapper& wrapper);
  /// PTX as text, in place of containers.
  Binary* add_texts(std::vector<std::string> ptx);
  /// `host`: what find_kernel() knows it by, besides the kernel's own address; or null.
  Kernel* add_kernel(Binary& binary, const void* host, const std::string& name);
  void add_symbol(Binary& binary, const void* host, const std::string& name, std::uint64_t size, void** shadow);
  /// The program unloads a library: its kernels and variables are gone.
  void remove(Binary* binary);
  /// The program unloads a module: its kernels, its variables and their memory are gone.
  void unload(Binary* binary);
  /// Null: the handle is none of a loaded module.
  Binary* loaded_binary(const void* handle) const;
  bool knows(const Binary* binary) const;
  /// Whose module it is.
  Binary& binary_of(const ptx::Module& module) const;

  /// By the address of the host function or by handle; null: not registered. The module need not be loaded.
  Kernel* find_kernel(const void* host_or_handle);
  Symbol* find_symbol(const void* host);
  bool has_variable(std::string_view name) const;  ///< as the source names it
  /// Loads the module if necessary. Throws InputError: no PTX, none that the device can compile, PTX that cannot be parsed,
  /// a kernel that is not in it.
  const ptx::Function& function(Kernel& kernel, unsigned device = current_device());
  std::uint64_t address(Symbol& symbol, unsigned device = current_device());
  /// Each device has variables of its own.
  void load(Binary& binary, unsigned device = current_device());

  /// Memory, as kernels may touch it: kept in step with the arena.
  std::uint64_t allocate(std::uint64_t size, cuda::MemoryKind kind, const std::string& name = {},
                         unsigned device = current_device());
  bool release(std::uint64_t address);
  /// At addresses that the arena reserved.
  bool map(std::uint64_t address, std::uint64_t size);
  void unmap(std::uint64_t address);
  /// Memory of the program itself that it lets kernels use (cudaHostRegister).
  void add_host_range(std::uint64_t address, std::uint64_t size);
  void remove_host_range(std::uint64_t address);
  bool in_host_range(std::uint64_t address) const;

  ptx::Device& device() { return device_; }

 private:
  std::unique_ptr<ptx::Module> parse(const Binary& binary) const;
  void show(std::uint64_t address, const std::string& name);
  void place_variables(Binary& binary, const ptx::Module& module, unsigned device);

  const cuda::DeviceModel& model_;
  cuda::DeviceArena& arena_;
  Recording& recording_;
  ptx::Device device_;
  std::vector<std::unique_ptr<Binary>> binaries_;
  std::uint64_t made_ = 0;  // binaries, with those that are gone
  // By host function, by handle and by host variable. What is inline has one in the whole program, and code in the binary of
  // every file that uses it.
  std::unordered_map<const void*, Kernel*> kernels_, handles_;
  std::unordered_map<const void*, Symbol*> symbols_;
  std::map<std::uint64_t, std::uint64_t> host_ranges_;  // address -> bytes
};

}  // namespace atl::cudart
