#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Many decoded CTAs in three flat arrays: taking one out is three copies, with no pointer to chase or index to mend,
/// since warps count ops, and ops count accesses, from the start of their own CTA.
class CtaBlock {
 public:
  CtaBlock() { clear(); }
  void clear();
  std::size_t size() const { return ends_.size() - 1; }

  void append(const CtaProgram& cta);
  /// Ends a CTA that was written into the arrays directly: it goes up to these indices.
  void end_cta(std::size_t op, std::size_t access, std::size_t warp) { ends_.push_back({op, access, warp}); }
  /// Replaces `out` by the i-th CTA.
  void extract(std::size_t i, CtaProgram& out) const;

  std::vector<Op> ops;
  std::vector<Access> accesses;
  std::vector<WarpOps> warps;

 private:
  struct End {
    std::size_t op = 0, access = 0, warp = 0;
  };
  std::vector<End> ends_;  ///< ends_[i]: where CTA i begins and CTA i - 1 ends
};

}  // namespace atl
