#pragma once
#include <cstdint>

#include "inputs/ptx/exec_code.hpp"

/// What a warp has suspended: lanes on other branches, and callers.
namespace atl::ptx::exec {

/// Lanes that run together until one of them reaches `reconverge`, the immediate post-dominator of the branch that
/// parted them from the lanes below on the stack.
struct Path {
  std::uint32_t pc = 0, reconverge = kNone, mask = 0;
  std::uint32_t members = 0;  ///< not 0: at pc is an instruction that waits for these lanes (exec_meeting.hpp)
  bool operator==(const Path&) const = default;
};

struct Frame {
  const Code* code = nullptr;
  const CallSite* site = nullptr;    ///< in the caller; null for the kernel
  std::uint32_t first_path = 0;      ///< suspended paths below are those of its callers
  std::uint32_t first_register = 0;  ///< byte in Warp::registers
  std::uint32_t first_local = 0;     ///< byte of local memory
  std::uint32_t mask = 0;            ///< lanes that called
  bool operator==(const Frame&) const = default;
};

}  // namespace atl::ptx::exec
