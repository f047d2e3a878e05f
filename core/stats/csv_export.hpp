#pragma once
#include <string>
#include <vector>

#include "core/stats/run_result.hpp"

namespace atl {

struct CsvFile {
  std::string name, text;
};

/// The tables of a result, each with a row per observation and a heading: kernels, series, totals, stack, slices, channels,
/// latency, energy, decisions, provenance. Tables that the result has nothing for are left out.
std::vector<CsvFile> csv_tables(const RunResult& result);

}  // namespace atl
