#include "inputs/workload/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "core/engine/error.hpp"
#include "core/engine/function_name.hpp"

namespace atl {
namespace {

/// `3` or `3-10`.
std::pair<std::uint64_t, std::uint64_t> range_of(const char* option, std::string_view item) {
  std::uint64_t first = 0, last = 0;
  const char *end = item.data() + item.size(), *at = item.data();
  std::from_chars_result read = std::from_chars(at, end, first);
  last = first;
  if (read.ec == std::errc() && read.ptr != end && *read.ptr == '-') read = std::from_chars(read.ptr + 1, end, last);
  if (read.ec != std::errc() || read.ptr != end || last < first)
    throw InputError(option, fmt::format("expected a number such as 3 or a range such as 3-10, found '{}'", item));
  return {first, last};
}

std::vector<std::string> items_of(const char* option, const std::string& text) {
  if (text.empty()) return {};
  std::vector<std::string> items = split_patterns(text);
  if (std::ranges::any_of(items, &std::string::empty)) throw InputError(option, "has an empty item between commas");
  return items;
}

/// The chosen part of another workload, which it owns.
class SelectedWorkload : public Workload {
 public:
  SelectedWorkload(std::unique_ptr<Workload> whole, const WorkloadSelection& selection)
      : whole_(std::move(whole)), selection_(selection) {
    const std::vector<KernelInfo>& all = whole_->kernels();
    for (std::size_t k = 0; k < all.size(); ++k) {
      const std::uint64_t ctas = selection_.has_kernel(k, all[k].name) ? selection_.count(all[k].ctas()) : 0;
      if (ctas == 0) continue;
      KernelInfo info = all[k];
      if (ctas < info.ctas()) {
        if (info.launched_ctas == 0) info.launched_ctas = info.ctas();
        info.grid[0] = static_cast<std::uint32_t>(ctas), info.grid[1] = info.grid[2] = 1;
      }
      number_.push_back(k), kernels_.push_back(std::move(info));
    }
    selection_.check(all);
  }

  const std::vector<KernelInfo>& kernels() const override { return kernels_; }
  void load_cta(std::size_t kernel, std::uint64_t cta, CtaProgram& out) override {
    if (kernel >= kernels_.size()) throw InputError("--kernels", fmt::format("kernel {} is not chosen", kernel));
    whole_->load_cta(number_[kernel], selection_.nth(cta), out);
  }
  DeviceMemories devices() const override { return whole_->devices(); }
  std::uint32_t laid_out_for() const override { return whole_->laid_out_for(); }
  std::string scaled_otherwise() const override { return whole_->scaled_otherwise(); }
  std::vector<DataStructure> structures() const override { return whole_->structures(); }
  std::string lacks() const override { return whole_->lacks(); }
  std::string incomplete(std::size_t kernel) override { return whole_->incomplete(number_.at(kernel)); }
  std::string selection() const override {
    const std::string before = whole_->selection(), mine = selection_.text(kernels_.size(), whole_->kernels().size());
    return before.empty() ? mine : fmt::format("{}; of that {}", before, mine);
  }

 private:
  std::unique_ptr<Workload> whole_;
  WorkloadSelection selection_;
  std::vector<std::size_t> number_;  ///< in the whole
  std::vector<KernelInfo> kernels_;
};

}  // namespace

WorkloadSelection::WorkloadSelection(const std::string& kernels, const std::string& ctas)
    : kernel_text_(kernels), cta_text_(ctas) {
  for (const std::string& item : items_of("--kernels", kernels)) {
    constexpr std::string_view kName = "name=";
    if (item.starts_with(kName))
      names_.push_back(item.substr(kName.size()));
    else
      kernels_.push_back(range_of("--kernels", item));
  }
  for (const std::string& item : items_of("--ctas", ctas)) ctas_.push_back(range_of("--ctas", item));
  kernels_ = merged(std::move(kernels_)), ctas_ = merged(std::move(ctas_));
}

std::vector<WorkloadSelection::Range> WorkloadSelection::merged(std::vector<Range> ranges) {
  std::ranges::sort(ranges);
  std::vector<Range> out;
  for (const Range& r : ranges) {
    if (!out.empty() && r.first <= out.back().second)
      out.back().second = std::max(out.back().second, r.second);
    else
      out.push_back(r);
  }
  return out;
}

bool WorkloadSelection::has_kernel(std::size_t number, const std::string& name) const {
  if (kernel_text_.empty()) return true;
  const auto within = [number](const Range& r) { return r.first <= number && number <= r.second; };
  const auto called = [&](const std::string& pattern) { return fits_function(pattern, name); };
  return std::ranges::any_of(kernels_, within) || std::ranges::any_of(names_, called);
}

bool WorkloadSelection::has_cta(std::uint64_t cta) const {
  return ctas_.empty() || std::ranges::any_of(ctas_, [cta](const Range& r) { return r.first <= cta && cta <= r.second; });
}

std::uint64_t WorkloadSelection::count(std::uint64_t ctas) const {
  if (ctas_.empty()) return ctas;
  std::uint64_t n = 0;
  for (const Range& r : ctas_)
    if (r.first < ctas) n += std::min(r.second, ctas - 1) - r.first + 1;
  return n;
}

std::uint64_t WorkloadSelection::nth(std::uint64_t n) const {
  for (const Range& r : ctas_) {
    if (n <= r.second - r.first) return r.first + n;
    n -= r.second - r.first + 1;
  }
  return n;
}

std::string WorkloadSelection::text(std::size_t chosen, std::size_t kernels) const {
  std::string out;
  if (!kernel_text_.empty()) out = fmt::format("kernels {}: {} of {}", kernel_text_, chosen, kernels);
  if (!cta_text_.empty()) {
    out += fmt::format("{}CTAs {} of each kernel", out.empty() ? "" : "; ", cta_text_);
    if (kernel_text_.empty() && chosen != kernels) out += fmt::format(", which {} of {} have", chosen, kernels);
  }
  return out;
}

void WorkloadSelection::check(const std::vector<KernelInfo>& kernels) const {
  for (const std::string& item : items_of("--kernels", kernel_text_)) {
    const WorkloadSelection one(item, "");
    std::size_t k = 0;
    while (k < kernels.size() && !one.has_kernel(k, kernels[k].name)) ++k;
    if (k == kernels.size())
      throw InputError(
          "--kernels",
          fmt::format("`{}` chooses none of the workload's {} kernels; `atoll info` lists them, from 0", item, k));
  }
  for (const Range& r : ctas_)
    if (std::ranges::none_of(kernels, [&](const KernelInfo& info) { return r.first < info.ctas(); }))
      throw InputError("--ctas", fmt::format("no kernel has a CTA {}", r.first));
  for (std::size_t k = 0; k < kernels.size(); ++k)
    if (has_kernel(k, kernels[k].name) && count(kernels[k].ctas()) != 0) return;
  throw InputError("--ctas", "none of the chosen kernels has one of these CTAs");
}

std::unique_ptr<Workload> select(std::unique_ptr<Workload> workload, const WorkloadSelection& selection) {
  if (selection.empty()) return workload;
  return std::make_unique<SelectedWorkload>(std::move(workload), selection);
}

}  // namespace atl
