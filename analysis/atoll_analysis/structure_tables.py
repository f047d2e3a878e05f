"""The part of a run's page about data structures."""

import pandas as pd

from atoll_analysis import markup, names, structures
from atoll_analysis.markup import Cell, Column, number
from atoll_analysis.metrics import ratio
from atoll_analysis.result import Result
from atoll_analysis.tables import ORIGINS
from atoll_analysis.units import counted, fixed, grouped, percent, si

_MOST_ROWS = 500  # of a table; atoll_analysis.load() has them all
_MOST_CHIPS = 4   # whose shares are listed one by one


def part(result: Result) -> str:
    """A table of the structures, one of their use by kernel; nothing for results without."""
    table, by_kernel = structures.by_structure(result), structures.by_kernel(result)
    if table is None or by_kernel is None or table.empty:
        return ""
    origins = [o for o in ORIGINS if o in table and table[o].sum() > 0]
    shown = markup.table(_columns(origins, result), _rows(result, table, origins),
                         _caption("data structure", " by requests that left an L1", table) + _of_chips(result))
    if len(result.kernels) < 2:
        return shown
    columns = [Column("kernel", True), Column("name"), *_columns(origins)]
    rows: list[list[Cell | str]] = []
    for (at, _), cells in zip(by_kernel.index, _rows(result, by_kernel, origins, chips=False)):
        plain = names.kernel(str(result.kernels["name"].iloc[at]))
        rows.append([number(float(at), str(at)), plain, *cells])
    caption = _caption("use", " of a structure in a kernel by requests", by_kernel)
    return shown + markup.details("By kernel", markup.table(columns, rows, caption))


def _of_chips(result: Result) -> str:
    if not 1 < result.chips <= _MOST_CHIPS:
        return ""
    return "; in % of chips " + ", ".join(map(str, range(result.chips))) + ": who asked, and whose memory is home"


def _caption(noun: str, said: str, table: pd.DataFrame) -> str:
    return (f"The first {_MOST_ROWS} of " if len(table) > _MOST_ROWS else "") + counted(len(table), noun) + said


def _columns(origins: list[str], result: Result | None = None) -> list[Column]:
    """With `result`: and who asked, and whom, if there are several chips."""
    columns = [Column("structure"), Column("size", True), Column("requests", True, "reads, writes and atomics that left an L1"),
               Column("writes", True, "and atomics: share of the requests"),
               Column("remote", True, "share of the requests whose home is another chip")]
    columns += [Column(names.origin(o), True, "share of the loads that missed in an L1") for o in origins]
    columns.append(Column("latency", True, "cycles from an L1 miss to its answer, on average"))
    if result is not None and result.chips > 1:
        columns += [Column("asked by", True, "each chip's share of the requests, in the order of the chips"),
                    Column("homes", True, "shares of the requests by the chip whose memory holds what was asked for")]
    return columns


def _rows(result: Result, table: pd.DataFrame, origins: list[str], chips: bool = True) -> list[list[Cell | str]]:
    asked, homes = structures.askers(result), structures.homes(result)
    rows = []
    for at, row in table.head(_MOST_ROWS).iterrows():
        requests, answers, written = row["requests"], row["answers"], row["writes"] + row["atomics"]
        cells: list[Cell | str] = [_name(row), number(row["bytes"], si(row["bytes"], "B") if row["bytes"] else "–"),
                                   number(requests, grouped(requests))]
        cells += [number(share, percent(share)) for share in (ratio(written, requests), ratio(row["remote"], requests))]
        cells += [number(share, percent(share)) for share in (ratio(row[o], answers) for o in origins)]
        latency = ratio(row["latency_cycles"], answers)
        cells.append(number(latency, fixed(latency, 0)))
        if chips and result.chips > 1:
            cells += [_spread(asked.loc[at]), _spread(homes.loc[at])]
        rows.append(cells)
    return rows


def _name(row: "pd.Series[object]") -> Cell:
    name, address, size = str(row["name"]), int(row["address"]), int(row["bytes"])
    if size == 0:
        return Cell(name, tip="all other addresses")
    return Cell(name, tip=f"{address:#x} to {address + size - 1:#x}")


def _spread(of_chips: "pd.Series[int]") -> Cell:
    """The chips' shares, or of many chips the largest share; all of them when pointed at. Sorted by the largest."""
    whole = float(of_chips.sum())
    if not whole:
        return Cell("–")
    most, shares = int(of_chips.idxmax()), 100 * of_chips / whole
    if len(of_chips) <= _MOST_CHIPS:
        text = " ".join(f"{share:.0f}" for share in shares)
    else:
        text = f"{shares[most]:.0f} % chip {most}"
    each = ", ".join(f"chip {c}: {percent(n, whole)}" for c, n in of_chips.items())
    return Cell(text, float(shares[most]), each)
