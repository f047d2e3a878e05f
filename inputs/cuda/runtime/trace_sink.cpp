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

void TraceSink::finish(const std::string& lacks) {
  abandon_kernel();
  open_ = false;
  writer_.set_lacks(lacks);
  writer_.finish();
}

void TraceSink::discard() {
  abandon_kernel();
  open_ = false;
  writer_.discard();
}

void write_copy(ptx::RecordOutput& to, const cuda::CopyKernel& kernel, std::uint64_t first_cta, std::uint64_t max_ctas) {
  const KernelInfo info = kernel.info();
  to.begin_kernel(info);
  const std::uint64_t ctas = std::min(info.ctas() - first_cta, max_ctas);
  CtaProgram program;
  CtaColumns columns;
  for (std::uint64_t cta = first_cta; cta < first_cta + ctas; ++cta) {
    kernel.load_cta(cta, program);
    columns.encode(program, info.warps());
    to.add_cta(program, columns);
    to.help();
  }
  to.end_kernel(ctas);
}

void TraceSink::begin_kernel(const KernelInfo& info) {
  const std::lock_guard lock(mutex_);
  begin(info);
}

void TraceSink::add_cta(const CtaProgram&, const CtaColumns& columns) {
  const std::lock_guard lock(mutex_);
  add(columns);
}

void TraceSink::end_kernel(std::uint64_t ctas) {
  const std::lock_guard lock(mutex_);
  end(ctas);
}

void TraceSink::add_copy(const cuda::CopyKernel& kernel, std::uint64_t max_ctas) {
  write_copy(*this, kernel, first_cta_, max_ctas);
}

void TraceSink::add_held(const HeldKernel& kernel) {
  place_ = kernel.place();
  begin(kernel.info());
  CtaColumns columns;
  for (const CtaProgram& cta : kernel.ctas()) {
    columns.encode(cta, kernel.info().warps());
    add(columns);
    writer_.help();
  }
  end(kernel.count());
}

void TraceSink::begin(const KernelInfo& info) {
  KernelInfo placed = info;
  placed.place = place_;
  if (open_) writer_.begin_kernel(placed, first_cta_);
  launched_ = info.ctas();
  ops_ = accesses_ = 0;
}

void TraceSink::add(const CtaColumns& columns) {
  if (open_) writer_.add_cta(columns);
  ops_ += columns.ops, accesses_ += columns.access_sectors.size;
}

void TraceSink::end(std::uint64_t ctas) {
  if (!open_) return;
  writer_.end_kernel();
  writer_.flush();
  ++counts_.kernels;
  counts_.samples += ctas < launched_;
  counts_.ops += ops_, counts_.accesses += accesses_;
}

}  // namespace atl::cudart
