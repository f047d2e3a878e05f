#include "inputs/cuda/runtime/trace_sink.hpp"

#include <algorithm>

#include "inputs/cuda/arena.hpp"

namespace atl::cudart {

TraceSink::TraceSink(const cuda::RecordOptions& o, unsigned threads, std::mutex& mutex)
    : mutex_(mutex),
      writer_(o.output, {o.source, o.importer}, static_cast<unsigned>(o.compression), threads),
      recorder_(*this, {o.max_ctas, o.max_ops, o.first_cta}),
      first_cta_(o.first_cta) {
  if (o.devices > 1)
    writer_.set_devices(
        {static_cast<std::uint32_t>(o.devices), cuda::DeviceArena::kBase, std::uint64_t{cuda::DeviceArena::kWindow}});
}

void TraceSink::add_allocation(const TraceAllocation& allocation) {
  if (open_) writer_.add_allocation(allocation);
}

void TraceSink::abandon_kernel() {
  if (open_) writer_.abandon_kernel();
}

void TraceSink::finish() {
  abandon_kernel();
  open_ = false;
  writer_.finish();
}

void TraceSink::begin_kernel(const KernelInfo& info) {
  const std::lock_guard lock(mutex_);
  KernelInfo placed = info;
  placed.place = place_;
  if (open_) writer_.begin_kernel(placed, first_cta_);
  launched_ = info.ctas();
  ops_ = accesses_ = 0;
}

void TraceSink::add_copy(const cuda::CopyKernel& kernel, std::uint64_t max_ctas) {
  const KernelInfo info = kernel.info();
  begin_kernel(info);
  const std::uint64_t ctas = std::min(info.ctas() - first_cta_, max_ctas);
  CtaProgram program;
  CtaColumns columns;
  for (std::uint64_t cta = first_cta_; cta < first_cta_ + ctas; ++cta) {
    kernel.load_cta(cta, program);
    columns.encode(program, info.warps());
    add_cta(program, columns);
    help();
  }
  end_kernel(ctas);
}

void TraceSink::add_cta(const CtaProgram&, const CtaColumns& columns) {
  const std::lock_guard lock(mutex_);
  if (open_) writer_.add_cta(columns);
  ops_ += columns.op_kind.size, accesses_ += columns.access_sectors.size;
}

void TraceSink::end_kernel(std::uint64_t ctas) {
  const std::lock_guard lock(mutex_);
  if (!open_) return;
  writer_.end_kernel();
  writer_.flush();
  ++counts_.kernels;
  counts_.samples += ctas < launched_;
  counts_.ops += ops_, counts_.accesses += accesses_;
}

}  // namespace atl::cudart
