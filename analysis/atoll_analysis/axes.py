"""The keys that a sweep varies, and its figures along them."""

import itertools
import re
from collections.abc import Collection, Sequence

import pandas as pd

from atoll_analysis import means
from atoll_analysis.config import text


def varied(configs: pd.DataFrame, given: Collection[str] = ()) -> list[str]:
    """Keys of [workload, variant] that differ between variants of one workload, without those that only follow: that no run
    was given, and that have one value wherever the keys of their section that runs were given have one, as timings of memories
    have by preset."""
    words = {key: of for key in configs if (of := configs[key].map(repr)).nunique() > 1}  # few of hundreds of keys
    differ = [key for key, of in words.items() if bool((of.groupby(level="workload").nunique() > 1).any())]
    set_ = [key for key in differ if key in given]

    def follows(key: str) -> bool:
        beside = [words[other] for other in set_ if other.partition(".")[0] == key.partition(".")[0]]
        return bool(beside) and words[key].groupby(beside).nunique().max() == 1

    return [key for key in differ if key in set_ or not follows(key)]


def numeric(values: "pd.Series[object]") -> bool:
    return bool(values.map(lambda v: isinstance(v, int | float) and not isinstance(v, bool)).all())


def settings(runs: pd.DataFrame, keys: Sequence[str]) -> "pd.Series[str]":
    """[run] the values of the keys, in a few words. Numbers and switches say nothing without their keys."""
    def word(key: str, value: object) -> str:
        return value if isinstance(value, str) else f"{key}={text(value)}"

    rows = [" ".join(word(key, value) for key, value in zip(keys, row)) for row in runs[list(keys)].to_numpy(dtype=object)]
    return pd.Series(rows, index=runs.index, dtype=object)


def others(runs: pd.DataFrame, keys: Sequence[str], *but: str) -> "pd.Series[str]":
    """[run] what else its variant sets, in a few words."""
    return settings(runs, [k for k in keys if k not in but])


def along(runs: pd.DataFrame, keys: Sequence[str], key: str, metric: str) -> pd.DataFrame:
    """[workload, others x value of the key] the metric of each run; the first of several that are alike in all keys."""
    table = runs.assign(others=others(runs, keys, key))
    order = list(dict.fromkeys(zip(table["workload"], table["others"])))
    shown = table.pivot_table(index=["workload", "others"], columns=key, values=metric, aggfunc="first", sort=False)
    return shown.reindex(pd.MultiIndex.from_tuples(order, names=["workload", "others"])).sort_index(axis=1)


def unseeded(workload: str) -> str:
    """The workload of which this one is a repetition with another seed: "mixed" of "mixed-seed3"."""
    return re.sub(r"[-_.]seed[-_]?\d+$", "", workload)


def compared(table: pd.DataFrame) -> pd.DataFrame:
    """Of [workload, others x ...] speed-ups, those that are of no baseline. A baseline is 1 for all workloads: one of them may be
    as fast on what it is compared with."""
    known = (table.fillna(1.0) != 1.0).any(axis=1).groupby(level="others").transform("any")
    return table[known]


def over_first(times: pd.DataFrame, first: object) -> pd.DataFrame:
    """Speed-ups over the times in the column `first` of [workload, others x ...]; without rows that have none there."""
    return times.rdiv(times[first], axis=0).dropna(how="all")


def _common(whole: pd.DataFrame) -> pd.DataFrame:
    """The rows of those workloads that have one for every `others`: only means over the same workloads compare. Of all workloads
    if there is none like that."""
    rows = whole.groupby(level="workload", sort=False).size()
    common = rows.index[rows == whole.index.get_level_values("others").nunique()]
    return whole[whole.index.get_level_values("workload").isin(common)] if len(common) else whole


def alike(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of along() that have all values, of the workloads that have such a row for every `others` that has one; or of all
    workloads if there is none like that."""
    return _common(table.dropna())


def _means(whole: pd.DataFrame) -> pd.DataFrame:
    return whole.groupby(level="others", sort=False).agg(lambda column: means.harmonic(list(column)))


def mean_along(table: pd.DataFrame) -> pd.DataFrame:
    """[others x value] harmonic mean over the workloads that have all values."""
    return _means(table.dropna())


def _of_seed(nth: int, workloads: list[pd.DataFrame]) -> "pd.Series[float]":
    """[value] the mean over all rows if each were of that repetition of its workload: what does not vary, and how much each
    workload weighs, are as in the mean of all. Workloads with fewer repetitions, such as one, count with every seed."""
    rows = pd.concat([one.iloc[[nth % len(one)] * len(one)] for one in workloads])
    return rows.agg(lambda column: means.harmonic(list(column)))


def seed_bars(table: pd.DataFrame) -> pd.DataFrame:
    """[others, (value, bound)] the lowest and the highest of what mean_along() would be with one seed for all repetitions; no
    rows where workloads have no seeds in their names. The n-th repetition of each workload belongs to the n-th seed."""
    whole, bars = table.dropna(), {}
    seeded = any(unseeded(workload) != workload for workload in whole.index.get_level_values("workload"))
    for others, line in whole.groupby(level="others", sort=False) if seeded else ():
        workloads = [one for _, one in line.groupby(line.index.get_level_values("workload").map(unseeded), sort=False)]
        each = pd.DataFrame([_of_seed(nth, workloads) for nth in range(max(map(len, workloads)))])
        bars[others] = [value for at in table for value in (each[at].min(), each[at].max())]
    return pd.DataFrame.from_dict(bars, orient="index", columns=pd.MultiIndex.from_product([table.columns, ["lowest", "highest"]]))


def pairs(configs: pd.DataFrame, varied: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of varied keys of numbers that vary independently: at least one value of the one goes with several of the
    other, and the other way round."""
    keys = [key for key in varied if numeric(configs[key])]
    found = []
    for one, other in itertools.combinations(keys, 2):
        met = configs[[one, other]].drop_duplicates()
        if all(int(met.groupby(a)[b].nunique().max()) > 1 for a, b in ((one, other), (other, one))):
            found.append((one, other))
    return found


def points(runs: pd.DataFrame, keys: Sequence[str], row: str, column: str, metric: str) -> pd.DataFrame:
    """[workload, others x (value of `row`, value of `column`)] the metric of each run; the first of several that are alike in all
    keys. No row for what has no number at all."""
    table = runs.assign(others=others(runs, keys, row, column))
    return table.pivot_table(index=["workload", "others"], columns=[row, column], values=metric, aggfunc="first", sort=False)


def alike_points(table: pd.DataFrame) -> pd.DataFrame:
    """As alike() of points(): a row has all values if it has those that its `others` has with any workload, as not all variants
    need be at all points."""
    lacks = table.isna() & table.notna().groupby(level="others").transform("any")
    return _common(table[~lacks.any(axis=1)])


def mean_grid(table: pd.DataFrame) -> pd.DataFrame:
    """[others, value of the one key x value of the other] harmonic mean of the rows of alike_points(). NaN where there is no run."""
    mean = _means(table).unstack().dropna()  # by both keys and `others`
    mean = mean.reorder_levels(["others", *table.columns.names]).unstack(level=2)
    return mean.sort_index(axis=1).sort_index(level=1, sort_remaining=False)
