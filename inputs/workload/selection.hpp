#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "inputs/workload/workload.hpp"

namespace atl {

/// Part of a workload: some of its kernels, and some CTAs of each.
class WorkloadSelection {
 public:
  WorkloadSelection() = default;
  /// `kernels`: numbers from 0, as `atoll info` lists them, ranges of them and names, a kernel being chosen by any:
  /// `3-10,12,name=conv*`; a name may have the wildcards of a shell, and is what fits_function() takes. `ctas`: flattened
  /// numbers and ranges, of every kernel. Empty: all. Throws InputError.
  WorkloadSelection(const std::string& kernels, const std::string& ctas);

  bool empty() const { return kernel_text_.empty() && cta_text_.empty(); }
  bool has_kernel(std::size_t number, const std::string& name) const;
  bool has_cta(std::uint64_t cta) const;
  /// The CTAs of a kernel of `ctas` that are chosen.
  std::uint64_t count(std::uint64_t ctas) const;
  /// The n-th of them.
  std::uint64_t nth(std::uint64_t n) const;
  /// `kernels 3-10,name=conv*: 8 of 33; CTAs 0-99 of each`
  std::string text(std::size_t chosen, std::size_t kernels) const;
  /// Throws InputError if a number, range or name of the texts chooses none of these kernels or CTAs, or all together
  /// choose nothing.
  void check(const std::vector<KernelInfo>& kernels) const;

 private:
  using Range = std::pair<std::uint64_t, std::uint64_t>;  ///< first and last
  static std::vector<Range> merged(std::vector<Range> ranges);

  std::string kernel_text_, cta_text_;
  std::vector<Range> kernels_, ctas_;  ///< ascending, apart; of CTAs: all if empty
  std::vector<std::string> names_;
};

/// The kernels and CTAs of `workload` that are chosen; a kernel none of whose CTAs is, is left out. A kernel that lost CTAs
/// is a sample, with a grid of one row. Throws InputError if nothing is left.
std::unique_ptr<Workload> select(std::unique_ptr<Workload> workload, const WorkloadSelection& selection);

}  // namespace atl
