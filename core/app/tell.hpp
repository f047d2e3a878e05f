#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace atl {

/// Warnings and notes, on standard error. Where that is closed, or on a full disk, they are lost, and the run is not.
template <class... Args> void tell(fmt::format_string<Args...> text, Args&&... args) {
  std::fputs(fmt::format(text, std::forward<Args>(args)...).c_str(), stderr);
}

}  // namespace atl
