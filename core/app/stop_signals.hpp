#pragma once

/// What other programs, above all batch systems, ask of a run by signals.
namespace atl {

/// From now on SIGUSR1, SIGTERM and SIGINT are noted instead of ending the process. If nobody has acted on a SIGTERM within
/// `kGraceSeconds`, the process ends all the same. As early as possible: starting MPI takes its time.
void note_stop_signals();
/// For runs that leave no checkpoints: these signals end the process again, and one that was noted does so now.
void let_stop_signals_end();

inline constexpr unsigned kGraceSeconds = 10;

/// SIGUSR1 came since the last call: leave a checkpoint and end.
bool take_checkpoint_signal();
/// SIGTERM came: end.
bool end_signalled();
/// SIGINT came: end with a result of what was simulated. A second one ends the process.
bool interrupted();
/// Where a person is at the terminal he is asked first, once for each SIGINT, by the one who calls this; others then hear
/// the answer from interrupted().
bool interrupted_for_sure(unsigned long long cycle);

}  // namespace atl
