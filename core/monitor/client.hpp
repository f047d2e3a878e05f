#pragma once
#include <cstdint>
#include <string>

#include "core/engine/error.hpp"
#include "core/monitor/access.hpp"

namespace atl {

/// Asks a monitor for its state: `{"number": N, "state": {..}}`. `after`: the number of the last one that is known; waits
/// for another, or some seconds. Throws InputError if the monitor refuses, Unreachable if none is there.
std::string fetch_state(const MonitorUrl& url, std::uint64_t after);

/// Nobody listens, or stopped listening.
class Unreachable : public IoError {
 public:
  using IoError::IoError;
};

}  // namespace atl
