#pragma once
#include <memory>
#include <span>
#include <string>

#include "inputs/trace/trace_format.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

class CtaColumns;
struct WarpView;

/// Writes an Atoll trace: kernels in launch order, each CTA by CTA in order of the flattened id. The file is built as
/// `<path>.part` and gets its name in finish(); without finish() nothing is left behind.
class TraceWriter {
 public:
  /// `compression`: deflate 1 to 9, or 0 for none. `threads`: that may compress, with the caller's; the file is the same
  /// for every number.
  TraceWriter(const std::string& path, const TraceProvenance& provenance, unsigned compression = trace_format::kCompression,
              unsigned threads = 1);
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  /// Before the first kernel: every kernel has a place on one of several devices.
  void set_devices(const DeviceMemories& devices);
  void add_allocation(const TraceAllocation& allocation);
  /// Ends the previous kernel; unless end_kernel() did, it must have got all its CTAs or be abandoned. `first_cta`: the
  /// number, in the launch, of the first CTA that it will get, if it is a sample.
  void begin_kernel(const KernelInfo& info, std::uint64_t first_cta = 0);
  /// Throws InputError for an op that the format or the simulator cannot represent.
  void add_cta(const CtaProgram& cta);
  /// The same in parts. What follows begin_kernel() for a CTA without knowing its place: on any thread, also several.
  void encode(std::span<const WarpView> warps, CtaColumns& out) const;
  /// In order of the CTAs.
  void add_cta(const CtaColumns& cta);
  /// Compresses what is due: on any thread, also several, and while another is in add_cta().
  void help();
  /// Of the kernel that was begun last: what its trace lacks (Workload::incomplete).
  void set_incomplete(const std::string& what);
  /// Of the trace (TraceProvenance::lacks), where it is known at the end only.
  void set_lacks(const std::string& what);
  /// Ends the kernel with the CTAs that it got; if these are not all of its grid, as a sample: a smaller kernel of one row.
  void end_kernel();
  /// Takes the kernel that was begun last back, also one that add_cta() refused a CTA of. Does nothing if there is none,
  /// or it has ended.
  void abandon_kernel();
  /// Hands the kernels that have ended to the system: from here on salvage() gets them, should the program be killed.
  void flush();
  void finish();
  /// Instead of finish(): leaves nothing behind.
  void discard();
  /// Makes a trace of what a writer of `path` left behind that was killed: the kernels up to its last flush(). Returns
  /// their number; the trace says that it `lacks` the others. Throws IoError if there is nothing that can be read.
  static std::uint64_t salvage(const std::string& path);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace atl
