#pragma once
#include <optional>
#include <span>

/// The arithmetic of comparing runs of the same work on different systems.
namespace atl {

/// One workload on a system and on the baseline. All cycles are of the baseline's clock.
struct Compared {
  double cycles = 0, baseline_cycles = 0;
  double ipc = 0, baseline_ipc = 0;  ///< warp instructions per cycle
  double speedup() const { return baseline_cycles / cycles; }
};

/// Nothing for an empty list.
std::optional<double> harmonic_mean(std::span<const double> values);
std::optional<double> arithmetic_mean(std::span<const double> values);

/// The harmonic mean of the speed-ups: every workload weighs alike.
std::optional<double> mean_speedup(std::span<const Compared> runs);

/// The harmonic mean of the IPCs over the baseline's: the workloads with few instructions per cycle weigh most. It explains
/// SAC's printed averages, which the plain mean of its bars does not.
std::optional<double> ipc_first_speedup(std::span<const Compared> runs);

/// |ln(ours / paper)|: twice as fast and half as fast are equally wrong.
double log_error(double ours, double paper);

}  // namespace atl
