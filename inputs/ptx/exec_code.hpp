#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "inputs/ptx/ir.hpp"

/// The compact form that is executed: every operand is a place, every instruction one function pointer.
namespace atl::ptx::exec {

inline constexpr unsigned kLanes = 32;
inline constexpr std::uint32_t kFullMask = ~std::uint32_t{0};

/// Bytes that begin at a cache line, so that no vector of lanes crosses one.
template <class T> struct LineAllocator {
  using value_type = T;
  static constexpr std::align_val_t kLine{64};
  LineAllocator() = default;
  template <class U> LineAllocator(const LineAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(::operator new(n * sizeof(T), kLine)); }
  void deallocate(T* p, std::size_t) { ::operator delete(p, kLine); }
  bool operator==(const LineAllocator&) const { return true; }
};
using Bytes = std::vector<std::byte, LineAllocator<std::byte>>;

struct Warp;
struct Inst;
using Handler = void (*)(Warp&, const Inst&);

/// Where 32 lanes of a value lie: bank in the two upper bits, byte offset in the others. Predicates are one 32-bit mask.
using Ref = std::uint32_t;
enum Bank : std::uint32_t {
  kRegisters = 0,  ///< of the current frame
  kConstants = 1,  ///< literals and addresses, spread over the lanes
  kSpecials = 2,   ///< %tid and the like, filled in when a warp starts
  kSink = 3,       ///< results that nobody wants
};
inline constexpr std::uint32_t kOffsetMask = (1u << 30) - 1;
constexpr Ref make_ref(Bank bank, std::size_t offset) { return static_cast<Ref>(bank) << 30 | static_cast<Ref>(offset); }

struct Inst {
  Handler run = nullptr;
  std::uint32_t (*compare)(Warp&, const Inst&) = nullptr;  ///< set: the lanes for which the comparison holds
  std::int64_t value = 0;                                  ///< address offset, or what the handler makes of it
  Ref dst[2] = {make_ref(kSink, 0), make_ref(kSink, 0)};
  Ref src[4] = {0, 0, 0, 0};
  Ref guard = 0;
  std::uint32_t target = kNone, reconverge = kNone;
  std::uint32_t extra = 0;   ///< first of Code::refs, Code::calls, a branch table: the handler knows
  std::uint32_t index = 0;   ///< of the IR instruction, in its function
  std::uint8_t count = 0;    ///< elements of a vector, or any small number
  std::uint8_t bytes = 0;    ///< bytes of one element in memory
  std::uint8_t option = 0;   ///< a mode of the handler
  std::uint8_t guarded = 0;  ///< 1: by `guard`, 2: by its negation
  std::uint8_t traced = 0;   ///< a memory access or barrier that a RecordSink hears of with addresses
  std::uint8_t watch = 0;    ///< an access that other CTAs may notice, or whose outcome they may change: Watch
};

/// Inst::watch. Loads of what the kernel only reads matter where that does not hold.
enum Watch : std::uint8_t { kShows = 1, kShowsUnmarked = 2, kShowsNonCoherent = 4 };

/// A hidden register that holds the address of a local variable of the frame.
struct FrameAddress {
  Ref ref = 0;
  std::uint8_t bytes = 8;
  std::uint64_t offset = 0;  ///< from the frame's first local byte
};

/// Bytes of a frame's registers.
struct RegisterPiece {
  std::uint32_t first = 0, bytes = 0;
};

struct CallArgument {
  Ref ref = 0;             ///< reg or constant; unused for a param variable
  bool in_memory = false;  ///< `offset` in the caller's parameter frame
  std::uint32_t offset = 0, size = 0;
};
struct CallSite {
  std::uint32_t callee = kNone;  ///< IR function; kNone: through `through`
  Ref through = 0;
  std::vector<CallArgument> results, arguments;
};
/// Where a formal lives in the callee.
struct Formal {
  bool in_register = false;
  Ref ref = 0;
  std::uint32_t offset = 0, size = 0;
};

/// The registers in which lanes hold a matrix (exec_fragment.hpp), packed with elements of a type.
struct Fragment {
  Type type = Type::f32;
  unsigned elements = 0;         ///< of a lane
  unsigned per_register = 1;     ///< elements
  unsigned bytes = 4;            ///< of a register
  unsigned refs = 0;             ///< first in Code::refs
  bool columns = false;          ///< column by column
  unsigned rows = 0, width = 0;  ///< of the matrix

  template <class C> Ref ref(const C& code, unsigned element) const { return code.refs[refs + element / per_register]; }
};
/// Of an instruction for matrices; those that move one matrix have `d` only.
struct MatrixForm {
  Fragment d, a, b, c;
  bool opaque = false;  ///< multiplications: of wmma; loads and stores: of c or d
};

/// One decoded function.
struct Code {
  const Function* function = nullptr;
  std::uint32_t first_id = 0;  ///< id of its first instruction among all of the image
  bool decoded = false;
  std::vector<Inst> code;
  std::vector<Ref> refs;
  std::vector<CallSite> calls;
  std::vector<MatrixForm> matrices;
  std::vector<FrameAddress> addresses;
  std::vector<Formal> results, params;
  std::vector<Ref> register_refs;    ///< by IR register
  std::vector<RegisterPiece> unset;  ///< registers that may be seen before they are set: 0 where a frame begins
  std::uint32_t register_bytes = 0;  ///< of a frame
  std::uint32_t param_base = 0;      ///< of the parameter frame behind the local variables
  std::uint32_t frame_bytes = 0;     ///< local and parameter bytes per thread
};

struct SpecialSlot {
  Special special = Special::laneid;
  bool param = false;        ///< instead: the address of the kernel's parameter block, plus `number`
  std::uint32_t number = 0;  ///< envreg
  std::uint8_t bytes = 4;
  bool mask = false;  ///< a predicate: one bit for each lane
  Ref ref = 0;
};

/// A kernel with all functions that it may call.
struct Image {
  const Module* module = nullptr;
  std::uint32_t kernel = 0;
  std::vector<Code> functions;  ///< by IR function; undefined and unreachable ones stay empty
  Bytes constants;
  std::vector<SpecialSlot> specials;
  std::uint32_t special_bytes = 0;
  std::uint32_t instructions = 0;  ///< ids
  bool in_step = false;            ///< its warps may count on each other's pace: volatile accesses of shared memory
  std::uint32_t registers = 0;     ///< 32-bit registers per thread, estimated
  std::size_t stack_bytes = 0;     ///< of a warp: registers and local memory on the deepest way of calls, recursion once
};

/// Decodes a kernel; `variables` are the addresses of the module's variables. Throws InputError naming file, line and
/// opcode for a form that cannot be executed.
std::unique_ptr<Image> decode(const Module& module, std::uint32_t kernel, const std::vector<std::uint64_t>& variables);

/// Generic addresses of the windows. Host addresses stay below 2^47; the bases are aligned beyond any offset.
inline constexpr std::uint64_t kSharedWindow = std::uint64_t{1} << 56;
inline constexpr std::uint64_t kLocalWindow = std::uint64_t{2} << 56;
inline constexpr std::uint64_t kCodeWindow = std::uint64_t{3} << 56;
inline constexpr std::uint64_t kWindowMask = std::uint64_t{0xFF} << 56;
inline bool in_shared(std::uint64_t address) { return (address & kWindowMask) == kSharedWindow; }
inline constexpr unsigned kCodeShift = 4;  ///< code address: window + (function << 4)

}  // namespace atl::ptx::exec
