"""When one run is faster than another, and which policy that chooses loses to a fixed choice."""

from collections.abc import Collection

import pandas as pd

ALIKE = 0.01  # of the run time: who is no slower than that is as fast


def beaten_by(times: "pd.Series[float]", choosing: Collection[str], name: str) -> tuple[str, float] | None:
    """The fastest of the runs that do not choose, if it beats the run of this name, and by what share of its time."""
    fixed = times.drop([str(run) for run in times.index if run in choosing])
    if name not in choosing or fixed.empty or times[name] <= fixed.min() * (1 + ALIKE):
        return None
    return str(fixed.idxmin()), float(times[name] / fixed.min() - 1)
