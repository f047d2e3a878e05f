#include "inputs/cuda/launch_selection.hpp"

#include <charconv>
#include <string_view>
#include <tuple>

#include "core/engine/error.hpp"
#include "core/engine/function_name.hpp"

namespace atl::cuda {
namespace {

bool whole_number(std::string_view text, std::uint64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& text, const std::string& option) {
  const auto dash = text.find('-');
  std::uint64_t first = 0, last = ~0ull;
  bool good = whole_number(std::string_view(text).substr(0, dash), first);
  if (dash == std::string::npos)
    last = first;
  else if (dash + 1 < text.size())
    good = good && whole_number(std::string_view(text).substr(dash + 1), last);
  if (!good || first > last)
    throw InputError(option, "'" + text + "' is no range; give for example 3-10, 3 or 3- (the first is 0)");
  return {first, last};
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
