#pragma once
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "comm/transport.hpp"
#include "core/chip/base/machine.hpp"
#include "core/chip/observe/sharing_log.hpp"

/// Brings the chips' sharing logs together. Beside the simulated messages and after the run, so that the digest is that of
/// a run without them; epoch by epoch, so that a rank holds the other ranks' lines of one epoch at a time.
namespace atl {

using SharingLogs = std::vector<std::pair<LpId, std::unique_ptr<SharingLog>>>;

/// Sizes of what the chips accessed in one epoch, by window. `logs`: of each chip (line_log.hpp).
WindowedBytes classify(std::span<const std::string> logs, std::uint32_t page_shift, std::uint32_t line_bytes);

/// Collective: closes and uses up the logs of this rank's chips. The result is that of the machine where it is `wanted`,
/// and without meaning elsewhere.
SharingResult gather_sharing(Transport& transport, const Machine& machine, const SharingLogs& mine, bool wanted);

}  // namespace atl
