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


class _Named:
    """Before a kind of pandas' tables: what `[]` says of a name that there is not."""

    def __getitem__(self, key: Any) -> Any:
        try:
            return super().__getitem__(key)  # type: ignore[misc]  # pandas'
        except KeyError:
            if not isinstance(key, str):
                raise
            raise KeyError(self._not_there(key)) from None

    def _not_there(self, name: str) -> str:
        raise NotImplementedError


class NamedTable(_Named, pd.DataFrame):  # type: ignore[misc]
    """A table that says which columns are near one that it does not have. What is computed from it is a plain DataFrame."""

    def _not_there(self, name: str) -> str:
        from atoll_analysis.metrics import METRICS  # which reads results, which have tables

        if name in {m.name for m in METRICS}:
            return f"{name} is no counter but a quotient of sums: atoll_analysis.metrics.metrics(run)[\"{name}\"]"
        return unknown(name, self.columns, "column")


class NamedValues(_Named, pd.Series):  # type: ignore[misc]
    """Values by configuration key, which say which keys are near one that there is not."""

    def _not_there(self, name: str) -> str:
        return unknown(name, self.index, "key")


def with_units(table: pd.DataFrame, units: dict[str, str]) -> pd.DataFrame:
    """The table, helpful about names, with `attrs["units"]` of those of its columns that have one."""
    named = NamedTable(table)
    named.attrs = {**table.attrs, "units": {str(c): units[str(c)] for c in table if units.get(str(c))}}
    return named
