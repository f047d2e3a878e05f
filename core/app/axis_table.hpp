#pragma once
#include <string>
#include <vector>

#include "core/stats/text_table.hpp"
#include "inputs/experiment/experiment.hpp"

namespace atl {

/// A table of a sweep (sweep_table.hpp), whose columns are variants, with a column for each value that variants give to
/// `key`, and a row for each workload or mean and what else variants set. `with_baselines` false: without rows in which
/// every variant is its own baseline. Throws InputError if no variant sets the key.
TextTable by_axis(const TextTable& table, const Experiment& experiment, const std::string& key, bool with_baselines);

/// Where every variant that sets `key` is its own baseline, as those of one swept variant, all speed-ups would be 1: each
/// variant's baseline becomes its counterpart at the first value, which is returned. Else nothing changes, and it is "".
std::string compare_along(Experiment& experiment, const std::string& key);

/// What the variants that set `key` are compared with, where that is their counterparts in the same column and these are
/// alike in all else: what the counterparts set. "": they are compared with something else, or the counterparts set nothing.
std::string baseline_of_columns(const Experiment& experiment, const std::string& key);

/// The keys to which variants give different values.
std::vector<std::string> differing_keys(const Experiment& experiment);

}  // namespace atl
