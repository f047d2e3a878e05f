#pragma once
#include <cstddef>
#include <map>
#include <string>

#include "core/stats/run_result.hpp"

namespace atl {

/// `0.3.0 (0123abcd)`: the Atoll that wrote a result, and its commit.
std::string written_by(const Provenance& provenance);
std::string this_version();  ///< of the results that this program writes

/// How many results each version wrote.
using ResultVersions = std::map<std::string, std::size_t>;

/// "results are of 2 versions of Atoll, which alone can make them differ: ..."; empty for those of one.
std::string versions_note(const ResultVersions& results);

}  // namespace atl
