#include "inputs/cuda/runtime/kernel_output.hpp"

namespace atl::cudart {
namespace {

std::size_t bytes(const CtaBlock& b) {
  return b.ops.size() * sizeof(Op) + b.accesses.size() * sizeof(Access) + b.warps.size() * sizeof(WarpOps);
}

/// A CTA whose warps end at once.
CtaProgram idle_cta(std::uint32_t warps) {
  CtaProgram cta;
  for (std::uint32_t w = 0; w < warps; ++w) {
    cta.ops.push_back({});
    cta.ops.back().kind = OpKind::exit;
    cta.warps.push_back({w, 1});
  }
  return cta;
}

}  // namespace

void KernelOutput::begin_kernel(const KernelInfo& info) {
  info_ = info;
  held_.clear();
  written_ = 0;
  open_ = true, streaming_ = false;
}

void KernelOutput::add_cta(const CtaProgram& cta) {
  if (streaming_) {
    writer_.add_cta(cta);
    ++written_;
    return;
  }
  held_.append(cta);
  if (bytes(held_) >= kMostHeld) write_held();
}

void KernelOutput::write_held() {
  writer_.begin_kernel(info_);
  for (std::size_t i = 0; i < held_.size(); ++i) {
    held_.extract(i, cta_);
    writer_.add_cta(cta_);
  }
  written_ = held_.size();
  held_.clear();
  streaming_ = true;
}

void KernelOutput::end_kernel() {
  if (open_ && !streaming_) write_held();
  open_ = false;
}

bool KernelOutput::abandon() {
  const bool fill = open_ && streaming_;
  if (fill)
    for (const CtaProgram idle = idle_cta(info_.warps()); written_ < info_.ctas(); ++written_) writer_.add_cta(idle);
  held_.clear();
  open_ = false;
  return fill;
}

}  // namespace atl::cudart
