"""Energies of runs with their ranges, as validation pages show them (docs/energy.md)."""

import pathlib
import sys

import pandas as pd

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "analysis"))
from atoll_analysis.energy_range import mean_range, read_prices  # noqa: F401


def as_text(prices):
    """For a cell of a CSV file: `price:joules:factor`, of what was paid for."""
    paid = prices[prices["joules"] > 0]
    return " ".join(f"{price}:{joules:.4g}:{factor:g}" for price, joules, factor in paid.itertuples())


def from_text(text):
    """None for an empty one."""
    rows = [entry.split(":") for entry in text.split()]
    return pd.DataFrame({"joules": [float(r[1]) for r in rows], "factor": [float(r[2]) for r in rows]},
                        index=[r[0] for r in rows]) if rows else None


def range_of_mean(pairs, geometric=False):
    """Of the mean of the ratios of pairs of runs' prices; None where a run is missing or was written without prices."""
    return mean_range(pairs, geometric) if pairs and all(run is not None for pair in pairs for run in pair) else None


def changed(found, form="+.0%"):
    """A range of ratios as changes, in the words of a table."""
    return "" if found is None else words(found.least - 1, found.greatest - 1, form, found.has(1))


def ratios(found, form=".3f"):
    return "" if found is None else words(found.least, found.greatest, form, found.has(1))


def words(least, greatest, form, undecided):
    return f"{least:{form}} to {greatest:{form}}" + (", undecided" if undecided else "")
