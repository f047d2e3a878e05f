"""What became of the requests to each data structure of a workload: the basis for placing data."""

import pandas as pd

from atoll_analysis.result import Result
from atoll_analysis.tables import ORIGINS

ASKED = ["reads", "writes", "atomics"]


def by_structure(result: Result) -> pd.DataFrame | None:
    """[structure] sums over kernels and chips with name, bytes, `requests` and `answers`, most requests first; those that
    nobody used are left out. None if the result has no such counts."""
    if result.structures is None or result.structure_use is None:
        return None
    return _named(result, result.structure_use.groupby(level="structure").sum())


def by_kernel(result: Result) -> pd.DataFrame | None:
    """The same for each [kernel, structure]."""
    if result.structures is None or result.structure_use is None:
        return None
    table = result.structure_use.groupby(level=["kernel", "structure"]).sum()
    return _named(result, table)


def _named(result: Result, table: pd.DataFrame) -> pd.DataFrame:
    assert result.structures is not None
    described = result.structures.loc[table.index.get_level_values("structure")].set_axis(table.index)
    table = pd.concat([described, table], axis=1)
    table["requests"] = table[ASKED].sum(axis=1)
    table["answers"] = table[[origin for origin in ORIGINS if origin in table]].sum(axis=1)
    return table.sort_values("requests", ascending=False, kind="stable")


def askers(result: Result) -> pd.DataFrame:
    """[structure x chip] requests by who asked."""
    assert result.structure_homes is not None
    return result.structure_homes.sum(axis=1).unstack("chip")


def homes(result: Result) -> pd.DataFrame:
    """[structure x home] requests by the home of what was asked for."""
    assert result.structure_homes is not None
    return result.structure_homes.groupby(level="structure").sum()
