#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "inputs/workload/workload.hpp"

namespace atl::accelsim {

/// What an opcode does to the memory system.
enum class Action : std::uint8_t {
  compute,
  load,          ///< LDG, LD, LDL
  store,         ///< STG, ST, STL
  atomic,        ///< ATOM, ATOMG, RED
  shared_load,   ///< LDS, LDSM, ATOMS: result in a register
  shared_store,  ///< STS
  async_copy,    ///< LDGSTS: global to shared, no register
  async_commit,  ///< LDGDEPBAR: closes a group of asynchronous copies
  async_wait,    ///< DEPBAR: waits until at most N groups are outstanding
  barrier,
  exit,
  bulk_load,      ///< TMA: UTMALDG, UBLKCP to shared memory
  bulk_store,     ///< UTMASTG, UBLKCP to global memory
  bulk_reduce,    ///< UTMAREDG, UBLKRED
  bulk_prefetch,  ///< UTMAPF, UBLKPF
  bulk_wait,      ///< SYNCS.PHASECHK: at an mbarrier
};

struct OpcodeInfo {
  Action action = Action::compute;
  std::uint8_t interval = 0;          ///< cycles before the warp's next instruction of the same unit (tensor)
  std::uint8_t latency = 4;           ///< cycles until a dependent instruction may issue (compute)
  std::uint8_t width = 4;             ///< bytes per lane (memory)
  std::uint8_t result_registers = 1;  ///< consecutive registers written; a store reads as many
  std::uint8_t flags = 0;             ///< OpFlags
  std::uint8_t lanes = 32;            ///< LDSM: lanes that carry row addresses
  bool local = false;                 ///< LDL, STL: addresses are offsets in the thread's window
  bool generic = false;               ///< LD, ST, ATOM: may go to shared or local memory
  bool wide_address = false;          ///< .E: the address is a register pair
  bool known = false;                 ///< false: taken for compute, whatever it may do; an address that it has is lost
};

/// After how many cycles an instruction may issue that needs a result of fixed latency.
enum class Latencies : std::uint8_t {
  gpu,        ///< after the published latency, which is what microbenchmarks see
  accel_sim,  ///< as in Accel-Sim, whose pipeline takes six cycles besides: three to collect operands, dispatch, write-back,
              ///< release
};

/// Opcodes with their suffixes (`LDG.E.128.CONSTANT`), each decoded once.
class OpcodeTable {
 public:
  /// `architecture`: the binary's version, 90 for sm_90; 0: not known.
  explicit OpcodeTable(unsigned architecture = 0, Latencies latencies = Latencies::gpu)
      : architecture_(architecture), latencies_(latencies) {}
  const OpcodeInfo& find(std::string_view opcode);

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  unsigned architecture_;
  Latencies latencies_;
  std::unordered_map<std::string, OpcodeInfo, Hash, std::equal_to<>> known_;
};

OpcodeInfo decode_opcode(std::string_view opcode, unsigned architecture = 0, Latencies latencies = Latencies::gpu);

}  // namespace atl::accelsim
