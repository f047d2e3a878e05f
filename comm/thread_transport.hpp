#pragma once
#include <functional>

#include "comm/transport.hpp"

namespace atl {

/// Ranks as threads of this process. Runs `body(transport)` once per rank and returns when all have; if one throws, the
/// others are released from any waiting and the first exception is rethrown.
void run_threads(int ranks, const std::function<void(Transport&)>& body);

}  // namespace atl
