#pragma once
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "inputs/ptx/record_sink.hpp"
#include "inputs/ptx/record_table.hpp"
#include "inputs/trace/trace_writer.hpp"

/// Turns what warps execute into the form that the simulator runs (inputs/workload/workload.hpp).
namespace atl::ptx {

/// Where recorded CTAs go: kernels in launch order, CTAs in order of their number.
class RecordOutput {
 public:
  virtual ~RecordOutput() = default;
  virtual void begin_kernel(const KernelInfo& info) = 0;
  virtual void add_cta(const CtaProgram& cta) = 0;
};

class TraceOutput final : public RecordOutput {
 public:
  explicit TraceOutput(TraceWriter& writer) : writer_(writer) {}
  void begin_kernel(const KernelInfo& info) override { writer_.begin_kernel(info); }
  void add_cta(const CtaProgram& cta) override { writer_.add_cta(cta); }

 private:
  TraceWriter& writer_;
};

struct RecordOptions {
  std::uint64_t max_ctas = std::numeric_limits<std::uint64_t>::max();  ///< per kernel: the first ones
  std::uint64_t max_ops = 0;  ///< per kernel: no further CTA is begun once there are so many; 0: no limit
};

struct RecordCounts {
  std::uint64_t kernels = 0, ctas = 0, ops = 0, accesses = 0, warp_instructions = 0;
};

/// Records a sample of contiguous CTAs as a smaller kernel of one row. A kernel that fails leaves nothing behind if
/// max_ops is set; otherwise its last CTAs are missing from the output.
class Recorder final : public RecordSink {
 public:
  Recorder(RecordOutput& output, RecordOptions options = {});
  ~Recorder() override;

  void begin_kernel(const LaunchSpec& spec, const exec::Image& image, const Device& device) override;
  bool wants(std::uint64_t cta) override;
  void events(std::uint64_t cta, std::uint32_t warp, std::span<const WarpEvent> events,
              std::span<const std::uint64_t> addresses) override;
  void end_cta(std::uint64_t cta) override;
  void end_kernel() override;
  const RecordCounts& counts() const { return counts_; }

 private:
  struct Cta {
    std::vector<WarpTimeline> warps;
  };
  Cta& live(std::uint64_t cta);
  void memory(WarpTimeline& warp, const RecordInfo& info, const WarpEvent& event, const std::uint64_t* address);
  void coalesced(WarpTimeline& warp, atl::Op& op, const std::uint64_t* address, unsigned lanes, unsigned width);
  void global(WarpTimeline& warp, OpKind kind, const RecordInfo& info, const std::uint64_t* address, unsigned lanes,
              unsigned width);
  void local_addresses(const WarpEvent& event, const std::uint64_t* address, unsigned width);
  void assemble(Cta& cta);
  void deliver(const CtaProgram& program);

  RecordOutput& output_;
  RecordOptions options_;
  RecordCounts counts_;
  KernelInfo info_;
  RecordTable table_;
  std::uint64_t total_ = 0, kernel_ops_ = 0, next_ = 0;
  std::uint64_t live_number_ = 0, local_base_ = 0;
  Cta* live_cta_ = nullptr;
  std::map<std::uint64_t, std::unique_ptr<Cta>> live_;
  std::vector<std::unique_ptr<Cta>> spare_;
  std::map<std::uint64_t, CtaProgram> early_;  ///< ended before a CTA with a lower number
  std::vector<CtaProgram> held_;               ///< with max_ops: the size of the sample is only known at the end
  CtaProgram program_;
  std::vector<std::uint64_t> local_;
};

}  // namespace atl::ptx
