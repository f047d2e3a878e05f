#include "inputs/workload/device_steps.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "core/engine/error.hpp"

namespace atl {
namespace {

class JoinedWorkload : public Workload {
 public:
  JoinedWorkload(std::unique_ptr<Workload> whole, const std::string& file) : whole_(std::move(whole)) {
    const std::vector<KernelInfo>& all = whole_->kernels();
    std::vector<std::size_t> order(all.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, [&](std::size_t k) { return all[k].place.step; });
    for (const std::size_t k : order) {
      const bool begins = launches_.empty() || all[k].place.step != all[launches_.back().back()].place.step;
      if (begins) launches_.emplace_back();
      for (const std::size_t other : launches_.back())
        if (all[other].place.device == all[k].place.device)
          throw InputError(file, fmt::format("launches {} ({}) and {} ({}) are of one device and of one step, {}", other,
                                             all[other].name, k, all[k].name, all[k].place.step));
      launches_.back().push_back(k);
    }
    for (std::vector<std::size_t>& step : launches_) {
      std::ranges::sort(step, {}, [&](std::size_t k) { return all[k].place.device; });
      kernels_.push_back(join(step));
    }
  }

  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    const std::vector<DevicePart>& parts = kernels_.at(kernel).parts;
    std::size_t p = 0;
    while (p + 1 < parts.size() && cta >= parts[p].first + parts[p].ctas) ++p;
    whole_->load_cta(launches_[kernel][p], cta - parts[p].first, out);
  }
  DeviceMemories devices() const override { return whole_->devices(); }
  std::vector<DataStructure> structures() const override { return whole_->structures(); }
  std::string lacks() const override { return whole_->lacks(); }
  std::string incomplete(std::size_t kernel) override {
    std::string out;
    for (const std::size_t k : launches_.at(kernel)) {
      const std::string what = whole_->incomplete(k);
      if (!what.empty()) out += (out.empty() ? "" : "; ") + what;
    }
    return out;
  }
  std::string selection() const override { return whole_->selection(); }

 private:
  /// The launches of a step, by device. One keeps its shape; several are a row of CTAs.
  KernelInfo join(const std::vector<std::size_t>& step) const {
    const std::vector<KernelInfo>& all = whole_->kernels();
    KernelInfo out = all[step.front()];
    std::uint64_t ctas = 0, launched = 0;
    bool sample = false;
    std::vector<std::string> names;
    for (const std::size_t k : step) {
      const KernelInfo& info = all[k];
      if (std::ranges::find(names, info.name) == names.end()) names.push_back(info.name);
      out.parts.push_back(
          {info.place.device, ctas, info.ctas(), info.warps(), info.registers_per_thread, info.shared_bytes});
      ctas += info.ctas(), launched += info.launched_ctas != 0 ? info.launched_ctas : info.ctas();
      sample |= info.launched_ctas != 0;
    }
    if (step.size() == 1) return out;
    out.name = fmt::format("{}", fmt::join(names, " + "));
    if (ctas > UINT32_MAX) throw InputError(out.name, "launches that run together have more than 2^32 CTAs");
    out.grid[0] = static_cast<std::uint32_t>(ctas), out.grid[1] = out.grid[2] = 1;
    out.launched_ctas = sample ? launched : 0;
    return out;
  }

  std::unique_ptr<Workload> whole_;
  std::vector<std::vector<std::size_t>> launches_;  ///< [kernel] launches of its parts
  std::vector<KernelInfo> kernels_;
};

}  // namespace

std::unique_ptr<Workload> join_steps(std::unique_ptr<Workload> workload, const std::string& file) {
  if (workload->devices().count == 0) return workload;
  return std::make_unique<JoinedWorkload>(std::move(workload), file);
}

}  // namespace atl
