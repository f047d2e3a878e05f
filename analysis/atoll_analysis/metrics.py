"""Figures of merit of a run, most of them as `atoll table` defines them: counters summed over chips first, then divided."""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from atoll_analysis.result import Head

Sums = Mapping[str, float]


@dataclass(frozen=True)
class Metric:
    name: str
    unit: str
    doc: str
    value: Callable[[Sums, float], float]  #: of the counters' sums over chips and the run's cycles


def ratio(part: float, whole: float) -> float:
    return part / whole if whole else math.nan


METRICS = (
    Metric("cycles", "cycles", "end of the last kernel", lambda s, cycles: cycles),
    Metric("ipc", "instructions/cycle", "warp instructions per cycle", lambda s, c: ratio(s["warp.instructions"], c)),
    Metric("l1.hit_rate", "", "loaded lines found in the L1", lambda s, c: ratio(s["l1.hits"], s["l1.accesses"])),
    Metric("l1.miss_rate", "", "loaded lines that began a miss", lambda s, c: ratio(s["l1.misses"], s["l1.accesses"])),
    Metric("l2.hit_rate", "", "requests that hit in the L2", lambda s, c: ratio(s["l2.hits"], s["l2.accesses"])),
    Metric("l2.miss_rate", "", "requests that began a miss there", lambda s, c: ratio(s["l2.misses"], s["l2.accesses"])),
    Metric("llc.hit_rate", "", "requests that hit in a slice", lambda s, c: ratio(s["llc.hits"], s["llc.accesses"])),
    Metric("llc.miss_rate", "", "requests that began a miss", lambda s, c: ratio(s["llc.misses"], s["llc.accesses"])),
    Metric("requests.local_share", "", "requests of L1s (read misses, stores, atomics) whose home is their own chip",
           lambda s, c: ratio(s["requests.local"], s["requests.local"] + s["requests.remote"])),
    Metric("load.mean_latency", "cycles", "from L1 to data",
           lambda s, c: ratio(s["load.latency_cycles"], s["load.completed"])),
    Metric("dram.bytes_per_cycle", "bytes/cycle", "read and written, all chips",
           lambda s, c: ratio(s["dram.read_bytes"] + s["dram.write_bytes"], c)),
    Metric("link.bytes_per_cycle", "bytes/cycle", "sent between chips, all chips",
           lambda s, c: ratio(s["link.bytes"], c)),
)


#: of metrics() and of a sweep's runs
UNITS = {m.name: m.unit for m in METRICS} | {"energy.total": "J", "baseline_ipc": "instructions/cycle"}


def sums(head: Head) -> Sums:
    """Every counter summed over chips; one that the file does not have is 0."""
    return defaultdict(float, {str(name): float(value) for name, value in head.totals.sum().items()})


def metrics(head: Head, simulated: bool = False) -> "pd.Series[float]":
    """All METRICS, `energy.total` in joules and `energy.<component>`, by name. Of a sampled run: of the whole workload,
    extrapolated, or of the launches that were `simulated`."""
    of = sums(head)
    whole = None if simulated else head.sampling
    if whole is not None:
        of = defaultdict(float, {str(name): float(value) for name, value in whole.figures["value"].items()})
    values = {m.name: m.value(of, float(head.cycles) if whole is None else head.workload_cycles) for m in METRICS}
    values["energy.total"] = math.nan
    if whole is not None:
        values.update({name: of[name] for name in of if name.startswith("energy.")})
    elif head.energy is not None:
        joules = head.energy.sum()
        values["energy.total"] = float(joules.sum())
        values.update({f"energy.{name}": float(value) for name, value in joules.items()})
    found = pd.Series(values, dtype=float)
    found.attrs["units"] = {name: UNITS.get(name, "J") for name in values if UNITS.get(name, "J")}
    return found
