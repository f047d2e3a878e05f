#include "inputs/cuda/launch_selection.hpp"

#include <optional>
#include <string_view>
#include <tuple>

#include "core/engine/error.hpp"
#include "core/engine/function_name.hpp"
#include "core/engine/whole_number.hpp"

namespace atl::cuda {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& text, const std::string& option) {
  const auto dash = text.find('-');
  const auto first = whole_number<std::uint64_t>(std::string_view(text).substr(0, dash));
  std::optional<std::uint64_t> last = ~0ull;
  if (dash == std::string::npos)
    last = first;
  else if (dash + 1 < text.size())
    last = whole_number<std::uint64_t>(std::string_view(text).substr(dash + 1));
  if (!first || !last || *first > *last)
    throw InputError(option, "'" + text + "' is no range; give for example 3-10, 3 or 3- (the first is 0)");
  return {*first, *last};
}

LaunchSelection::LaunchSelection(const std::string& text) {
  for (const std::string& word : split_patterns(text)) {
    Item item;
    const auto colon = word.rfind(':');
    // A name of C++ begins with no digit, so what does is a range, also behind the last colon.
    const bool ranged = colon != std::string::npos && colon + 1 < word.size() && is_digit(word[colon + 1]);
    if (word.empty() || is_digit(word[0]) || word[0] == '-') {
      std::tie(item.first, item.last) = parse_range(word, "--kernels");
    } else {
      item.pattern = ranged ? word.substr(0, colon) : word;
      if (ranged) std::tie(item.first, item.last) = parse_range(word.substr(colon + 1), "--kernels");
      if (item.pattern.empty()) throw InputError("--kernels", "'" + word + "' has no name before the colon");
    }
    items_.push_back(std::move(item));
  }
}

bool LaunchSelection::next(const std::string& mangled_name) {
  bool wanted = items_.empty();
  for (Item& item : items_) {
    if (!item.pattern.empty() && !fits_function(item.pattern, mangled_name)) continue;
    wanted |= item.launches >= item.first && item.launches <= item.last;
    ++item.launches;
  }
  return wanted;
}

}  // namespace atl::cuda
