#pragma once
#include <string>

#include "core/stats/text_table.hpp"
#include "inputs/experiment/experiment.hpp"

namespace atl {

/// A table of a sweep (sweep_table.hpp), whose columns are variants, with a column for each value that variants give to
/// `key`, and a row for each workload or mean and what else variants set. `with_baselines` false: without rows in which
/// every variant is its own baseline. Throws InputError if no variant sets the key.
TextTable by_axis(const TextTable& table, const Experiment& experiment, const std::string& key, bool with_baselines);

}  // namespace atl
