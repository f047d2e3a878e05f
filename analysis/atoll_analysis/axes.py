"""The keys that a sweep varies, and its figures along them."""

from collections.abc import Sequence

import pandas as pd

from atoll_analysis import means
from atoll_analysis.config import text


def varied(configs: pd.DataFrame) -> list[str]:
    """Keys of [workload, variant] that differ between variants of one workload."""
    return [key for key in configs if bool((configs[key].map(repr).groupby(level="workload").nunique() > 1).any())]


def numeric(values: "pd.Series[object]") -> bool:
    return bool(values.map(lambda v: isinstance(v, int | float) and not isinstance(v, bool)).all())


def others(runs: pd.DataFrame, keys: Sequence[str], key: str) -> "pd.Series[str]":
    """[run] what else its variant sets, in a few words."""
    rest = [k for k in keys if k != key]
    return pd.Series([" ".join(map(text, row)) for row in runs[rest].to_numpy()], index=runs.index, dtype=object)


def along(runs: pd.DataFrame, keys: Sequence[str], key: str, metric: str) -> pd.DataFrame:
    """[workload, others x value of the key] the metric of each run; the first of several that are alike in all keys."""
    table = runs.assign(others=others(runs, keys, key))
    order = list(dict.fromkeys(zip(table["workload"], table["others"])))
    shown = table.pivot_table(index=["workload", "others"], columns=key, values=metric, aggfunc="first", sort=False)
    return shown.reindex(pd.MultiIndex.from_tuples(order, names=["workload", "others"])).sort_index(axis=1)


def mean_along(table: pd.DataFrame) -> pd.DataFrame:
    """[others x value] harmonic mean over the workloads that have all values."""
    whole = table.dropna()
    return whole.groupby(level="others", sort=False).agg(lambda column: means.harmonic(list(column)))
