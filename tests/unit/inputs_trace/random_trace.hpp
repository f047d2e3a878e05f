#pragma once
#include <random>
#include <string>

#include "inputs/workload/workload.hpp"

namespace atl::test {

/// A CTA in the order in which the container stores it, so that what comes back must be equal byte by byte.
inline CtaProgram random_cta(std::mt19937_64& random, unsigned most_warps, unsigned most_ops) {
  const auto below = [&](std::uint64_t n) { return random() % n; };
  CtaProgram cta;
  const auto warps = below(most_warps + 1);
  for (std::uint64_t w = 0; w < warps; ++w) {
    const auto first = static_cast<std::uint32_t>(cta.ops.size());
    const auto count = below(4) == 0 ? 0 : static_cast<std::uint32_t>(below(most_ops + 1));
    for (std::uint32_t i = 0; i < count; ++i) {
      Op op;
      op.kind = i + 1 == count ? OpKind::exit : static_cast<OpKind>(below(6));
      op.wait = static_cast<std::uint32_t>(random());
      op.issue = static_cast<std::uint16_t>(has_issue_slots(op.kind) ? 1 + below(0xFFFF) : 1);
      op.latency = static_cast<std::uint16_t>(random());
      op.slot = !has_result(op.kind) || below(2) ? kNoSlot : static_cast<std::uint8_t>(below(32));
      op.flags = static_cast<std::uint8_t>(below(4));
      op.first_access = static_cast<std::uint32_t>(cta.accesses.size());
      op.accesses = static_cast<std::uint8_t>(!has_accesses(op.kind) || below(3) ? 0 : below(65));
      for (unsigned a = 0; a < op.accesses; ++a) {
        const std::uint64_t block =
            below(8) == 0 ? random() >> 8 : 0xffe0000000 + below(1 << 20);  // up to the largest there is
        cta.accesses.push_back({block << 8 | (1 + below(15))});
      }
      cta.ops.push_back(op);
    }
    cta.warps.push_back({first, count});
  }
  return cta;
}

inline KernelInfo info_of(std::uint32_t ctas, const std::string& name) {
  KernelInfo info;
  info.name = name;
  info.grid[0] = ctas;
  info.block[0] = 224;
  info.registers_per_thread = 33;
  info.shared_bytes = 4096;
  return info;
}

}  // namespace atl::test
