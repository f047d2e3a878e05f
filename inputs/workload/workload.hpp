#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/engine/data_structure.hpp"

/// What a simulated GPU executes: kernels made of CTAs, CTAs made of warps, warps made of ops.
/// Every source (recorded trace, imported SASS trace, parametric workload) delivers this form, one CTA at a time.
namespace atl {

/// A warp waits for earlier results by scoreboard slot; a load or atomic occupies one until its last sector is back.
inline constexpr unsigned kScoreboardSlots = 32;
inline constexpr std::uint8_t kNoSlot = 0xFF;

enum class OpKind : std::uint8_t {
  compute,  ///< `issue` issue slots; the warp goes on `latency` cycles after the first of them
  load,     ///< global or local read through the L1
  store,    ///< write; never blocks the warp
  atomic,   ///< read-modify-write at the home LLC slice; blocks only those who wait for `slot`
  shared,   ///< shared-memory access: `issue` passes (bank conflicts), result in `slot` after the SM's latency
  barrier,  ///< CTA-wide barrier
  exit,     ///< end of the warp
};

constexpr bool has_accesses(OpKind kind) { return kind >= OpKind::load && kind <= OpKind::atomic; }
constexpr bool has_result(OpKind kind) { return kind == OpKind::load || kind == OpKind::atomic || kind == OpKind::shared; }
constexpr bool has_issue_slots(OpKind kind) { return kind == OpKind::compute || kind == OpKind::shared; }

enum OpFlags : std::uint8_t {
  kReadOnly = 1,  ///< the data structure is never written in this kernel (SelRep section III-A)
  kBypassL1 = 2,  ///< volatile, .cg and the like: served by the LLC
  kPartial = 4,   ///< a store that leaves some bytes of its sectors as they are
  kLocal = 8,     ///< load or store of thread-private memory: its accesses name rows (below)
};

/// Local memory has no address before a warp is resident. Row r of a warp holds word r (bytes 4 r to 4 r + 3) of all its
/// threads, lane by lane, in one block of 128 bytes; an access of an op with kLocal names row r as block r. The SM that
/// runs the warp lays it out (core/chip/sm/local_memory.hpp). A thread's window is 16 MiB, as in CUDA.
inline constexpr std::uint64_t kLocalRows = std::uint64_t{1} << 22;

/// One step of a warp program. 16 bytes.
struct Op {
  std::uint32_t wait = 0;          ///< scoreboard slots (bit mask) that must be free before this op issues
  std::uint32_t first_access = 0;  ///< index into CtaProgram::accesses
  std::uint16_t issue = 1;         ///< issue slots of compute, passes of shared accesses (>= 1); 1 of all others
  std::uint16_t latency = 1;       ///< cycles from the first issue slot until the warp's next op may issue
  OpKind kind = OpKind::compute;
  std::uint8_t slot = kNoSlot;  ///< scoreboard slot that receives the result (load, atomic, shared)
  std::uint8_t flags = 0;       ///< OpFlags
  std::uint8_t accesses = 0;    ///< number of coalesced accesses (load, store, atomic): 0..64
};
static_assert(sizeof(Op) == 16);

/// One coalesced access: the 32-byte sectors touched in one aligned 128-byte block.
struct Access {
  static constexpr unsigned kBlockBytes = 128, kSectorBytes = 32, kSectors = 4;
  std::uint64_t packed = 0;
  static Access make(std::uint64_t byte_addr, unsigned sectors) { return {(byte_addr / kBlockBytes) << 8 | sectors}; }
  std::uint64_t block() const { return packed >> 8; }  ///< byte address / 128
  unsigned sectors() const { return packed & 0xF; }    ///< bit i: bytes [32 i, 32 i + 32)
  bool operator==(const Access&) const = default;
};

struct WarpOps {
  std::uint32_t first = 0, count = 0;  ///< range in CtaProgram::ops; the last op is an exit
};

/// One CTA, decoded. Buffers keep their capacity when the object is reused.
struct CtaProgram {
  std::vector<Op> ops;
  std::vector<Access> accesses;
  std::vector<WarpOps> warps;
  void clear() { ops.clear(), accesses.clear(), warps.clear(); }
};

/// Memory of the devices of a program that used several: device i has the addresses from base + i * bytes on.
struct DeviceMemories {
  std::uint32_t count = 0;            ///< 0: the program knew one device, which stands for all chips
  std::uint64_t base = 0, bytes = 0;  ///< `bytes`: a power of two, of which `base` is a multiple
};

/// Which device of several a launch runs on, and when: those of one step were left unordered by the program.
struct LaunchPlace {
  std::uint32_t device = 0;
  std::uint64_t step = 0;
};

/// Of launches that run together: what one device does.
struct DevicePart {
  std::uint32_t device = 0;
  std::uint64_t first = 0, ctas = 0;  ///< CTAs of the kernel
  std::uint32_t warps = 1, registers_per_thread = 0, shared_bytes = 0;
};

struct KernelInfo {
  std::string name;
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {32, 1, 1};
  std::uint32_t registers_per_thread = 0;  ///< 0: not known, no limit
  std::uint32_t shared_bytes = 0;          ///< shared memory per CTA
  std::uint64_t launched_ctas = 0;         ///< of the launch that these CTAs are a sample of; 0: it is whole
  LaunchPlace place{};                     ///< where there are several devices
  std::vector<DevicePart> parts{};         ///< of launches that run together (device_steps.hpp); empty: of all chips
  std::uint64_t ctas() const { return std::uint64_t{grid[0]} * grid[1] * grid[2]; }
  std::uint32_t threads() const { return block[0] * block[1] * block[2]; }
  std::uint32_t warps() const { return (threads() + 31) / 32; }
  /// True if a GPU accepts such a launch (limits of the CUDA C++ Programming Guide); the products above then fit.
  bool launchable() const {
    const auto within = [](std::uint32_t n, std::uint32_t most) { return n > 0 && n <= most; };
    return within(grid[0], 0x7FFFFFFF) && within(grid[1], 65535) && within(grid[2], 65535) && within(block[0], 1024) &&
           within(block[1], 1024) && within(block[2], 64) && threads() <= 1024;
  }
};

/// A sequence of kernels. Every rank opens its own and asks only for the CTAs of its chips.
class Workload {
 public:
  virtual ~Workload() = default;
  virtual const std::vector<KernelInfo>& kernels() const = 0;
  /// Replaces `out` by CTA `cta` (flattened id, x fastest) of kernel `kernel`. The same on every rank.
  virtual void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) = 0;
  /// Several, if each launch has its own (KernelInfo::place).
  virtual DeviceMemories devices() const { return {}; }
  /// What its addresses belong to, by address; none overlap. Empty: not known.
  virtual std::vector<DataStructure> structures() const { return {}; }
  /// What a kernel's trace lacks, in words; empty: nothing that is known of. May read the trace whole.
  virtual std::string incomplete(std::size_t /*kernel*/) { return {}; }
  /// What all of it lacks besides, such as the launches that a program still had to make; empty: nothing that is known of.
  virtual std::string lacks() const { return {}; }
  /// The chips among which data that are private to a chip's CTAs are laid out; 0: it knows of no chips.
  virtual std::uint32_t laid_out_for() const { return 0; }
  /// How it differs from what `scale` should have made of it, in words; empty: hardly.
  virtual std::string scaled_otherwise() const { return {}; }
  /// Which part of a larger workload this is; empty: all of it, as far as is known.
  virtual std::string selection() const { return {}; }
};

/// What a parametric workload takes from the system that runs it.
struct WorkloadFit {
  std::uint32_t scale_by = 1;       ///< footprint and accesses are divided by it
  std::uint32_t page_bytes = 4096;  ///< of what page_interleaved means by a page
  std::uint32_t chips = 4;          ///< for files that name none
};

/// Opens an Atoll trace (.h5), an Accel-Sim list (kernelslist.g) or a parametric workload (.json), by content.
/// Throws InputError naming the file, and the line, key or offset. Parametric workloads fit themselves to the system.
std::unique_ptr<Workload> open_workload(const std::string& path, const WorkloadFit& fit = {});

}  // namespace atl
