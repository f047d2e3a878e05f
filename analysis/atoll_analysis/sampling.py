"""What a sampled run says of its whole workload (docs/sampling.md)."""

from dataclasses import dataclass

import h5py
import numpy as np
import pandas as pd


@dataclass(frozen=True, repr=False)
class Sampling:
    """Extrapolated figures. What else is in the result, but for the list of kernels, is of the launches that were simulated."""

    error: float              #: asked for, as a part of the cycles
    confidence: float         #: of all intervals
    work: float               #: warp instructions of all launches, about
    simulated_work: float     #: of those that were simulated
    figures: pd.DataFrame     #: [metric or counter] value, half_width of its interval
    launches: pd.DataFrame    #: [kernel] cluster, simulated, cycles, half_width

    def __str__(self) -> str:
        return f"sampled: {int(self.launches['simulated'].sum())} of {len(self.launches)} launches simulated"

    __repr__ = __str__


def read_sampling(file: h5py.File) -> Sampling | None:
    """None of a run that simulated everything."""
    if "sampling" not in file:
        return None
    group = file["sampling"]
    names = [t.decode("utf-8", "replace") if isinstance(t, bytes) else str(t) for t in group["figures/name"][()]]
    figures = pd.DataFrame({column: group[f"figures/{column}"][()] for column in ("value", "half_width")}, index=names)
    figures.index.name = "metric"
    launches = pd.DataFrame({"cluster": group["launches/cluster"][()].astype(np.int64),
                             "simulated": group["launches/simulated"][()].astype(bool),
                             "cycles": group["launches/cycles"][()], "half_width": group["launches/half_width"][()]})
    launches.index.name = "kernel"
    attributes = {name: float(group.attrs[name]) for name in ("error", "confidence", "work", "simulated_work")}
    return Sampling(**attributes, figures=figures, launches=launches)
