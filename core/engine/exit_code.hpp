#pragma once
#include <csignal>

namespace atl {

/// What the exit of `atoll` says, and that of a program which the recorder ended (docs/README.md tells them to users).
enum ExitCode : int {
  kExitDone = 0,
  kExitOther = 1,                   ///< anything that no other code stands for
  kExitInput = 2,                   ///< the input or the command line was refused
  kExitSimulation = 3,              ///< the simulation failed; a recorded program did what Atoll does not execute
  kExitFiles = 4,                   ///< a file could not be read or written, or a monitor not be reached
  kExitCheckpointed = 75,           ///< EX_TEMPFAIL: a batch system may start it again with `resume`
  kExitNotExecutable = 126,         ///< as shells have it: a program that could not be started
  kExitNotFound = 127,              ///< as shells have it: no such program
  kExitInterrupted = 128 + SIGINT,  ///< with a result that is marked as incomplete
  kExitTerminated = 128 + SIGTERM,
};

}  // namespace atl
