#pragma once
#include <memory>
#include <string>
#include <vector>

#include "inputs/trace/structures.hpp"
#include "inputs/trace/trace_format.hpp"
#include "inputs/workload/workload.hpp"

namespace atl {

/// Reads an Atoll trace. load_cta decodes the block that holds the CTA and keeps the last few blocks, so neighbouring
/// CTAs cost a copy. Throws InputError naming the file and the dataset when something in it cannot be right.
class TraceWorkload : public Workload {
 public:
  explicit TraceWorkload(const std::string& path);
  ~TraceWorkload() override;

  const std::vector<KernelInfo>& kernels() const override;
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override;

  const TraceProvenance& provenance() const;
  const std::vector<TraceAllocation>& allocations() const;
  DeviceMemories devices() const override;
  std::vector<DataStructure> structures() const override { return structures_of(allocations()); }
  std::string incomplete(std::size_t kernel) override;
  std::string lacks() const override;
  std::string selection() const override { return provenance().selection; }

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// True if the file begins as every HDF5 file does.
bool has_hdf5_signature(const std::string& path);

/// True if it is one that says of itself that it is an Atoll trace, whether or not it can be read as such.
bool is_trace(const std::string& path);

}  // namespace atl
