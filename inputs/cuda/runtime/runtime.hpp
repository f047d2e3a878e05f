#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "inputs/cuda/arena.hpp"
#include "inputs/cuda/device_model.hpp"
#include "inputs/cuda/runtime/abi.hpp"
#include "inputs/cuda/runtime/backlog.hpp"
#include "inputs/cuda/runtime/call_lock.hpp"
#include "inputs/cuda/runtime/device_code.hpp"
#include "inputs/cuda/runtime/ending.hpp"
#include "inputs/cuda/runtime/graph.hpp"
#include "inputs/cuda/runtime/order.hpp"
#include "inputs/cuda/runtime/recording.hpp"
#include "inputs/cuda/runtime/streams.hpp"

namespace atl::cudart {

/// As the device's properties say.
inline constexpr std::size_t kTextureAlignment = 512, kTexturePitchAlignment = 32;

/// Elements in rows, for texture objects. The bytes lie in the device arena.
struct Array {
  ChannelFormat format;
  std::size_t width = 0, height = 0, depth = 0;  ///< elements; height and depth 0: fewer dimensions
  unsigned flags = 0;                            ///< of cudaMalloc3DArray, as ArrayFlag
  std::uint64_t address = 0;
  std::size_t row_bytes() const { return width * format.bytes(); }
  std::size_t rows() const { return (height ? height : 1) * (depth ? depth : 1); }
  std::size_t bytes() const { return row_bytes() * rows(); }
};

/// A memory pool: a name for allocations of a device, with statistics.
struct Pool {
  unsigned device = 0;
  std::uint64_t release_threshold = 0, used = 0, most_used = 0;  ///< bytes
};

/// cuMemCreate: memory of a device, behind addresses or not. Its bytes lie where it is accessible, else here.
struct PhysicalMemory {
  unsigned device = 0;
  std::uint64_t size = 0, mapped_at = 0;  ///< 0: nowhere
  bool accessible = false;                ///< cuMemSetAccess
  bool released = false;                  ///< goes away once it is unmapped
  std::vector<char> bytes;                ///< empty: zero
};

/// cuLinkCreate: what was added, and where to say what is wrong with it.
struct Link {
  std::string image;
  char* log = nullptr;
  std::size_t log_bytes = 0;
};

/// Memory of the program that it registered, with cudaHostRegister's flags.
struct HostRange {
  std::size_t bytes = 0;
  unsigned flags = 0;
};

/// What a texture or surface object was made from, for programs that ask for it.
struct TextureSource {
  Resource resource{};
  TextureDescription texture{};
  std::optional<ResourceView> view{};
};

struct PoolBlock {
  Pool* pool = nullptr;
  std::uint64_t size = 0;
};

/// The state behind the program's CUDA calls. There is one, because the calls carry no handle to it; it is never destroyed,
/// because programs call from destructors of their own statics.
struct Runtime {
  CallLock mutex;           ///< held during every call
  cuda::DeviceModel model;  ///< what the program is told of each device
  const unsigned devices;   ///< how many it has
  cuda::DeviceArena arena;
  DeviceCode code;
  Recording recording;

