"""Counters over time turned into rates and shares. Always sums first, quotients last."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from atoll_analysis.result import Result


def coarsened(counters: pd.DataFrame, most: int) -> pd.DataFrame:
    """Neighbouring samples added up so that at most `most` remain: counters of longer periods."""
    samples = counters.index.get_level_values("sample")
    number = int(samples.max()) + 1 if len(samples) else 0
    if number <= most:
        return counters
    together = -(-number // most)
    by = [samples // together, counters.index.get_level_values("chip")]
    grouped = counters.groupby(by)
    out = grouped.sum()
    out["begin"], out["end"] = grouped["begin"].min(), grouped["end"].max()
    out.index.names = ["sample", "chip"]
    return out


def by_chip(counters: pd.DataFrame, *names: str) -> pd.DataFrame:
    """[sample x chip] the sum of the named counters; one that the file does not have is 0."""
    present = [name for name in names if name in counters]
    return counters[present].sum(axis=1).unstack("chip")


def lengths(counters: pd.DataFrame) -> "pd.Series[float]":
    """[sample] cycles of each period."""
    first = counters.groupby(level="sample")[["begin", "end"]].first()
    return (first["end"] - first["begin"]).clip(lower=1).astype(float)


def looks(counters: pd.DataFrame, sample_cycles: float) -> "pd.Series[float]":
    """[sample] how often contents were looked at: at each multiple of `control.sample_cycles`, of which a sample of a long run
    spans several. At least 1."""
    first = counters.groupby(level="sample")[["begin", "end"]].first()
    return (first["end"] // sample_cycles - first["begin"] // sample_cycles).clip(lower=1).astype(float)


def edges(counters: pd.DataFrame) -> npt.NDArray[np.float64]:
    """Cycles at which periods begin, and the end of the last."""
    return np.concatenate(([0.0], counters["end"].groupby(level="sample").first().to_numpy(dtype=float)))


def per_cycle(counters: pd.DataFrame, *names: str) -> pd.DataFrame:
    """[sample x chip] the named counters per cycle. NaN in a last period that the end cuts short, unless it is the only one:
    chips hear of the end up to two controller latencies later, and what they do until then is in it."""
    of = lengths(counters)
    if len(of) > 1 and of.iloc[-1] < of.iloc[-2]:
        of.iloc[-1] = np.nan
    return by_chip(counters, *names).div(of, axis=0)


def share(counters: pd.DataFrame, part: tuple[str, ...], whole: tuple[str, ...]) -> "pd.Series[float]":
    """[sample] part / whole over all chips; NaN where there was nothing."""
    above, below = by_chip(counters, *part).sum(axis=1), by_chip(counters, *whole).sum(axis=1)
    return above.astype(float).div(below.where(below > 0))


def during(result: Result, begin: Sequence[float], end: Sequence[float], names: Sequence[str]) -> pd.DataFrame:
    """[interval] the named counters of [begin, end) in cycles, summed over chips; one that the file does not have is 0. A
    sample that lies partly inside counts in proportion: what a sample's time was spent on within it is not known."""
    at = edges(result.counters)
    sums = result.counters.reindex(columns=list(names), fill_value=0).groupby(level="sample").sum()
    until = {name: np.concatenate(([0.0], sums[name].cumsum().to_numpy(dtype=float))) for name in names}
    return pd.DataFrame({name: np.interp(end, at, counted) - np.interp(begin, at, counted)
                         for name, counted in until.items()})
