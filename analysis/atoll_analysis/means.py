"""Means of comparisons, as `atoll table` forms them (docs/experiments.md)."""

import math
from collections.abc import Sequence

NAMES = {"harmonic": "harmonic mean", "ipc_first": "IPC-first mean"}  # of the rows of Sweep.means()


def harmonic(values: Sequence[float]) -> float:
    """Every value weighs alike by its inverse: 0 with one of 0; NaN of nothing."""
    if not values:
        return math.nan
    return len(values) / sum(1 / v for v in values) if all(values) else 0.0


def ipc_first(ipcs: Sequence[float], baseline_ipcs: Sequence[float]) -> float:
    """Harmonic mean of the IPCs over that of the baselines' IPCs: workloads of low IPC weigh most."""
    if len(ipcs) != len(baseline_ipcs):
        raise ValueError("an IPC without its baseline's")
    return harmonic(ipcs) / harmonic(baseline_ipcs) if ipcs else math.nan
