#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// What a warp does: ops that count accesses from the first of these.
struct WarpView {
  std::span<const Op> ops;
  std::span<const Access> accesses;
};

/// One CTA as the columns of a trace have it (docs/traces.md). All of it but the difference to the CTA before is worked
/// out without knowing its place, so that threads can do so at the same time. Buffers keep their size when reused.
class CtaColumns {
 public:
  void encode(std::span<const WarpView> warps, std::uint32_t most_warps);
  void encode(const CtaProgram& cta, std::uint32_t most_warps);
  /// What the format or the simulator cannot represent; empty: nothing.
  const std::string& fault() const { return fault_; }

  /// A buffer of which the first `size` elements count.
  template <typename T> struct Column {
    std::vector<T> values;
    std::size_t size = 0;
    T* prepare(std::size_t count) {
      if (values.size() < count) values.resize(count);
      size = count;
      return values.data();
    }
  };
  Column<std::uint32_t> warp_ops, op_wait;
  Column<std::uint16_t> op_issue, op_latency;
  Column<std::uint8_t> op_kind, op_slot, op_flags, op_accesses, access_sectors;
  Column<std::uint8_t> access_delta;  ///< without the difference of the very first access

  // Block addresses of the first access, and of the first of the last warp that has one.
  std::uint64_t first_start = 0, last_start = 0;

 private:
  bool encode_ops(std::span<const WarpView> warps);
  void encode_accesses(std::span<const WarpView> warps);

  std::string fault_;
  std::vector<WarpView> views_;  ///< of a program
};

}  // namespace atl
