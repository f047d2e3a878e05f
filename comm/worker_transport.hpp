#pragma once
#include <exception>
#include <functional>

#include "comm/transport.hpp"

namespace atl {

/// Ranks as threads of several processes, so many in each: rank = process * threads + thread. Runs `body(transport)` once
/// per rank of this process and returns when all have. `processes`: how the processes talk, of which all call this; it must
/// stand streams and one collective at a time from several threads, and streams of up to kStreams * threads^2 numbers.
///
/// Errors of which all ranks know (throw_if_any_failed) come out as from run_threads(). Any other would leave ranks of other
/// processes waiting for ever: `give_up` is called with it, and must end the job.
void run_workers(Transport& processes, int threads, const std::function<void(Transport&)>& body,
                 const std::function<void(const std::exception_ptr&)>& give_up);

}  // namespace atl
