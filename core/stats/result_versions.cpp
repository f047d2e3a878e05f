#include "core/stats/result_versions.hpp"

#include <fmt/format.h>

#include "core/stats/version.hpp"

namespace atl {

std::string written_by(const Provenance& provenance) {
  return fmt::format("{} ({})", provenance.version, provenance.git_commit);
}

std::string this_version() { return fmt::format("{} ({})", version(), git_commit()); }

std::string versions_note(const ResultVersions& results) {
  if (results.size() < 2) return "";
  std::string out = fmt::format("results are of {} versions of Atoll, which alone can make them differ:", results.size());
  for (const auto& [version, n] : results) out += fmt::format("{} {} of {}", out.back() == ':' ? "" : ",", n, version);
  return out;
}

}  // namespace atl