  int sticky = kSuccess;  ///< after a failed assertion in a kernel, every call fails
  int device_flags = 0;
  std::size_t limits[8];                    ///< cudaLimit -> bytes
  std::map<const void*, unsigned> streams;  ///< with their devices
  std::set<const void*> free_streams;       ///< of these, those that the default stream does not wait for
  std::map<std::pair<const void*, int>, StreamAttribute> stream_attributes;  ///< those that the program gave
  std::set<void*> events;
  Order order;
  Backlog backlog;
  std::vector<std::uint64_t> peers;  ///< [device] bit i: its kernels may use memory of device i, as their own in any case
  std::vector<std::uint64_t> pool_peers;  ///< likewise, by cudaMemPoolSetAccess
  Graphs graphs;
  std::map<std::uint64_t, std::unique_ptr<Array>> arrays;
  std::map<Pool*, std::unique_ptr<Pool>> pools;           ///< that the program made
  std::vector<Pool> default_pools;                        ///< [device]
  std::vector<Pool*> current_pools;                       ///< [device] of cudaMallocAsync
  std::map<std::uint64_t, PoolBlock> pool_blocks;         ///< by address
  std::set<std::uint64_t> graph_memory;                   ///< of allocation nodes: a later launch uses it again
  std::map<std::uint64_t, PhysicalMemory> physical;       ///< by handle, counting from 1
  std::map<std::uint64_t, std::uint64_t> address_ranges;  ///< cuMemAddressReserve: address -> bytes
  std::uint64_t last_physical = 0;
  std::set<std::string> complained_about;
  std::map<void*, std::unique_ptr<Link>> links;
  std::deque<std::string> images;                             ///< files of device code that were loaded
  std::uint64_t last_texture = 0;                             ///< handles of texture and surface objects count up
  std::map<std::uint64_t, TextureSource> textures, surfaces;  ///< by handle
  std::map<std::uint64_t, HostRange> registered_host;         ///< cudaHostRegister, by address
  std::map<std::uint64_t, unsigned> host_flags;               ///< of cudaHostAlloc, by address, unless they are 0

  Runtime();

 private:
  explicit Runtime(const cuda::RecordOptions& options);
};

Runtime& runtime();

bool has_device(const Runtime& r, int device);
/// As an answer of a call.
inline int known_device(const Runtime& r, int device) { return has_device(r, device) ? int{kSuccess} : int{kInvalidDevice}; }
/// 16 bytes, other ones for each device.
void write_uuid(void* out, unsigned device);
/// As cudaSetDevice does; the driver API sees it.
void use_primary_context(unsigned device);
/// Makes the primary context of the thread's device current, if the thread has none: what calls of the runtime do.
void have_context();
/// The driver's handle of the device's primary context.
void* primary_context(unsigned device);

/// While it lives the thread is in a call of the driver, or in what nvcc calls before main(): these use the runtime's
/// functions, and make no context current.
class BesideRuntime {
 public:
  BesideRuntime() : before_(std::exchange(active(), true)) {}
  ~BesideRuntime() { active() = before_; }
  BesideRuntime(const BesideRuntime&) = delete;
  BesideRuntime& operator=(const BesideRuntime&) = delete;
  static bool& active() {
    static thread_local bool active = false;
    return active;
  }

 private:
  bool before_;
};

/// Gives memory back at once, that of the host or any other. Returns the status.
int release_memory(Runtime& r, void* pointer, bool of_host = false);

/// The calling thread's error, as cudaGetLastError reports it. Returns `status`.
int remember(int status);
/// Replaces it; returns what it was.
int exchange_last_error(int status);

/// The program or library that `code` is in, if it has device code; else empty. One whose CUDA runtime was redirected in
/// time asks the driver for nothing, and has registered its kernels.
std::string owner_of(const void* code);

/// Says what went wrong, saves the trace of the finished kernels and ends the program: exit code 4 if a file could not be
/// written, else 3. For what would otherwise go on with wrong results.
[[noreturn]] void end_program(const std::exception_ptr& error);

/// From now on a process made by fork is known.
void watch_forks();
/// What a call gets in place of an answer where CUDA is of no use; else success.
int refused_here();

/// The frame of every call: one at a time, no exception leaves it, a failure is remembered.
template <typename Body> int call(Body&& body) noexcept {
  try {
    Runtime& r = runtime();
    if (is_ending() && !CallLock::held_here()) wait_for_end();
    if (!BesideRuntime::active())
      if (const int refused = refused_here(); refused != kSuccess) return remember(refused);
    const std::lock_guard lock(r.mutex);
    if (!BesideRuntime::active()) have_context();
    return remember(r.sticky != kSuccess ? r.sticky : static_cast<int>(body(r)));
  } catch (...) {
    end_program(std::current_exception());
  }
}

}  // namespace atl::cudart
