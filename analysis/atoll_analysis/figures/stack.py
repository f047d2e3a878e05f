"""Where each chip's cycles went, and each kernel's."""

import itertools
from collections.abc import Iterator

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from atoll_analysis import names
from atoll_analysis.figures.chart import Chart, Drawing, count_axis, label, legend_at, new_figure, percent_axis
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import counted, grouped, percent

UNFINISHED = "unfinished after "  # so many cycles
MOST_KERNELS = 150  # that can be told apart, and that pages bear
_HATCHES = ("", "////", "....", "xxxx")
_LEAST = 0.0005    # of the run: smaller parts are not seen
_NARROWEST = 1500  # of the run: nor are shorter kernels


def _shares(cycles: pd.DataFrame) -> pd.DataFrame:
    whole = cycles.sum(axis=1)
    return cycles.div(whole.where(whole > 0), axis=0).fillna(0.0)


def fill(at: int, colours: Palette) -> dict[str, object]:
    """The parts that matter most have plain colours, the others a hatch on the same."""
    return {"color": colours.categories[at % 8], "hatch": _HATCHES[at // 8 % 4], "edgecolor": colours.paper,
            "linewidth": 0.5}


def _draw_chips(axes: Axes, chips: pd.DataFrame, drawing: Drawing, colours: Palette) -> None:
    rows = {"all chips": chips.sum()} if len(chips) > 1 else {}
    rows.update({f"chip {chip}": row for chip, row in chips.iterrows()})
    shares = _shares(pd.DataFrame(rows).T)
    for row, name in enumerate(shares.index):
        left = 0.0
        for at, part in enumerate(shares):
            value = float(shares.at[name, part])
            gid = drawing.tip(f"{name}, {part}: {percent(value)}")
            axes.barh(row, value, left=left, height=0.76, gid=gid, label=str(part) if row == 0 else None,
                      **fill(at, colours))
            left += value
    axes.set_yticks(range(len(shares)), list(shares.index))
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    percent_axis(axes.xaxis)
    axes.spines[:].set_visible(False)
    label(axes, "Share of the run")


def _has_stretches(result: Result) -> bool:
    return int(result.kernels["launched"].notna().sum()) > MOST_KERNELS


def _lengths(result: Result) -> "pd.Series[float]":
    """[kernel that was launched] cycles until its end, or until the run was stopped."""
    launched, cycles = result.kernels["launched"].dropna().astype(float), result.kernels["cycles"].astype(float)
    return cycles.reindex(launched.index).fillna(result.cycles - launched)


def _kernels(result: Result, shares: pd.DataFrame) -> Iterator[tuple[str, float, float, "pd.Series[float]"]]:
    """Name, begin, length and parts of each kernel that is long enough to be seen."""
    for kernel, length in _lengths(result).items():
        if kernel in shares.index and length >= result.cycles / _NARROWEST:
            row = result.kernels.loc[kernel]
            name = f"kernel {kernel}, {names.kernel(str(row['name']))}, {UNFINISHED if row['cycles'] is pd.NA else ''}"
            yield f"{name}{grouped(length)} cycles", float(row["launched"]), length, shares.loc[kernel]


def _stretches(result: Result, shares: pd.DataFrame) -> Iterator[tuple[str, float, float, "pd.Series[float]"]]:
    """As _kernels(), of equal stretches of the run: each kernel counts by its time within the stretch."""
    lengths = _lengths(result)
    lengths = lengths[lengths.index.isin(shares.index)]
    begins = result.kernels["launched"].reindex(lengths.index).to_numpy(dtype=float)
    edges = np.linspace(0, result.cycles, MOST_KERNELS + 1)
    for low, high in itertools.pairwise(edges):
        within = (np.minimum(begins + lengths, high) - np.maximum(begins, low)).clip(lower=0)
        within = within[within > 0]
        if len(within):
            mix = shares.loc[within.index].mul(within / within.sum(), axis=0).sum()
            yield f"cycles {grouped(low)} to {grouped(high)}, {counted(len(within), 'kernel')}", low, high - low, mix


def _draw_kernels(axes: Axes, result: Result, kernels: pd.DataFrame, drawing: Drawing, colours: Palette) -> None:
    stacks = _stretches if _has_stretches(result) else _kernels
    for name, begin, length, parts in stacks(result, _shares(kernels)):
        below = 0.0
        for at, (part, value) in enumerate(parts.items()):
            if value < _LEAST:
                continue
            gid = drawing.tip(f"{name}\n{part}: {percent(value)}")
            axes.bar(begin, value, width=length, bottom=below, align="edge", gid=gid, **fill(at, colours))
            below += value
    axes.set_xlim(0, result.cycles)
    axes.set_ylim(0, 1)
    percent_axis(axes.yaxis)
    count_axis(axes.xaxis)
    axes.set_xlabel("simulated time (cycles)")
    axes.spines[:].set_visible(False)
    label(axes, f"Share of each {'stretch' if _has_stretches(result) else 'kernel'}, all chips")


def _draw(result: Result, parts: pd.DataFrame, colours: Palette) -> Drawing:
    chips, kernels = (parts.groupby(level=level).sum() for level in ("chip", "kernel"))
    chips = chips[chips.any(axis=1)]  # others have no SMs, which wait
    rows, several = len(chips) + (len(chips) > 1), len(kernels) > 1
    heights = [0.28 * rows] + [1.8] * several
    drawing = Drawing(new_figure(sum(heights) + 0.7 * len(heights) + 0.5))
    first, *rest = drawing.figure.subplots(len(heights), 1, squeeze=False, gridspec_kw={"height_ratios": heights})[:, 0]
    _draw_chips(first, chips, drawing, colours)
    for axes in rest:
        _draw_kernels(axes, result, kernels, drawing, colours)
    legend_at(first, 0.3, "lower left", 8)
    return drawing


def stack(result: Result) -> Chart | None:
    if result.stack is None or not result.stack.to_numpy().sum() > 0:
        return None
    means = (result.stack.sum() / result.stack.to_numpy().sum()).sort_values(ascending=False)
    parts = result.stack[[part for part in means.index if means[part] >= _LEAST]]
    parts.columns = [names.part(part) for part in parts]
    alt = "Stacked bars per chip of what the run's cycles were spent on: " + ", ".join(
        f"{part} {percent(means[original])}" for part, original in zip(parts, means.index)) + "."
    mixed = ""
    if _has_stretches(result):
        mixed = (f" Below: {MOST_KERNELS} equal stretches of the run, each with the mean of its kernels by their time in it, as single "
                 "kernels are too many.")
    cut = result.kernels.index[result.kernels["started"].notna() & result.kernels["finished"].isna()]
    stopped = f" Kernel {', '.join(map(str, cut))} had not finished when the run was stopped." if len(cut) else ""
    return Chart("stack", "Where the cycles went", alt + mixed, lambda colours: _draw(result, parts, colours),
                 f"Parts of less than 0.05 % of the run are left out. atoll explain says it in words.{mixed}{stopped}")
