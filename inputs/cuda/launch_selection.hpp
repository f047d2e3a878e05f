#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace atl::cuda {

/// Which launches of a program are recorded: `atoll record --kernels`.
class LaunchSelection {
 public:
  LaunchSelection() = default;  ///< all
  /// A list with commas; a launch that fits one of its items is recorded. An item is a range of launches, counted from 0
  /// ("3-10", "3", "3-"), a pattern of kernel names ("gemm*"), or a pattern with the range of its own launches
  /// ("gemm*:0-2": the first three of these). Throws InputError.
  explicit LaunchSelection(const std::string& text);

  /// Whether the next launch, of this kernel, is recorded. Asked once for each, in their order.
  bool next(const std::string& mangled_name);

 private:
  struct Item {
    std::string pattern;  // empty: any kernel
    std::uint64_t first = 0, last = ~0ull, launches = 0;
  };
  std::vector<Item> items_;
};

/// "3-10", "3", "3-" (to the end). `option` is named in the InputError that this throws.
std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& text, const std::string& option);

}  // namespace atl::cuda
