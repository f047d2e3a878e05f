#pragma once
#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "inputs/ptx/record_cta.hpp"
#include "inputs/ptx/record_sink.hpp"
#include "inputs/ptx/record_table.hpp"
#include "inputs/trace/cta_columns.hpp"
#include "inputs/trace/trace_writer.hpp"

/// Turns what warps execute into the form that the simulator runs (inputs/workload/workload.hpp).
namespace atl::ptx {

/// Where recorded CTAs go: kernels in launch order, CTAs in order of their number. Called by one thread at a time, except
/// where it says otherwise.
class RecordOutput {
 public:
  virtual ~RecordOutput() = default;
  virtual void begin_kernel(const KernelInfo& info) = 0;
  /// What can be done for a CTA before its turn comes, on several threads at the same time. False: nothing is made of it,
  /// and add_cta() gets a program.
  virtual bool encode(std::span<const WarpView> /*warps*/, CtaColumns& /*out*/) { return false; }
  /// `cta`, or `columns` if encode() made these of it.
  virtual void add_cta(const CtaProgram& cta, const CtaColumns& columns) = 0;
  /// Work that is left and needs no order, on several threads at the same time, also beside add_cta().
  virtual void help() {}
  /// The kernel is whole. `ctas`: how many it got; fewer than announced make it a sample.
  virtual void end_kernel(std::uint64_t ctas) = 0;
};

class TraceOutput final : public RecordOutput {
 public:
  explicit TraceOutput(TraceWriter& writer) : writer_(writer) {}
  void begin_kernel(const KernelInfo& info) override { writer_.begin_kernel(info); }
  bool encode(std::span<const WarpView> warps, CtaColumns& out) override {
    writer_.encode(warps, out);
    return true;
  }
  void add_cta(const CtaProgram&, const CtaColumns& columns) override { writer_.add_cta(columns); }
  void help() override { writer_.help(); }
  void end_kernel(std::uint64_t) override { writer_.end_kernel(); }

 private:
  TraceWriter& writer_;
};

struct RecordOptions {
  std::uint64_t max_ctas = std::numeric_limits<std::uint64_t>::max();  ///< per kernel: so many
  std::uint64_t max_ops = 0;    ///< per kernel: the CTA with which so many are reached is the last one; 0: no limit
  std::uint64_t first_cta = 0;  ///< per kernel: they begin here; it has more CTAs than that
};

struct RecordCounts {
  std::uint64_t kernels = 0, ctas = 0, ops = 0, accesses = 0, warp_instructions = 0;
};

/// Puts the CTAs of a kernel, which may be executed at the same time, into their order. A sample is
/// made of the first ones, from RecordOptions::first_cta on.
/// A kernel that fails has not all its CTAs in the output, and no end.
class Recorder final : public RecordSink {
 public:
  explicit Recorder(RecordOutput& output, RecordOptions options = {});
  ~Recorder() override;

  void begin_kernel(const LaunchSpec& spec, const exec::Image& image, const Device& device) override;
  bool wants(std::uint64_t cta) override;
  void events(std::uint64_t cta, std::uint32_t warp, std::span<const WarpEvent> events,
              std::span<const std::uint64_t> addresses) override;
  void end_cta(std::uint64_t cta) override;
  void end_kernel() override;
  const RecordCounts& counts() const { return counts_; }

 private:
  /// A CTA on its way.
  struct Kept {
    CtaRecorder recorder;
    CtaColumns columns;
    std::atomic<std::uint64_t> ops{0};  ///< so far
  };
  Kept& live(std::uint64_t cta);
  void look_for_last(std::uint64_t new_ops);
  void forget(std::uint64_t cta);
  std::unique_ptr<Kept> take_next();
  void deliver(const Kept& cta);

  RecordOutput& output_;
  RecordOptions options_;
  RecordCounts counts_;
  KernelInfo info_;
  RecordTable table_;
  OpMemo memo_;
  std::uint64_t total_ = 0;  ///< CTAs that the options allow

  std::mutex output_mutex_;  ///< who ends a CTA hands on what is due, and waits for others that do: so little piles up
  std::uint64_t next_ = 0, kernel_ctas_ = 0;
  std::atomic<std::uint64_t> kernel_ops_{0};  ///< of CTAs that are written
  std::atomic<bool> complete_{false};         ///< the sample has as many CTAs, or ops, as were asked for

  /// RecordOptions::max_ops are reached with this one at the latest, by what the CTAs up to it have done so far.
  std::atomic<std::uint64_t> last_{~std::uint64_t{0}};
  std::atomic<std::uint64_t> since_look_{0};  ///< ops

  std::mutex mutex_;  ///< of what follows; never held for long
  std::map<std::uint64_t, std::unique_ptr<Kept>> live_;
  std::map<std::uint64_t, std::unique_ptr<Kept>> early_;  ///< ended, and not written yet
  std::vector<std::unique_ptr<Kept>> spare_;
};

}  // namespace atl::ptx
