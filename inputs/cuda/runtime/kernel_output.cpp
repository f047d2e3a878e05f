#include "inputs/cuda/runtime/kernel_output.hpp"

namespace atl::cudart {

void KernelOutput::begin_kernel(const KernelInfo& info) {
  writer_.begin_kernel(info);
  open_ = true;
}

void KernelOutput::add_cta(const CtaProgram& cta) { writer_.add_cta(cta); }

void KernelOutput::end_kernel() { open_ = false; }

void KernelOutput::abandon() {
  if (open_) writer_.abandon_kernel();
  open_ = false;
}

}  // namespace atl::cudart
