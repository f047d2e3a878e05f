#pragma once
#include <optional>
#include <span>

/// The arithmetic of comparing runs of the same work on different systems.
namespace atl {

/// One workload on a system and on the baseline. All cycles are of one clock, which is the same for all workloads.
struct Compared {
  double cycles = 0, baseline_cycles = 0;
  double ipc = 0, baseline_ipc = 0;  ///< warp instructions per cycle
  double speedup() const { return baseline_cycles / cycles; }
};

/// Cycles and rates of two clocks (MHz) as those of one clock of 1 MHz. The baseline's clock would not do: it may differ
/// between workloads, whose rates are averaged.
Compared at_clocks(const Compared& of_own_clocks, double mhz, double baseline_mhz);

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
