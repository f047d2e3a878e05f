#include "inputs/trace/accelsim_kernel.hpp"

#include <algorithm>
#include <bit>
#include <ranges>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/engine/printable.hpp"
#include "core/engine/whole_number.hpp"

namespace atl::accelsim {
namespace {

constexpr std::uint64_t kGenericWindow = 4 * kLocalRows;  // of shared memory, and of a thread's local memory

/// `base` 0: there is no such window.
bool in_window(std::uint64_t address, std::uint64_t base) {
  return base != 0 && address >= base && address - base < kGenericWindow;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// An opcode without its suffixes. In a damaged file it may be anything, which messages and results are not to repeat.
std::string_view base_of(std::string_view opcode) {
  return opcode.substr(0, opcode.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")).substr(0, 16);
}

/// Splits `key = value`. False if there is no `=`.
bool split(std::string_view line, std::string_view& key, std::string_view& value) {
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return false;
  key = trim(line.substr(0, equals));
  value = trim(line.substr(equals + 1));
  return true;
}

template <typename T> T number(const LineReader& lines, std::string_view text, const std::string& what, int base = 10) {
  if (base == 16 && (text.starts_with("0x") || text.starts_with("0X"))) text.remove_prefix(2);
  const auto value = whole_number<T>(text, base);
  if (!value) lines.fail("expected " + what + ", found '" + std::string(text) + "'");
  return *value;
}

/// `x,y,z`, with or without parentheses.
void triple(const LineReader& lines, std::string_view text, const std::string& what, std::uint32_t (&out)[3]) {
  std::string_view rest = text;
  if (rest.starts_with('(') && rest.ends_with(')')) rest = rest.substr(1, rest.size() - 2);
  for (unsigned i = 0; i < 3; ++i) {
    const std::size_t comma = rest.find(',');
    if ((comma == std::string_view::npos) != (i == 2))
      lines.fail("expected " + what + " as x,y,z, found '" + std::string(text) + "'");
    out[i] = number<std::uint32_t>(lines, trim(rest.substr(0, comma)), what + " as x,y,z");
    if (i < 2) rest.remove_prefix(comma + 1);
  }
}

}  // namespace

KernelFile::KernelFile(const std::string& path, Latencies latencies) : lines_(path) {
  const std::set<std::string, std::less<>> keys = read_header();
  const unsigned version = header_.tracer_version;
  if (version < 1 || version > 6)
    lines_.fail("tracer version " + std::to_string(version) + " is not supported (1 to 6 are)");
  if (header_.info.ctas() == 0 || header_.info.threads() == 0)
    lines_.fail("expected '-grid dim' and '-block dim' above 0 in the header");
  if (header_.info.threads() > 1024)
    lines_.fail("expected at most 1024 threads in a block, found " + std::to_string(header_.info.threads()));
  if (!header_.info.launchable()) lines_.fail("the grid or the block is larger than any that a GPU accepts");
  // Every tracer writes these, and without them more CTAs fit than did.
  for (const char* key : {"nregs", "shmem"})
    if (!keys.contains(key)) lines_.fail("the header has no '-" + std::string(key) + " = N': is it misspelt?");
  windows_ = keys.contains("shmem base_addr") && keys.contains("local mem base_addr");
  format_ = {version < 3, header_.source_lines, version >= 6};
  opcodes_ = OpcodeTable(header_.architecture, latencies);
}

std::set<std::string, std::less<>> KernelFile::read_header() {
  header_.info.grid[0] = header_.info.block[0] = 0;  // so that a header without them is noticed
  std::string_view line;
  std::set<std::string, std::less<>> seen;
  while (lines_.next(line)) {
    if (line.starts_with('#')) return seen;  // the format line: what follows is fixed by the tracer's version
    if (trim(line).empty()) continue;
    if (!line.starts_with('-'))
      lines_.fail("expected a header line '-key = value', found '" + std::string(line.substr(0, 40)) + "'");
    read_header_line(line.substr(1), seen);
  }
  lines_.fail("the file ends within the header");
}

void KernelFile::read_header_line(std::string_view line, std::set<std::string, std::less<>>& seen) {
  std::string_view key, value;
  if (!split(line, key, value))
    lines_.fail("expected a header line '-key = value', found '-" + std::string(line.substr(0, 40)) + "'");
  if (!seen.emplace(key).second) lines_.fail("'-" + std::string(key) + "' is in the header twice");
  if (key == "kernel name") {
    if (!printable(value)) lines_.fail("the kernel's name has signs that do not print");
    header_.info.name = std::string(value);
  } else if (key == "grid dim")
    triple(lines_, value, "the grid dimensions", header_.info.grid);
  else if (key == "block dim")
    triple(lines_, value, "the block dimensions", header_.info.block);
  else if (key == "shmem")
    header_.info.shared_bytes = number<std::uint32_t>(lines_, value, "bytes of shared memory");
  else if (key == "nregs")
    header_.info.registers_per_thread = number<std::uint32_t>(lines_, value, "a number of registers");
  else if (key == "shmem base_addr")
    header_.shared_base = number<std::uint64_t>(lines_, value, "a hexadecimal address", 16);
  else if (key == "local mem base_addr")
    header_.local_base = number<std::uint64_t>(lines_, value, "a hexadecimal address", 16);
  else if (key == "binary version")
    header_.architecture = number<unsigned>(lines_, value, "the version of a binary");
  else if (key == "enable lineinfo")
    header_.source_lines = number<std::uint32_t>(lines_, value, "0 or 1") != 0;
  else if (key == "accelsim tracer version")
    header_.tracer_version = number<unsigned>(lines_, value.substr(0, value.find('.')), "a tracer version");
  // Other keys (kernel id, stream, nvbit version, ...) say nothing about how the kernel runs.
}

bool KernelFile::next_text(std::string_view& line) {
  while (lines_.next(line))
    if (!trim(line).empty()) return true;
  return false;
}

std::uint64_t KernelFile::read_block_id(std::string_view line) const {
  std::string_view key, value;
  std::uint32_t id[3];
  if (!split(line, key, value) || key != "thread block")
    lines_.fail("expected 'thread block = x,y,z', found '" + std::string(line.substr(0, 40)) + "'");
  triple(lines_, value, "a thread block", id);
  const std::uint32_t(&grid)[3] = header_.info.grid;
  for (unsigned i = 0; i < 3; ++i)
    if (id[i] >= grid[i]) lines_.fail("thread block " + std::string(value) + " is outside the grid");
  return (std::uint64_t{id[2]} * grid[1] + id[1]) * grid[0] + id[0];
}

/// Where an address of this instruction lies. Those of LDL and STL are offsets already, or absolute.
Space KernelFile::space_of(std::uint64_t address) const {
  const OpcodeInfo& opcode = *instruction_.opcode;
  if (opcode.local || (opcode.generic && in_window(address, header_.local_base))) return Space::local;
  const bool copy = opcode.action == Action::async_copy;
  if ((opcode.generic || copy) && in_window(address, header_.shared_base)) return Space::shared;
  // A tracer that records both sides of an asynchronous copy has a second line with the shared-memory side.
  return copy && address < kGenericWindow ? Space::shared : Space::global;
}

/// Turns the addresses of an access to local memory into offsets in the threads' windows.
void KernelFile::find_offsets() {
  SassInstruction& i = instruction_;
  if (i.opcode->action == Action::atomic)
    lines_.fail(fmt::format("an atomic of lane {} in local memory, which has none; is 'local mem base_addr' right?",
                            std::countr_zero(i.mask)));
  for (unsigned lane = 0; lane < i.lanes; ++lane) {
    std::uint64_t& address = i.address[lane];
    if (in_window(address, header_.local_base)) address -= header_.local_base;
    if (address > kGenericWindow - i.opcode->width)
      lines_.fail("an address of local memory that lies outside the 16 MiB of a thread, from 'local mem base_addr' on");
  }
}

void KernelFile::add_instruction(bool last) {
  SassInstruction& i = instruction_;
  const auto elsewhere = [&](std::uint64_t address) { return space_of(address) != i.space; };
  if (i.lanes > 0 && !windows_ && (i.opcode->generic || i.opcode->action == Action::async_copy))
    lines_.fail(
        fmt::format("{} may access shared or local memory, but the header does not say where they lie: it has no "
                    "'-shmem base_addr = ADDRESS' or no '-local mem base_addr = ADDRESS'; is it misspelt?",
                    base_of(i.name)));
  i.space = i.lanes > 0 ? space_of(i.address[0]) : Space::global;
  if (i.opcode->generic && std::any_of(i.address, i.address + i.lanes, elsewhere)) return add_parts();
  if (i.space == Space::local) find_offsets();
  converter_.add(i, last);
}

/// Lanes of a generic access may lie in several spaces: an access to each. Who needs the result waits for the last one,
/// to the memory that usually takes longest.
void KernelFile::add_parts() {
  const SassInstruction whole = instruction_;
  SassInstruction& part = instruction_;
  unsigned left = whole.lanes;
  for (const Space space : {Space::shared, Space::local, Space::global}) {
    part.space = space, part.mask = 0, part.lanes = 0;
    std::uint32_t lanes = whole.mask;
    for (unsigned at = 0; at < whole.lanes; ++at, lanes &= lanes - 1) {
      if (space_of(whole.address[at]) != space) continue;
      part.mask |= lanes & -lanes;
      part.address[part.lanes++] = whole.address[at];
    }
    if (part.lanes == 0) continue;
    left -= part.lanes;
    part.destinations = left == 0 ? whole.destinations : 0;
    if (space == Space::local) find_offsets();
    converter_.add(part, false);
  }
}

void KernelFile::look_at_instruction() {
  const SassInstruction& i = instruction_;
  constexpr unsigned kTraced = 4;
  if (i.sources > kTraced) ++findings_.sources;
  const std::uint32_t most = header_.info.registers_per_thread;
  const auto beyond = [most](std::uint16_t r) { return r < 256 && r >= most; };
  if (most != 0 && (std::any_of(i.source, i.source + i.sources, beyond) ||
                    std::any_of(i.destination, i.destination + i.destinations, beyond)))
    ++findings_.beyond;
  if (i.lanes > 0 && !i.opcode->known) ++lost_, lost_opcodes_.emplace(base_of(i.name));
}

std::string KernelFile::incomplete() const {
  constexpr std::size_t kShown = 4;
  std::string out = findings_.text();
  if (lost_ == 0) return out;
  if (!out.empty()) out += "; ";
  out += fmt::format("{} of {}", lost_ == 1 ? "1 instruction" : fmt::format("{} instructions", lost_),
                     fmt::join(lost_opcodes_ | std::views::take(kShown), ", "));
  if (lost_opcodes_.size() > kShown) out += fmt::format(" and {} more", lost_opcodes_.size() - kShown);
  return out + (lost_ == 1 ? " has addresses and is taken for compute" : " have addresses and are taken for compute");
}

void KernelFile::read_warp(std::string_view line, CtaProgram& out) {
  std::string_view key, value;
  split(line, key, value);
  const auto warp = number<std::uint32_t>(lines_, value, "a warp number");
  if (warp >= seen_warps_.size())
    lines_.fail("warp " + std::to_string(warp) + " is outside the block, which has " + std::to_string(seen_warps_.size()));
  if (seen_warps_[warp]) lines_.fail("warp " + std::to_string(warp) + " a second time in this thread block");
  seen_warps_[warp] = true;
  if (!next_text(line) || !split(line, key, value) || key != "insts")
    lines_.fail("expected 'insts = <count>' after the warp's number");
  const auto count = number<std::uint32_t>(lines_, value, "a number of instructions");
  converter_.begin_warp();
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto short_of = [&] {
      return "expected " + std::to_string(count) + " instructions of warp " + std::to_string(warp) + ", found " +
             std::to_string(i);
    };
    if (!next_text(line)) lines_.fail(short_of() + " and the end of the file");
    if (line.front() == '#' || line.front() == 'w' || line.front() == 't') lines_.fail(short_of());
    Scanner scanner(lines_, line);
    parse_instruction(scanner, format_, opcodes_, instruction_);
    look_at_instruction();
    add_instruction(i + 1 == count);
  }
  out.warps[warp] = converter_.end_warp(out);
}

bool KernelFile::next_cta(std::uint64_t& cta, CtaProgram& out) {
  out.clear();
  std::string_view line;
  do {
    if (!next_text(line)) return false;
  } while (line.starts_with('#') && !line.starts_with("#BEGIN_TB") && !line.starts_with("#END_TB"));  // further comments
  if (!line.starts_with("#BEGIN_TB")) lines_.fail("expected #BEGIN_TB, found '" + std::string(line.substr(0, 40)) + "'");
  if (!next_text(line)) lines_.fail("the file ends within a thread block");
  cta = read_block_id(line);
  seen_warps_.assign(header_.info.warps(), false);
  out.warps.resize(header_.info.warps());
  for (;;) {
    if (!next_text(line)) lines_.fail("the file ends within a thread block; expected a warp or #END_TB");
    if (line.starts_with("#END_TB")) break;
    if (line.starts_with("cluster")) continue;  // Hopper's clusters of thread blocks: not modelled
    if (!line.starts_with("warp"))
      lines_.fail("expected 'warp = <number>' or #END_TB, found '" + std::string(line.substr(0, 40)) + "'");
    read_warp(line, out);
  }
  std::uint64_t missing = 0;
  for (std::size_t w = 0; w < seen_warps_.size(); ++w)
    if (!seen_warps_[w]) {  // tracers write warps that execute nothing with no instructions
      converter_.begin_warp();
      out.warps[w] = converter_.end_warp(out);
      ++missing;
    }
  findings_.warps += missing, findings_.ctas += missing != 0;
  return true;
}

}  // namespace atl::accelsim
