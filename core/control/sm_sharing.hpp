#pragma once
#include <memory>
#include <utility>
#include <vector>

#include "comm/transport.hpp"
#include "core/chip/base/machine.hpp"
#include "core/chip/observe/sm_sharing_observer.hpp"

namespace atl {

using SmSharingObservers = std::vector<std::unique_ptr<SmSharingObserver>>;

/// Collective, after the run: adds up what the observers of all chips counted. Beside the simulated messages, so that the
/// digest is that of a run without them.
SmSharingResult gather_sm_sharing(Transport& transport, const SystemConfig& config, const SmSharingObservers& mine);

}  // namespace atl
