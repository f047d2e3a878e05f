#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "inputs/trace/content_key.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// What a warp does: ops that count accesses from the first of these.
struct WarpView {
  std::span<const Op> ops;
  std::span<const Access> accesses;
};

/// One CTA as the columns of a trace have it (docs/traces.md): warps whose ops are equal have one program of these. All of
/// it is worked out without knowing its place, so that threads can do so at the same time; which of its programs the block
/// has already, and how far its first access is from the CTA before, is the writer's to say. Buffers keep their size when
/// reused.
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
  Column<std::uint32_t> warp_program;  ///< of the programs of this CTA
  Column<std::uint32_t> program_ops, op_wait;
  Column<std::uint16_t> op_issue, op_latency;
  Column<std::uint8_t> op_kind, op_slot, op_flags, op_accesses, access_sectors;
  Column<std::uint8_t> access_delta;  ///< without the difference of the very first access

  std::vector<ContentKey::Value> keys;  ///< of the programs
  std::uint64_t ops = 0;                ///< of all warps

  // Block addresses of the first access, and of the first of the last warp that has one.
  std::uint64_t first_start = 0, last_start = 0;

 private:
  bool encode_ops(std::span<const WarpView> warps);
  bool encode_program(std::span<const Op> program, std::size_t at);
  std::uint32_t number_of(const ContentKey::Value& key);
  bool encode_accesses(std::span<const WarpView> warps);

  std::string fault_;
  std::vector<WarpView> views_;                  ///< of a CtaProgram
  std::vector<std::uint32_t> program_accesses_;  ///< counts
};

}  // namespace atl
