#include "inputs/sampling/sampling_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <string_view>

#include "core/engine/error.hpp"

namespace atl {
namespace {

/// `3%` as 0.03.
double share_of(const std::string& where, std::string_view key, std::string_view value, double least, double most) {
  double percent = 0;
  const char* end = value.data() + value.size();
  const auto read = std::from_chars(value.data(), end, percent);
  if (read.ec != std::errc() || read.ptr + 1 != end || *read.ptr != '%' || !(percent >= least && percent <= most))
    throw InputError(where, fmt::format("`{}` is a percentage from {}% to {}%, such as {}={}%, not '{}'", key, least, most,
                                        key, least > 3 ? 95 : 3, value));
  return percent / 100;
}

}  // namespace

SamplingOptions SamplingOptions::parse(const std::string& text, const std::string& where) {
  SamplingOptions o;
  std::string_view rest = text;
  std::set<std::string_view> given;
  while (!rest.empty()) {
    const std::string_view item = rest.substr(0, rest.find(','));
    rest.remove_prefix(std::min(item.size() + 1, rest.size()));
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view key = item.substr(0, equals), value = item.substr(std::min(equals + 1, item.size()));
    if (!given.insert(key).second) throw InputError(where, fmt::format("`{}` is given twice", key));
    if (key == "error") {
      o.error = share_of(where, key, value, 0.1, 50);
    } else if (key == "confidence") {
      o.confidence = share_of(where, key, value, 50, 99.9);
    } else if (key == "early" || key == "warm") {
      if (value != "yes" && value != "no") throw InputError(where, fmt::format("`{}` is yes or no, not '{}'", key, value));
      (key == "early" ? o.early : o.warm) = value == "yes";
    } else {
      throw InputError(where,
                       fmt::format("knows no key `{}`; there are error=3%, confidence=95%, early=yes and warm=yes", key));
    }
  }
  return o;
}

std::string SamplingOptions::text() const {
  return fmt::format("error={:g}%,confidence={:g}%,early={},warm={}", 100 * error, 100 * confidence, early ? "yes" : "no",
                     warm ? "yes" : "no");
}

}  // namespace atl
