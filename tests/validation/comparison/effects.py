"""What a mechanism brings in a full factorial comparison, and what two bring together.

Everything is a ratio of run times and averaged as such (geometric mean): effects of mechanisms that do not touch each
other then multiply, whatever the workload. A setting is (organisation, replication, protocol, sharing)."""

from collections.abc import Iterator

import numpy as np
import pandas as pd

DIMENSIONS = {
    "organisation": ("memory_side", "static", "dynamic", "sm_side", "sac"),
    "replication": ("shared", "selrep"),
    "protocol": ("software", "directory", "hmg", "rec"),
    "sharing": ("none", "colab"),
}
BASE = tuple(values[0] for values in DIMENSIONS.values())


def geometric(values: "pd.Series[float]") -> float:
    return float(np.exp(np.log(values.astype(float)).mean()))


def speedups(runs: pd.DataFrame, what: str = "cycles") -> pd.DataFrame:
    """[workload, setting] BASE over each setting; `runs` has a row per run, with the workload, the dimensions and `what`."""
    table = runs.pivot_table(index="workload", columns=list(DIMENSIONS), values=what)
    return table.rdiv(table[BASE], axis=0)


def mean(speedup: pd.DataFrame) -> "pd.Series[float]":
    """[setting] geometric mean over workloads; NaN where one has no run."""
    return np.exp(np.log(speedup).mean(skipna=False))


def replaced(setting: tuple[str, ...], dimension: str, value: str) -> tuple[str, ...]:
    at = list(DIMENSIONS).index(dimension)
    return setting[:at] + (value,) + setting[at + 1:]


def contexts(speedup: pd.DataFrame, dimension: str, value: str) -> "pd.Series[float]":
    """[setting without it] what `value` brings wherever the dimension's first value stands, everything else equal."""
    first = DIMENSIONS[dimension][0]
    brings = {}
    at = list(DIMENSIONS).index(dimension)
    for setting in speedup.columns:
        other = replaced(setting, dimension, value)
        if setting[at] == first and other in speedup.columns:
            brings[setting] = geometric(speedup[other] / speedup[setting])
    return pd.Series(brings, dtype=float)


def stand_in(setting: tuple[str, ...]) -> tuple[str, ...]:
    """Memory-side slices hold no remote lines, so that no protocol does anything: software's run stands for all."""
    organisation, replication, _, sharing = setting
    return (organisation, replication, "software", sharing) if organisation == "memory_side" else setting


def others() -> Iterator[tuple[str, str]]:
    """All (dimension, value) that are not of BASE."""
    for dimension, values in DIMENSIONS.items():
        for value in values[1:]:
            yield dimension, value


def interaction(speedup: pd.DataFrame, one: tuple[str, str], two: tuple[str, str]) -> float:
    """How much faster both are together than the product of each alone: 1, they add up; below, they undo each other.
    The mean over all settings of the other dimensions in which all four runs exist; NaN if there are none."""
    if one[0] == two[0]:
        return float("nan")
    firsts = {d: DIMENSIONS[d][0] for d, _ in (one, two)}
    found = []
    for setting in speedup.columns:
        if any(setting[list(DIMENSIONS).index(d)] != first for d, first in firsts.items()):
            continue
        with_one, with_two = stand_in(replaced(setting, *one)), stand_in(replaced(setting, *two))
        both = stand_in(replaced(replaced(setting, *one), *two))
        if all(s in speedup.columns for s in (with_one, with_two, both)):
            found.append(geometric(speedup[both] * speedup[setting] / (speedup[with_one] * speedup[with_two])))
    return geometric(pd.Series(found)) if found else float("nan")


def interactions(speedup: pd.DataFrame) -> pd.DataFrame:
    names = list(others())
    return pd.DataFrame([[interaction(speedup, a, b) for b in names] for a in names],
                        index=[v for _, v in names], columns=[v for _, v in names])


def regret(speedup: pd.DataFrame) -> pd.DataFrame:
    """[workload, setting] time over that of the workload's best setting: 1 is the best there is."""
    return speedup.rdiv(speedup.max(axis=1), axis=0)
