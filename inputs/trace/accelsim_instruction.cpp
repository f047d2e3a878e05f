#include "inputs/trace/accelsim_instruction.hpp"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/engine/whole_number.hpp"
#include "inputs/trace/trace_format.hpp"

namespace atl::accelsim {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

/// Registers whose dependences are followed (R, UR), and others that instructions name: predicates, barriers of branches,
/// scoreboards. Anything else is a damaged line, whose dependence would be lost.
std::uint16_t parse_register(Scanner& line) {
  const std::string_view token = line.token();
  if (token == "RZ" || token == "URZ" || token == "PT" || token == "UPT") return kNoRegister;
  const std::string_view file(token.begin(), std::ranges::find_if(token, digit));
  const bool uniform = file == "UR", tracked = uniform || file == "R";
  if (!tracked && file != "P" && file != "UP" && file != "B" && file != "SB") line.fail("a register", token);
  const auto number = whole_number<std::uint8_t>(token.substr(file.size()));
  if (!number) line.fail("a register", token);
  if (!tracked) return kNoRegister;
  if (uniform) return *number >= 63 ? kNoRegister : static_cast<std::uint16_t>(256 + *number);
  return *number == 255 ? kNoRegister : *number;
}

void check_end(const Scanner& line, std::uint64_t address, std::uint64_t bytes) {
  if (address >= trace_format::kAddressEnd || bytes > trace_format::kAddressEnd - address)
    line.lines().fail(fmt::format("an access of {} bytes at {:#x} that does not end below 2^63", bytes, address));
}

void parse_strided(Scanner& line, SassInstruction& out) {
  std::uint64_t address = line.hex("a base address");
  const std::int64_t stride = line.difference("a stride");
  if (out.mask == 0) return;
  const std::uint32_t run = out.mask >> std::countr_zero(out.mask);
  if (run & (run + 1)) line.lines().fail("expected consecutive active lanes with a base and a stride (mode 1)");
  for (unsigned i = 0; i < out.lanes; ++i, address += static_cast<std::uint64_t>(stride)) out.address[i] = address;
}

void parse_addresses(Scanner& line, SassInstruction& out) {
  out.lanes = static_cast<unsigned>(std::popcount(out.mask));
  switch (line.one_of("an address mode (0, 1 or 2)", 4)) {
    case 0:
      for (unsigned i = 0; i < out.lanes; ++i) out.address[i] = line.hex("one address per active lane");
      if (Scanner(line).token().starts_with("0x"))  // immediates are decimal
        line.lines().fail(fmt::format("expected {} addresses, one per active lane, found more", out.lanes));
      break;
    case 1:
      parse_strided(line, out);
      break;
    case 2: {
      std::uint64_t address = line.hex("a base address");
      for (unsigned i = 0; i < out.lanes; ++i) {
        if (i > 0) address += static_cast<std::uint64_t>(line.difference("one address difference per further active lane"));
        out.address[i] = address;
      }
      break;
    }
    default:
      line.lines().fail("address modes 3 and 4 are for bulk accesses (TMA)");
  }
  for (unsigned i = 0; i < out.lanes; ++i) check_end(line, out.address[i], out.opcode->width);
}

/// The pieces of a bulk access (TMA), behind the bytes of a piece: `barrier multicast [CTAs] bytes outside mode ...`; the
/// first tracers with such accesses wrote `mode ...` only. Barriers are aligned to 8 bytes, and so no mode.
void parse_bulk(Scanner& line, std::string_view name, std::uint64_t piece, SassInstruction& out) {
  constexpr unsigned kMostPieces = 1u << 16, kLargestPiece = 1u << 16;
  if (piece > kLargestPiece) line.refuse(name, "moves pieces of more than 64 KiB");
  out.piece_bytes = static_cast<std::uint32_t>(piece);
  Scanner ahead = line;
  const std::string_view first = ahead.token();
  std::uint64_t bytes = 0, outside = 0;
  const bool described = first != "3" && first != "4";
  if (described) {
    line.hex("the address of a barrier in shared memory");
    if (line.count("whether it is a multicast", 1) != 0) line.hex("the CTAs of a multicast");
    bytes = line.decimal("the bytes of a bulk access");
    outside = line.decimal("the bytes outside of the tensor");
  }
  const unsigned mode = line.one_of("an address mode (3 or 4) of a bulk access", 4);
  if (mode < 3) line.lines().fail("expected an address mode of 3 or 4 for a bulk access, found " + std::to_string(mode));
  std::uint64_t address = mode == 4 ? line.hex("a base address") : 0;
  const unsigned count = line.count("a number of addresses", kMostPieces);
  for (unsigned i = 0; i < count; ++i) {
    if (mode == 3)
      address = line.hex("one address per piece");
    else if (i > 0)
      address += static_cast<std::uint64_t>(line.difference("one address difference per further piece"));
    check_end(line, address, piece);
    out.pieces.push_back(address);
  }
  const std::uint64_t held = std::uint64_t{count} * piece;
  if (out.mask != 0 && (count == 0 ? bytes > outside : described && held != bytes && held + outside != bytes))
    line.refuse(name, "moves more or fewer bytes than its addresses cover; which sectors these are is not in the trace");
}

}  // namespace

void parse_instruction(Scanner& line, const LineFormat& format, OpcodeTable& opcodes, SassInstruction& out) {
  if (format.ids)
    for (const char* what : {"the thread block's x", "the thread block's y", "the thread block's z", "the warp"})
      line.decimal(what);
  if (format.source_line) line.decimal("a source line number");
  line.hex("a program counter");
  const std::uint64_t mask = line.hex("an active mask");
  if (mask >> 32) line.lines().fail("expected an active mask of 32 bits");
  out.mask = static_cast<std::uint32_t>(mask);

  out.destinations = line.count("the number of destination registers", SassInstruction::kMaxRegisters);
  for (unsigned i = 0; i < out.destinations; ++i) out.destination[i] = parse_register(line);
  const std::string_view name = line.token();
  if (name.empty() || name[0] < 'A' || name[0] > 'Z') line.fail("an opcode", name);
  out.name = name;
  out.opcode = &opcodes.find(name);
  out.sources = line.count("the number of source registers", SassInstruction::kMaxRegisters);
  for (unsigned i = 0; i < out.sources; ++i) out.source[i] = parse_register(line);

  if (format.groups && name.find("GMMA") != std::string_view::npos) line.count("whether it closes a group", 1);
  out.lanes = 0;
  out.pieces.clear();
  const bool bulk = out.opcode->action >= Action::bulk_load && out.opcode->action <= Action::bulk_prefetch;
  if (const std::uint64_t width = line.decimal("a memory width"); width > 0) {
    bulk ? parse_bulk(line, name, width, out) : parse_addresses(line, out);
  } else if (out.mask != 0 && (bulk || (out.opcode->action >= Action::load && out.opcode->action <= Action::async_copy))) {
    line.refuse(name, "accesses memory, but the line has no addresses");
  }
  // What follows (a second immediate, register values) has no use here; whether it is well-formed does not matter.
  out.immediate = whole_number<std::int64_t>(line.token());
}

}  // namespace atl::accelsim
