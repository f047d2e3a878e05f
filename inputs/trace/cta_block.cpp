#include "inputs/trace/cta_block.hpp"

namespace atl {

void CtaBlock::clear() {
  ops.clear();
  accesses.clear();
  warps.clear();
  ends_.assign(1, End{});
}

void CtaBlock::append(const CtaProgram& cta) {
  ops.insert(ops.end(), cta.ops.begin(), cta.ops.end());
  accesses.insert(accesses.end(), cta.accesses.begin(), cta.accesses.end());
  warps.insert(warps.end(), cta.warps.begin(), cta.warps.end());
  end_cta(ops.size(), accesses.size(), warps.size());
}

void CtaBlock::extract(std::size_t i, CtaProgram& out) const {
  const End &first = ends_[i], &last = ends_[i + 1];
  out.ops.assign(ops.data() + first.op, ops.data() + last.op);
  out.accesses.assign(accesses.data() + first.access, accesses.data() + last.access);
  out.warps.assign(warps.data() + first.warp, warps.data() + last.warp);
}

}  // namespace atl
