#include "inputs/cuda/runtime/trace_sink.hpp"

#include "inputs/cuda/runtime/kernel_output.hpp"
#include "inputs/ptx/record.hpp"
#include "inputs/trace/trace_writer.hpp"

namespace atl::cudart {

struct TraceSink::Impl {
  explicit Impl(const cuda::RecordOptions& o)
      : writer(o.output, {o.source, o.importer}, static_cast<unsigned>(o.compression)),
        output(writer),
        recorder(output, {o.max_ctas, o.max_ops}) {}
  TraceWriter writer;
  KernelOutput output;
  ptx::Recorder recorder;
};

TraceSink::TraceSink(const cuda::RecordOptions& options, std::mutex& mutex)
    : impl_(std::make_unique<Impl>(options)), mutex_(mutex) {}

TraceSink::~TraceSink() = default;

void TraceSink::add_allocation(const TraceAllocation& allocation) {
  if (open_) impl_->writer.add_allocation(allocation);
}

void TraceSink::abandon_kernel() {
  if (open_) impl_->output.abandon();
}

void TraceSink::finish() {
  abandon_kernel();
  open_ = false;
  impl_->writer.finish();
}

void TraceSink::begin_kernel(const ptx::LaunchSpec& spec, const ptx::exec::Image& image, const ptx::Device& device) {
  const std::lock_guard lock(mutex_);
  if (open_) impl_->recorder.begin_kernel(spec, image, device);
}

bool TraceSink::wants(std::uint64_t cta) {
  const std::lock_guard lock(mutex_);
  return open_ && impl_->recorder.wants(cta);
}

void TraceSink::events(std::uint64_t cta, std::uint32_t warp, std::span<const ptx::WarpEvent> events,
                       std::span<const std::uint64_t> addresses) {
  const std::lock_guard lock(mutex_);
  if (open_) impl_->recorder.events(cta, warp, events, addresses);
}

void TraceSink::end_cta(std::uint64_t cta) {
  const std::lock_guard lock(mutex_);
  if (open_) impl_->recorder.end_cta(cta);
}

void TraceSink::end_kernel() {
  const std::lock_guard lock(mutex_);
  if (!open_) return;
  impl_->recorder.end_kernel();
  impl_->output.end_kernel();
  const ptx::RecordCounts& n = impl_->recorder.counts();
  ++counts_.kernels;
  counts_.ops = n.ops, counts_.accesses = n.accesses;
}

}  // namespace atl::cudart
