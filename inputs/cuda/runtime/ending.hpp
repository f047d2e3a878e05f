#pragma once
#include <exception>

namespace atl::cudart {

/// From now on the trace is completed however the program ends: by exit, _exit, a signal, or a crash of its own.
/// (Not by SIGKILL, against which nothing helps.) Called when the trace is opened, and not earlier: what is registered
/// later with atexit runs earlier, and HDF5, which the trace needs, registers its own end when it is first used.
void save_trace_at_end();

/// A signal that ends the program has come: what is launched from now on is not recorded.
bool is_ending();
/// Holds up a thread of the program that calls CUDA meanwhile.
void wait_for_end();

/// Threads of this process that are not the program's, besides those that execute kernels.
unsigned own_threads();

}  // namespace atl::cudart
