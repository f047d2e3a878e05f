#include "inputs/trace/accelsim_opcodes.hpp"

#include <array>
#include <charconv>

namespace atl::accelsim {
namespace {

// Latencies are those that Accel-Sim publishes for its opcode classes (its -trace_opcode_latency_initiation_* options:
// int 4, sp 4, dp 64, sfu 21, tensor 32, branch 4, uniform 4, texture 200). The initiation intervals that go with them
// (2, 2, 64, 8, 32, 4, 2, 4) describe contention between warps for a unit: it is not modelled, every instruction takes
// one issue slot. Of tensor instructions they space those of one warp.
enum Unit : std::uint8_t { kInteger = 4, kConstant = 8, kSfu = 21, kTensor = 32, kFp64 = 64, kTexture = 200 };
constexpr unsigned kAccelSimPipeline = 6;

struct Entry {
  std::string_view name;
  Action action;
  std::uint8_t latency;
};

// Only what differs from a 4-cycle compute instruction (integer, fp32, fp16, moves, conversions, predicates, uniform
// data path, branches, special registers) is listed, and what is one although tracers write its address; an opcode of a
// future architecture is taken for one of those.
constexpr std::array kEntries = {
    Entry{"LDG", Action::load, 0},
    Entry{"LD", Action::load, 0},
    Entry{"LDL", Action::load, 0},
    Entry{"STG", Action::store, 0},
    Entry{"ST", Action::store, 0},
    Entry{"STL", Action::store, 0},
    Entry{"ATOM", Action::atomic, 0},
    Entry{"ATOMG", Action::atomic, 0},
    Entry{"RED", Action::atomic, 0},
    Entry{"REDG", Action::atomic, 0},
    Entry{"LDS", Action::shared_load, 0},
    Entry{"LDSM", Action::shared_load, 0},
    Entry{"ATOMS", Action::shared_load, 0},
    Entry{"STS", Action::shared_store, 0},
    Entry{"STSM", Action::shared_store, 0},
    Entry{"LDGSTS", Action::async_copy, 0},
    Entry{"BAR", Action::barrier, 4},
    Entry{"EXIT", Action::exit, 4},
    Entry{"DEPBAR", Action::async_wait, 4},
    Entry{"LDGDEPBAR", Action::async_commit, 4},
    Entry{"LDC", Action::compute, kConstant},
    Entry{"ULDC", Action::compute, kConstant},
    Entry{"LDCU", Action::compute, kConstant},
    Entry{"MUFU", Action::compute, kSfu},
    Entry{"DADD", Action::compute, kFp64},
    Entry{"DFMA", Action::compute, kFp64},
    Entry{"DMUL", Action::compute, kFp64},
    Entry{"DSETP", Action::compute, kFp64},
    Entry{"DMNMX", Action::compute, kFp64},
    Entry{"DSET", Action::compute, kFp64},
    Entry{"HMMA", Action::compute, kTensor},
    Entry{"IMMA", Action::compute, kTensor},
    Entry{"BMMA", Action::compute, kTensor},
    Entry{"DMMA", Action::compute, kTensor},
    Entry{"QMMA", Action::compute, kTensor},
    Entry{"HGMMA", Action::compute, kTensor},
    Entry{"IGMMA", Action::compute, kTensor},
    Entry{"QGMMA", Action::compute, kTensor},
    Entry{"BGMMA", Action::compute, kTensor},
    Entry{"TEX", Action::compute, kTexture},
    Entry{"TLD", Action::compute, kTexture},
    Entry{"TLD4", Action::compute, kTexture},
    // Pascal's short forms of the three.
    Entry{"TEXS", Action::compute, kTexture},
    Entry{"TLDS", Action::compute, kTexture},
    Entry{"TLD4S", Action::compute, kTexture},
    Entry{"TMML", Action::compute, kTexture},
    Entry{"TXD", Action::compute, kTexture},
    Entry{"TXQ", Action::compute, kTexture},
    Entry{"UTMALDG", Action::bulk_load, 0},
    Entry{"UTMASTG", Action::bulk_store, 0},
    Entry{"UTMAPF", Action::bulk_prefetch, 0},
    Entry{"UTMAREDG", Action::bulk_reduce, 0},
    Entry{"UBLKCP", Action::bulk_load, 0},
    Entry{"UBLKPF", Action::bulk_prefetch, 0},
    Entry{"UBLKRED", Action::bulk_reduce, 0},
    Entry{"STAS", Action::shared_store, 0},
    Entry{"UCGABAR_WAIT", Action::barrier, 4},
    // No data are accessed there: control of caches, questions about an address, mbarriers in shared memory.
    Entry{"CCTL", Action::compute, kInteger},
    Entry{"CCTLL", Action::compute, kInteger},
    Entry{"CCTLT", Action::compute, kInteger},
    Entry{"UTMACCTL", Action::compute, kInteger},
    Entry{"QSPC", Action::compute, kInteger},
    Entry{"SYNCS", Action::compute, kInteger},
    Entry{"ARRIVES", Action::compute, kInteger},
};

/// Takes the part up to the next dot off the front.
std::string_view take_part(std::string_view& rest) {
  const std::size_t dot = rest.find('.');
  const std::string_view part = rest.substr(0, dot);
  rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
  return part;
}

/// The bytes that a suffix such as 64, U8, S16 or F64 stands for; 0 for any other suffix.
unsigned bytes_of(std::string_view part) {
  if (part.starts_with('U') || part.starts_with('S') || part.starts_with('F')) part.remove_prefix(1);
  if (part == "8") return 1;
  if (part == "16") return 2;
  if (part == "32") return 4;
  if (part == "64") return 8;
  if (part == "128") return 16;
  if (part == "256") return 32;
  return 0;
}

/// What Accel-Sim publishes for the tensor cores of each architecture (-trace_opcode_latency_initiation_spec_op_3 of its
/// TITAN V, RTX 2060, A100 and RTX 3070; sm_90 as A100, whose warp-wide instructions it keeps).
void decode_tensor(unsigned architecture, OpcodeInfo& info) {
  info.latency = kTensor, info.interval = 32;
  if (architecture >= 70 && architecture < 75) info.latency = 8, info.interval = 4;
  if (architecture == 75) info.latency = 16, info.interval = 16;
  if (architecture == 80 || architecture >= 90) info.latency = 12, info.interval = 8;
  info.result_registers = 4;
}

/// HGMMA.64x128x16.F32: a warpgroup multiplies 64 by N. From N = 64 on N / 2 cycles, as in Accel-Sim 2.0; below, a latency
/// that no longer halves (ours). Each thread has N / 2 results.
void decode_warpgroup(std::string_view shape, OpcodeInfo& info) {
  const std::size_t first = shape.find('x'), second = shape.find('x', first + 1);
  if (first == std::string_view::npos || second == std::string_view::npos) return;
  unsigned n = 0;
  std::from_chars(shape.data() + first + 1, shape.data() + second, n);
  if (n < 8 || n > 256) return;
  info.latency = static_cast<std::uint8_t>(n >= 64 ? n / 2 : 16 + n / 4);
  info.interval = static_cast<std::uint8_t>(n / 2);
  info.result_registers = static_cast<std::uint8_t>(n / 2);
}

/// UBLKCP.S.G copies to shared from global memory, UBLKCP.G.S the other way; .S.S stays inside the SMs.
void decode_bulk_copy(std::string_view rest, OpcodeInfo& info) {
  std::string_view to, from;
  while (!rest.empty()) {
    const std::string_view part = take_part(rest);
    if (part == "S" || part == "G") (to.empty() ? to : from) = part;
  }
  if (to == "G") info.action = Action::bulk_store;
  if (to == "S" && from == "S") info.action = Action::compute, info.latency = kInteger;
}

void decode_matrix(std::string_view rest, OpcodeInfo& info) {
  // LDSM.16.M88.4: four 8x8 matrices of 16-bit elements; lanes 8 i .. 8 i + 7 carry the 16-byte rows of matrix i.
  unsigned matrices = 1;
  while (!rest.empty()) {
    const std::string_view part = take_part(rest);
    if (part == "2" || part == "4") matrices = static_cast<unsigned>(part[0] - '0');
  }
  info.width = 16;
  info.lanes = static_cast<std::uint8_t>(8 * matrices);
  info.result_registers = static_cast<std::uint8_t>(matrices);
}

}  // namespace

static OpcodeInfo decode_published(std::string_view opcode, unsigned architecture) {
  std::string_view rest = opcode;
  const std::string_view base = take_part(rest);
  OpcodeInfo info;
  for (const Entry& entry : kEntries)
    if (entry.name == base) info.action = entry.action, info.latency = entry.latency, info.known = true;
  info.local = base == "LDL" || base == "STL";
  info.generic = base == "LD" || base == "ST" || base == "ATOM";
  if (base == "LDSM" || base == "STSM") {
    decode_matrix(rest, info);
    return info;
  }
  if (base == "UBLKCP") {
    decode_bulk_copy(rest, info);
    return info;
  }
  if (base == "SYNCS" && rest.starts_with("PHASECHK")) info.action = Action::bulk_wait;
  if (info.action == Action::compute && info.latency == kTensor) {
    decode_tensor(architecture, info);
    if (base.ends_with("GMMA")) decode_warpgroup(take_part(rest), info);
    return info;
  }
  if (base == "BAR" && rest.starts_with("ARV")) info.action = Action::compute;  // arrives and goes on

  bool strong = false, pair = info.latency == kFp64, sized = false;
  while (!rest.empty()) {
    const std::string_view part = take_part(rest);
    if (const unsigned bytes = bytes_of(part); bytes && !sized) info.width = static_cast<std::uint8_t>(bytes), sized = true;
    if (part == "E") info.wide_address = true;
    if (part == "WIDE" || part == "64") pair = true;
    if (part == "CONSTANT" || part == "CI") info.flags |= kReadOnly;
    if (part == "STRONG") strong = true;
    if ((strong && (part == "GPU" || part == "SYS")) || part == "BYPASS" || part == "CG" || part == "CV")
      info.flags |= kBypassL1;
  }
  if (info.action == Action::compute)
    info.result_registers = pair ? 2 : 1;
  else
    info.result_registers = info.width > 4 ? info.width / 4 : 1;
  return info;
}

OpcodeInfo decode_opcode(std::string_view opcode, unsigned architecture, Latencies latencies) {
  OpcodeInfo info = decode_published(opcode, architecture);
  if (latencies == Latencies::accel_sim) {
    const std::string_view base = opcode.substr(0, opcode.find('.'));
    // Accel-Sim's are integer operations.
    if (base == "LDC" || base == "ULDC" || base == "LDCU") info.latency = kInteger;
    info.latency = static_cast<std::uint8_t>(info.latency + kAccelSimPipeline);
  }
  return info;
}

const OpcodeInfo& OpcodeTable::find(std::string_view opcode) {
  if (const auto known = known_.find(opcode); known != known_.end()) return known->second;
  return known_.emplace(std::string(opcode), decode_opcode(opcode, architecture_, latencies_)).first->second;
}

}  // namespace atl::accelsim
