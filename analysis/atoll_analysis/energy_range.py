"""Ranges of energy while every price moves between its least and its greatest value, the same in all runs
(docs/energy.md)."""

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import h5py
import numpy as np
import pandas as pd

from atoll_analysis import config, work
from atoll_analysis.errors import BadResult

_Array = np.ndarray[Any, np.dtype[np.float64]]

_STEPS = np.linspace(-1, 1, 9)  # tried of each price in a mean, as powers of its factor
_GAIN = 1e-12                   # relative; less is no better


@dataclass(frozen=True)
class Range:
    least: float
    greatest: float

    def has(self, value: float) -> bool:
        return self.least <= value <= self.greatest


def read_prices(file: h5py.File) -> pd.DataFrame | None:
    """[price] `joules` paid at it, and the `factor` by which it may be wrong either way; None in files without. `attrs` say
    of which run they are, so that ratios of unlike runs can be refused."""
    if "energy_prices" not in file:
        return None
    group = file["energy_prices"]
    prices = pd.DataFrame({name: group[name][:] for name in ("joules", "factor")},
                          index=pd.Index(group["key"].asstr()[:], name="price"))
    part = "is of a sampled run" if "sampling" in file else "" if file.attrs["complete"] else "was stopped early"
    prices.attrs.update(units={"joules": "J"}, path=file.filename, part=part, workload=_workload(file), done=_done(file))
    return prices


def _workload(file: h5py.File) -> str:
    """A digest, because pandas copies what a table carries with every step."""
    group = file["kernels"]
    files = work.workload(file["provenance"].attrs, group["name"][()].tolist(), group["ctas"][()].tolist())
    return hashlib.sha256(repr(files).encode()).hexdigest()


def _done(file: h5py.File) -> work.Done:
    effective = config.flatten(file["provenance"].attrs["effective_config"]).to_dict()
    totals = file["totals"] if "sampling" not in file else {}
    return work.done(effective, [work.Count(float(totals[name][()].sum()) if name in totals else math.nan) for name in work.COUNTED])


def _check(ours: pd.DataFrame, theirs: pd.DataFrame) -> None:
    """BadResult where their energies are not of the same work. Prices that were made by hand are trusted."""
    for run in (ours, theirs):
        if run.attrs.get("part"):
            raise BadResult(run.attrs["path"], f"{run.attrs['part']}: its joules are of a part of the workload")
    if "workload" not in ours.attrs or "workload" not in theirs.attrs:
        return
    path, other = ours.attrs["path"], theirs.attrs["path"]
    if ours.attrs["workload"] != theirs.attrs["workload"]:
        raise BadResult(path, f"is of another workload than {other}: energies of one can be compared")
    if key := ours.attrs["done"].unlike(theirs.attrs["done"]):
        raise BadResult(path, f"has another {key} than {other}, with which the work differs: energies of the same can be compared")


def total_range(prices: pd.DataFrame) -> Range:
    """Of the energy of one run, in joules."""
    return Range(float((prices["joules"] / prices["factor"]).sum()), float((prices["joules"] * prices["factor"]).sum()))


def ratio_range(ours: pd.DataFrame, theirs: pd.DataFrame) -> Range:
    """Of one run's energy over another's. Raises BadResult unless both are whole runs of the same work."""
    factor, (above,), (below,) = _arrays([(ours, theirs)])
    return Range(1 / _greatest(below, above, factor)[0], _greatest(above, below, factor)[0])


def mean_range(pairs: Sequence[tuple[pd.DataFrame, pd.DataFrame]], geometric: bool = False) -> Range:
    """Of the arithmetic or geometric mean of ratios. One price may raise some of them and lower others, so that the
    extremes need not be those of any: they are looked for from the corners of each."""
    mean = _geometric if geometric else _arithmetic
    factor, above, below = _arrays(pairs)
    starts = [np.ones_like(factor)]
    for a, b in zip(above, below):
        starts += [_greatest(a, b, factor)[1], _greatest(b, a, factor)[1]]
    climbed = [[_climb(above, below, factor, start, sign, mean) for start in starts] for sign in (-1, 1)]
    return Range(min(climbed[0]), max(climbed[1]))


def _arrays(pairs: Sequence[tuple[pd.DataFrame, pd.DataFrame]]) -> tuple[_Array, _Array, _Array]:
    """Factors by price, and joules by pair and price, of those prices that anything was paid at."""
    for pair in pairs:
        _check(*pair)
    runs = [run for pair in pairs for run in pair]
    factor = pd.concat([run.loc[run["joules"] > 0, "factor"] for run in runs])
    factor = factor[~factor.index.duplicated()]
    joules = [run["joules"].reindex(factor.index, fill_value=0.0).to_numpy(float) for run in runs]
    return factor.to_numpy(float), np.array(joules[0::2]), np.array(joules[1::2])


def _greatest(above: _Array, below: _Array, factor: _Array) -> tuple[float, _Array]:
    """The greatest ratio of two sums, and the prices, as multiples of what they are, that give it. The derivative by a
    price has the sign of `above / below` of that price against the ratio itself: at the maximum, those with the larger
    quotients are at their greatest and the others at their least, so one of these corners is the maximum."""
    with np.errstate(divide="ignore", invalid="ignore"):
        rank = np.argsort(np.argsort(-np.where(below > 0, above / below, np.inf)))
    corners = np.where(np.arange(len(factor) + 1)[:, None] > rank, factor, 1 / factor)
    ratios = (corners @ above) / (corners @ below)
    best = int(ratios.argmax())
    return float(ratios[best]), corners[best]


def _arithmetic(ratios: _Array) -> _Array:
    """Of the last axis."""
    return np.asarray(ratios.mean(axis=-1))


def _geometric(ratios: _Array) -> _Array:
    return np.asarray(np.exp(np.log(ratios).mean(axis=-1)))


def _climb(above: _Array, below: _Array, factor: _Array, start: _Array, sign: int, mean: Callable[[_Array], _Array]) -> float:
    """The mean of the ratios, made greater (`sign` 1) or less (-1) by one price after another until none helps."""
    at = start.copy()
    best = float(mean(above @ at / (below @ at)))
    while True:
        before = best
        for i, f in enumerate(factor):
            tried = f ** _STEPS
            moved = (tried - at[i])[:, None]
            means = mean((above @ at + moved * above[:, i]) / (below @ at + moved * below[:, i]))
            k = int((sign * means).argmax())
            if sign * means[k] > sign * best:
                at[i], best = tried[k], float(means[k])
        if sign * (best - before) <= _GAIN * abs(before):
            return best
