#pragma once
#include <array>
#include <string>
#include <vector>

#include "core/stats/run_result.hpp"

namespace atl {

/// The machine's counters, summed over its chips.
Counters sum_of_chips(const RunResult& result);

/// Loads that an L1 did not serve, by who did, of all chips.
std::array<std::uint64_t, kOrigins> responses_by_origin(const RunResult& result);

/// The machine's energy, summed over its chips; all zero for a result that was not given any.
Energy energy_of_chips(const RunResult& result);

/// `12 of 400 launches simulated (error=3%,confidence=95%), the others extrapolated`; nothing of a run without --sample.
std::string sampled_text(const RunResult& result);

/// What a run that has ended shows to be hardly meant, a sentence each. Of several chips: that nothing of what is between
/// them was used, or that most requests go to one of them; a comparison of organisations or protocols then says little, and
/// often a size that divides the data by chance is behind it. Of a workload that names its data: that no request is to any.
std::vector<std::string> doubts(const RunResult& result);

/// `organisation sac, protocol software, replication shared`, and the sharing of clusters if there is any; nothing of a
/// result that does not say.
std::string caches_text(const RunResult& result);

/// What a user wants to see when a run ends: a table for the terminal, ended by a newline.
std::string summary_table(const RunResult& result);

/// `atoll info FILE`: the summary, every kernel and every counter by name.
std::string info_text(const RunResult& result);

}  // namespace atl
