"""Tables and lists whose errors say what the name should have been."""

import difflib
from collections.abc import Iterable
from typing import Any

import pandas as pd


def unknown(name: object, known: Iterable[object], what: str) -> str:
    """What is wrong with a name, and which ones are near it."""
    names = [str(k) for k in known]
    last = str(name).rpartition(".")[2]
    near = difflib.get_close_matches(str(name), names, 3, 0.75)
    near += [k for k in names if last and last in k.rpartition(".")[2] and k not in near]
    return f"there is no {what} {name}; " + (f"near it: {', '.join(near[:6])}" if near else
                                             f"there are {', '.join(names[:6])}{' ...' if len(names) > 6 else ''}")


class NamedTable(pd.DataFrame):  # type: ignore[misc]
    """A table that says which columns are near one that it does not have. What is computed from it is a plain DataFrame."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            if not isinstance(key, str):
                raise
            raise KeyError(_missing_column(key, self)) from None


class NamedValues(pd.Series):  # type: ignore[misc]
    """Values by configuration key, which say which keys are near one that there is not."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)
        except KeyError:
            if not isinstance(key, str):
                raise
            raise KeyError(unknown(key, self.index, "key")) from None


def _missing_column(name: str, table: pd.DataFrame) -> str:
    from atoll_analysis.metrics import METRICS  # which reads results, which have tables

    if name in {m.name for m in METRICS}:
        return f"{name} is no counter but a quotient of sums: atoll_analysis.metrics.metrics(run)[\"{name}\"]"
    return unknown(name, table.columns, "column")


def with_units(table: pd.DataFrame, units: dict[str, str]) -> pd.DataFrame:
    """The table, helpful about names, with `attrs["units"]` of those of its columns that have one."""
    named = NamedTable(table)
    named.attrs = {**table.attrs, "units": {str(c): units[str(c)] for c in table if units.get(str(c))}}
    return named
