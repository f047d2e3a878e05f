#pragma once
#include <cstdint>
#include <vector>

#include "inputs/ptx/exec_code.hpp"
#include "inputs/workload/workload.hpp"

namespace atl::ptx {

/// What the recorder must know of an instruction, worked out once per kernel.
struct RecordInfo {
  enum Kind : std::uint8_t {
    compute,
    free,
    barrier,
    load,
    store,
    atomic,
    copy,       ///< cp.async
    bulk_load,  ///< of as many bytes as the lanes' registers say
    bulk_store,
    bulk_reduce,
    bulk_prefetch,
    phase_wait,   ///< at an mbarrier: for all copies of the warp
    copy_commit,  ///< closes a group of copies
    copy_wait,    ///< for all groups but the newest `outstanding`; copies that no group holds are not waited for
    copy_wait_all,
  };
  Kind kind = compute;
  std::uint8_t flags = 0;     ///< OpFlags
  std::uint16_t issue = 1;    ///< issue slots
  std::uint16_t latency = 4;  ///< cycles until a dependent instruction may issue
  std::uint16_t width = 0;    ///< bytes per lane
  std::uint16_t outstanding = 0;
  std::uint8_t pieces = 1;  ///< addresses of each lane, one after all lanes' others; copies: source and destination;
                            ///< bulk ones: address and bytes
  std::uint32_t first = 0;  ///< in RecordTable::registers: sources, then results
  std::uint16_t sources = 0, results = 0;
  bool some_lanes = false;  ///< those of others have kReadsNothing for an address
  bool accesses() const { return kind >= load && kind <= phase_wait; }
};

/// RecordInfo of every instruction of an image, by its id. Registers of all functions are numbered in one row.
struct RecordTable {
  std::vector<RecordInfo> infos;
  std::vector<std::uint32_t> registers;
  std::size_t register_count = 0;
};

/// `textures_hold`: LaunchSpec::textures_hold.
RecordTable make_record_table(const exec::Image& image, bool textures_hold = true);

}  // namespace atl::ptx
