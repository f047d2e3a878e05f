#pragma once
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/engine/error.hpp"
#include "inputs/ptx/ir.hpp"

namespace atl::ptx {

/// The program did something that no GPU would survive: an illegal address, trap, a failed assertion. Exit code 3.
class ExecutionError : public SimulationError {
 public:
  enum class Kind { illegal_address, misaligned, trap, assertion, deadlock, unsupported, bad_launch, wrong_mark };
  ExecutionError(Kind kind, const std::string& what) : SimulationError(what), kind_(kind) {}
  Kind kind() const { return kind_; }

 private:
  Kind kind_;
};

inline constexpr std::uint8_t kOfNoDevice = 0xFF;  ///< memory that every device may use

struct Allocation {
  std::uint64_t address = 0, size = 0;
  std::string name;                   ///< for messages: "allocation 3", "variable x"
  std::uint8_t device = kOfNoDevice;  ///< whose it is
};

/// What a program may touch: allocations that do not overlap, in order of their address. Addresses are host addresses.
class DeviceMemory {
 public:
  void add(Allocation allocation);
  bool remove(std::uint64_t address);  ///< false: no allocation begins there
  /// The allocation that holds all of [address, address + size), or null.
  const Allocation* find(std::uint64_t address, std::uint64_t size = 1) const;
  bool contains(std::uint64_t address, std::uint64_t size) const { return find(address, size) != nullptr; }
  /// The allocation nearest to an address; null if there is none at all.
  const Allocation* nearest(std::uint64_t address) const;
  /// The allocation that was removed last of those that held an address, or null.
  const Allocation* freed(std::uint64_t address) const;
  const std::map<std::uint64_t, Allocation>& all() const { return by_address_; }
  /// How often it has changed: what find() said is true while this is the same.
  std::uint64_t changes() const { return changes_; }

 private:
  static constexpr std::size_t kRemembered = 4096;
  std::uint64_t changes_ = 0;
  std::map<std::uint64_t, Allocation> by_address_;
  std::deque<Allocation> freed_;  // the latest in front
};

/// A texture object over linear memory or an array; texels are `channels` elements of `type`.
struct Texture {
  enum class Address : std::uint8_t { wrap, clamp, mirror, border };
  std::uint64_t address = 0;
  std::uint64_t width = 0, height = 1, depth = 1;  ///< texels
  std::uint64_t pitch = 0, slice = 0;              ///< bytes from row to row, from layer to layer
  Type type = Type::f32;                           ///< u8 s8 u16 s16 u32 s32 f16 f32
  std::uint8_t channels = 1;
  Address mode[3] = {Address::clamp, Address::clamp, Address::clamp};
  bool array = false;               ///< lies in a CUDA array, which no pointer reaches
  bool linear = false;              ///< bilinear filter instead of the nearest texel
  bool normalized = false;          ///< coordinates in [0, 1)
  bool read_as_normalized = false;  ///< integers are delivered as [0, 1] or [-1, 1]
  bool srgb = false;                ///< likewise, but for the fourth channel by sRGB's curve: of u8
  float border[4] = {0, 0, 0, 0};
};

namespace exec {
class CtaPool;
struct Image;
}  // namespace exec
struct DeviceQueue;

/// Everything that outlives a launch: the memory that kernels may touch, of one GPU or of several.
class Device {
 public:
  Device();
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Announces a module whose variables lie at `addresses` (by index; unused for .shared) on one of several GPUs. The
  /// memory must be known to `memory` and initialised (initial_bytes()).
  void load(const Module& module, std::vector<std::uint64_t> addresses, unsigned gpu = 0);
  /// The same with memory of the device's own.
  void load(const Module& module);
  void unload(const Module& module);
  bool loaded(const Module& module, unsigned gpu = 0) const { return modules_.count({&module, gpu}) != 0; }
  const std::vector<std::uint64_t>& variables(const Module& module, unsigned gpu = 0) const;
  /// Whether an address lies in a .const variable of a module.
  bool constant(std::uint64_t address) const;
  /// The decoded kernel, made at its first launch.
  const exec::Image& image(const Module& module, std::uint32_t kernel, unsigned gpu = 0);

  exec::CtaPool& ctas() { return *ctas_; }

  DeviceMemory memory;
  std::unordered_map<std::uint64_t, Texture> textures;   ///< by handle
  std::unordered_map<std::uint64_t, Texture> surfaces;   ///< by handle
  std::function<void(std::string_view)> print;           ///< printf of kernels; empty: standard output
  std::function<std::uint64_t(std::uint64_t)> allocate;  ///< malloc of kernels; must add to `memory`. Empty: own heap
  std::function<void(std::uint64_t)> release;
  DeviceQueue* queue = nullptr;  ///< of launches by kernels, while a launch runs; null: they are refused
  std::uint64_t time = 0;        ///< %globaltimer, advanced by launches: deterministic

  std::uint64_t default_allocate(std::uint64_t size);
  void default_release(std::uint64_t address);

 private:
  struct Loaded;
  void note_constants(const Module& module, const std::vector<std::uint64_t>& addresses);

  std::map<std::pair<const Module*, unsigned>, std::unique_ptr<Loaded>> modules_;
  std::map<std::uint64_t, std::uint64_t> constants_;  // address -> bytes
  std::map<std::uint64_t, std::unique_ptr<std::byte[]>> heap_;
  std::unique_ptr<exec::CtaPool> ctas_;
};

/// The first bytes of a variable, with its addresses filled in; the rest is zero. Not all of it: a large variable that
/// nothing touches is to take no memory.
std::vector<std::uint8_t> initial_bytes(const Module& module, const Variable& variable,
                                        const std::vector<std::uint64_t>& addresses);

}  // namespace atl::ptx
