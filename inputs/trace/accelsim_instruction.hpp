#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "inputs/trace/accelsim_opcodes.hpp"
#include "inputs/trace/accelsim_scanner.hpp"

namespace atl::accelsim {

/// Registers as one space: R0..R255, then UR0..UR63. The zero registers and predicates are kNoRegister.
inline constexpr unsigned kRegisters = 256 + 64;
inline constexpr std::uint16_t kNoRegister = 0xFFFF;

/// The memory that an access goes to.
enum class Space : std::uint8_t { shared, local, global };

/// One line of a warp's trace.
struct SassInstruction {
  static constexpr unsigned kMaxRegisters = 8;
  const OpcodeInfo* opcode = nullptr;
  std::string_view name;   ///< of the opcode, with its suffixes; as long as the line is there
  std::uint32_t mask = 0;  ///< active lanes
  unsigned destinations = 0, sources = 0, lanes = 0;
  std::uint16_t destination[kMaxRegisters] = {}, source[kMaxRegisters] = {};
  std::uint64_t address[32] = {};     ///< of the active lanes, in lane order; `lanes` of them
  std::vector<std::uint64_t> pieces;  ///< of a bulk access: addresses, each of `piece_bytes`
  std::uint32_t piece_bytes = 0;
  Space space = Space::global;            ///< local: the addresses are offsets in the threads' local memory
  std::optional<std::int64_t> immediate;  ///< the first one, where the tracer writes them
};

/// What differs between the versions of the tracer, as far as an instruction line is concerned.
struct LineFormat {
  bool ids = false;          ///< versions below 3: thread block and warp on every line
  bool source_line = false;  ///< "enable lineinfo": the CUDA source line
  bool groups = false;       ///< version 6: instructions of warpgroups say whether they close a group
};

/// Reads `line` into `out`; throws InputError at its file and line.
void parse_instruction(Scanner& line, const LineFormat& format, OpcodeTable& opcodes, SassInstruction& out);

}  // namespace atl::accelsim
