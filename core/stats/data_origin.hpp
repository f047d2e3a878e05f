#pragma once
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace atl {

/// Where a chip's loads were served from.
enum class DataOrigin : std::uint8_t { local_llc, remote_llc, local_memory, remote_memory, neighbour_l1, l2, count_ };
inline constexpr std::size_t kOrigins = static_cast<std::size_t>(DataOrigin::count_);
inline constexpr std::string_view kOriginNames[kOrigins] = {"local_llc",     "remote_llc",   "local_memory",
                                                            "remote_memory", "neighbour_l1", "l2"};

}  // namespace atl
