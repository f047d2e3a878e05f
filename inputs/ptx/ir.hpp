#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "inputs/ptx/line_table.hpp"
#include "inputs/ptx/opcode.hpp"

/// A PTX module, ready to interpret: names are resolved to indices, labels to instruction indices, modifiers to enums.
namespace atl::ptx {

inline constexpr std::uint32_t kNone = ~std::uint32_t{0};

/// One operand. In brackets, `[base + value]`, it is an address: `memory` is set, and kind and index are the base.
struct Operand {
  enum Kind : std::uint8_t {
    none,      ///< absent, or the sink `_`
    reg,       ///< index: register of the function (memory: base register, value: byte offset)
    imm,       ///< value: bits of the literal in the width of the instruction type (0f.. in 32, 0d.. in 64 bits; integers
               ///< sign-extended). A literal of an f16 operand is its bits. memory: an absolute address
    special,   ///< index: Special
    variable,  ///< index: Module::variables; the address is that of the variable + value, in the variable's own space
    local,     ///< value: byte offset in the function's local frame (a `.local` address, not a generic one)
    param,     ///< value: byte offset in the function's parameter frame; index: number of the `.param` variable, unique
               ///< in the function: its formals in order, then its results, then what the body declares
    vector,    ///< index: first element in Function::elements, count: number of elements
    function,  ///< index: Module::functions, as a code address
  };
  Kind kind = none;
  bool memory = false;
  bool negated = false;    ///< !%p of a predicate operand
  std::uint8_t count = 0;  ///< vector: elements
  std::uint32_t index = 0;
  std::int64_t value = 0;
  bool is(Kind k) const { return kind == k; }
};
static_assert(sizeof(Operand) == 16);

/// One instruction. Operands stand in PTX order: destinations (d, then p of `d|p`), then sources.
///   st, red, sust      no destination; src[0] is the address
///   ld                 dst[0] (a vector operand for .v2/.v4), src[0] address
///   atom               dst[0], src[0] address, src[1] b, src[2] c (cas)
///   setp               dst[0], dst[1], src[0] a, src[1] b, src[2] predicate of the BoolOp
///   shfl               dst[0], dst[1] predicate, src[0] a, src[1] b, src[2] c, src[3] member mask
///   vote, match, redux dst[0], dst[1] (match.all), src[0], src[1] member mask
///   bar                dst[0] (red), src[0] barrier, src[1] threads (or none), src[2] predicate (red)
///   bar.warp.sync      src[0] mask
///   lop3               dst[0], dst[1], src[0..2], src[3] look-up table, src[4] predicate
///   tex, tld4, suld    dst[0] vector, src[0] handle, src[1] coordinates (vector), src[2..] lod or gradients
///   sust               src[0] handle, src[1] coordinates, src[2] value(s)
///   cp.async           src[0] shared address, src[1] global address, src[2] bytes, src[3] bytes read, or a predicate: none
///   are; or none bulk               src[0] destination, src[1] source, src[2] bytes, src[3] mbarrier, src[4] mask of a
///   multicast;
///                      prefetch: src[0] address, src[1] bytes; of a tensor, for the address in global memory a map and
///                      coordinates (vector), and no bytes
///   st.async, red.async  src[0] address, src[1] value(s), src[2] mbarrier
///   bra                `target`;  brx.idx: src[0] index, `table`;  call: `call`
struct Instruction {
  Op op = Op::exit;
  Type type = Type::none;  ///< of the destination, or of all operands
  Type source_type =
      Type::none;  ///< cvt, set, slct, dp2a/dp4a (second), tex coordinates, the other type where there are two
  Mode mode = Mode::none;
  Compare compare = Compare::none;
  BoolOp bool_op = BoolOp::none;
  Round round = Round::none;
  Part part = Part::none;
  Space space = Space::generic;         ///< ld, st, atom, red, cvta, isspacep, prefetch, cp.async destination
  Space source_space = Space::generic;  ///< bulk: of the source
  Scope scope = Scope::none;
  Order order = Order::none;
  Cache cache = Cache::none;
  Geometry geometry = Geometry::none;
  std::uint8_t vector = 1;  ///< .v2, .v4; matrices of ldmatrix and stmatrix; parts of video instructions
  std::uint8_t shape = 0;   ///< mma, wmma: of kShapes (matrix_shape.hpp), from 1; bulk: dimensions of a tensor, 0: none
  Type third_type = Type::none, fourth_type = Type::none;  ///< mma, wmma: of b and c
  std::uint8_t sources = 0;                                ///< used entries of src
  bool read_only = false;  ///< this global load reads what the kernel never writes (set by the analysis)
  bool guard_negated = false;
  std::uint16_t spelling = 0;        ///< Function::spellings
  std::uint64_t flags = 0;           ///< Flag
  std::uint32_t guard = kNone;       ///< predicate register, or kNone
  std::uint32_t line = 0;            ///< of Module::lines
  std::uint32_t target = kNone;      ///< bra: instruction index
  std::uint32_t table = kNone;       ///< brx.idx: Function::branch_tables; call: Function::calls
  std::uint32_t reconverge = kNone;  ///< bra, brx: index of the immediate post-dominator; kNone: only at the end
  std::array<Operand, 2> dst{};
  std::array<Operand, 5> src{};
  bool has(Flag f) const { return (flags & f) != 0; }
};

struct Register {
  std::string name;
  Type type = Type::b32;
};

/// A formal parameter or result. Of an entry: `offset` is that in the kernel's parameter block.
struct Param {
  std::string name;
  Type type = Type::b8;
  std::uint32_t align = 1, size = 0;
  std::uint32_t offset = 0;   ///< in the parameter frame of its function
  std::uint32_t reg = kNone;  ///< passed in a register (`.reg` formals): its number; it has no offset then
  bool array = false;         ///< .b8 x[n]
};

/// What a call passes and expects. Formals of the callee are copied from / to these, byte for byte.
struct Call {
  std::uint32_t callee = kNone;                     ///< Module::functions; kNone: indirect, through `through`
  Operand through;                                  ///< register that holds the code address
  std::vector<Operand> results;                     ///< param (a `.param` variable of the caller's frame) or reg
  std::vector<Operand> arguments;                   ///< param, reg or imm
  std::vector<Param> result_types, argument_types;  ///< of the prototype, for an indirect call
  std::vector<std::uint32_t> candidates;            ///< .calltargets, if given; else any function whose address is taken
};

struct SharedSlot {
  std::uint32_t variable = 0;  ///< Module::variables
  std::uint32_t offset = 0;    ///< in the shared window of a CTA
};

/// A kernel (entry) or a device function. Instruction lists end in ret, exit, trap or an unconditional bra.
struct Function {
  std::string name;
  std::uint32_t line = 0;
  bool entry = false;
  bool defined = false;  ///< has a body; else external (vprintf, malloc, the runtime on the device)
  bool weak = false, visible = false;
  bool address_taken = false;  ///< it may be called through a pointer
  /// Behind its last instruction, a call, stands no `ret`: that call does not come back (nvcc writes all others). `code`
  /// ends with one all the same.
  bool gives_up_at_end = false;
  std::vector<Param> results, params;
  std::uint32_t param_block = 0;  ///< entry: bytes of the kernel's parameters
  /// Formals and results, then every `.param` variable that the body declares: frame of a device function, whose first
  /// bytes the caller fills. Of an entry, the first `param_block` bytes are the kernel's parameters.
  std::uint32_t param_frame = 0;
  std::uint32_t local_frame = 0, local_align = 1;  ///< bytes of `.local` per thread, and their alignment
  std::vector<Register> registers;
  std::vector<Instruction> code;
  std::vector<Operand> elements;  ///< of vector operands
  std::vector<Call> calls;
  std::vector<std::vector<std::uint32_t>> branch_tables;  ///< instruction indices
  std::vector<std::string> spellings;                     ///< opcodes with modifiers as written, for messages
  std::array<std::uint32_t, 3> max_threads{};             ///< .maxntid / .reqntid; 0: not given
  bool exact_threads = false;                             ///< .reqntid: no other block than max_threads
  std::uint32_t min_ctas = 0, max_registers = 0;          ///< .minnctapersm, .maxnreg; 0: not given
  std::array<std::uint32_t, 3> cluster{};                 ///< .reqnctapercluster; 0: the launch says
  /// Entries: shared memory that the kernel and everything it may call uses (`.extern` arrays start at shared_bytes).
  std::vector<SharedSlot> shared;
  std::uint32_t shared_bytes = 0;  ///< static part, rounded up to the alignment of the extern arrays
  const std::string& spelling(const Instruction& i) const { return spellings[i.spelling]; }
};

/// Replace `size` bytes of an initialiser at `offset` by an address.
struct Relocation {
  std::uint32_t offset = 0, size = 8;
  bool function = false;  ///< index: Module::functions, else Module::variables
  bool generic = false;   ///< generic(x): the generic address, not the one in x's own space
  std::uint32_t index = 0;
  std::int64_t addend = 0;
};

/// `.global`, `.const` or `.shared`, of the module or declared in a function body (then the name is that of the text).
struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::b8;
  std::uint32_t align = 1;
  std::uint64_t size = 0;       ///< bytes; 0: unsized extern array
  std::uint32_t owner = kNone;  ///< function that declares it
  bool external = false, weak = false, visible = false, common = false, managed = false;
  std::uint32_t line = 0;
  std::vector<std::uint8_t> init;  ///< first bytes; the rest is zero
  std::vector<Relocation> relocations;
};

struct Module {
  std::string name;  ///< as in messages
  LineTable lines;
  unsigned version = 0;             ///< 90 for .version 9.0
  unsigned target = 0;              ///< 75 for sm_75
  char target_suffix = 0;           ///< a or f of sm_90a, sm_100f
  std::vector<Function> functions;  ///< entries and device functions, in the order of the text
  std::vector<Variable> variables;
  std::uint32_t find_function(const std::string& function) const;  ///< index or kNone
  std::uint32_t find_variable(const std::string& variable) const;  ///< of the module's scope: index or kNone
};

}  // namespace atl::ptx
