#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace atl {

/// A state (docs/monitor.md) for a terminal: what stands there until the next one comes.
std::vector<std::string> live_screen(const nlohmann::json& state);

/// The same in one line: `kernel 2/7 | cycle 1.20 M | .. | 41 % DRAM, 20 % issues`.
std::string live_line(const nlohmann::json& state);

}  // namespace atl
