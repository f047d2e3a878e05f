#pragma once
#include <vector>

#include "inputs/ptx/exec_code.hpp"
#include "inputs/ptx/record_timeline.hpp"

namespace atl::ptx {

/// RecordInfo of every instruction of an image, by its id. Registers of all functions are numbered in one row.
struct RecordTable {
  std::vector<RecordInfo> infos;
  std::vector<std::uint32_t> registers;
  std::size_t register_count = 0;
};

RecordTable make_record_table(const exec::Image& image);

}  // namespace atl::ptx
