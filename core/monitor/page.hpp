#pragma once
#include <string>
#include <string_view>

namespace atl {

/// The page that shows a run (page.html). `nonce`: of its style and its script, which the Content-Security-Policy names.
std::string monitor_page(std::string_view nonce);

}  // namespace atl
