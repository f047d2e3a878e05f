#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "inputs/trace/accelsim_list.hpp"
#include "inputs/trace/accelsim_opcodes.hpp"
#include "inputs/trace/cta_block.hpp"
#include "inputs/trace/read_only_oracle.hpp"
#include "inputs/trace/structures.hpp"
#include "inputs/workload/selection.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// Reads the SASS traces of Accel-Sim's tracer directly. The headers are read at once; a kernel's instructions when its
/// first CTA is asked for, and then the previous kernel's are given up. For traces that do not fit into the memory of
/// every rank, import them: a container is read by CTA range. Loads are marked as read-only by ReadOnlyOracle.
class AccelSimWorkload : public Workload {
 public:
  explicit AccelSimWorkload(const std::string& list_path);
  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override;
  const std::vector<TraceAllocation>& allocations() const { return list_.allocations; }
  const std::vector<std::string>& files() const { return list_.kernels; }
  std::vector<DataStructure> structures() const override { return structures_of(allocations()); }
  std::string incomplete(std::size_t kernel) override;

 private:
  void load_kernel(std::size_t kernel);

  std::string path_;
  accelsim::KernelList list_;
  std::vector<KernelInfo> kernels_;
  std::size_t loaded_ = ~std::size_t{0};
  CtaBlock ctas_;                        // of the loaded kernel, in the order of its file
  ReadOnlyOracle read_only_;             // of the loaded kernel
  std::vector<std::uint64_t> position_;  // where in ctas_ a CTA is
};

struct ImportProgress {
  std::size_t kernel = 0, kernels = 0;  ///< kernels finished, and in all
  std::uint64_t ctas = 0, instructions = 0;
};

struct ImportOptions {
  WorkloadSelection selection{};  ///< what is imported; kernels without a chosen CTA are left out
  accelsim::Latencies latencies = accelsim::Latencies::gpu;
  bool strict = false;                                    ///< an incomplete trace is an error
  std::function<void(const std::string&)> warn{};         ///< is told what a kernel's trace lacks
  std::function<void(const ImportProgress&)> progress{};  ///< is called after every kernel
};

/// Writes the traces behind a kernelslist.g into an Atoll trace, reading each kernel twice: first for what it writes.
/// Returns what of them it took, in words; empty: all.
std::string import_accel_sim(const std::string& list_path, const std::string& out_path, const ImportOptions& options = {});

}  // namespace atl
