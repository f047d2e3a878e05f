"""Who answered the loads that missed in an L1, and how long that took."""

import numpy as np
import pandas as pd

from atoll_analysis import names
from atoll_analysis.figures.chart import Chart, Drawing, is_narrow, label, legend_above, new_figure, percent_axis
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import grouped, percent, si


def _colour(origin: str, colours: Palette) -> str:
    """LLCs blue, memories warm; the remote ones lighter."""
    return {"local_llc": colours.c0, "remote_llc": colours.c5, "local_memory": colours.c1, "remote_memory": colours.c4,
            "neighbour_l1": colours.c2, "l2": colours.c3}[origin]


def by_origin(result: Result) -> pd.DataFrame:
    """[chip x origin] loads; origins that answered nothing are left out."""
    loads = result.latency.groupby(level="chip").sum()
    return loads[[origin for origin in loads if loads[origin].sum() > 0]]


def _draw_origins(loads: pd.DataFrame, colours: Palette) -> Drawing:
    rows = len(loads) + (len(loads) > 1)
    drawing = Drawing(new_figure(0.75 + 0.27 * rows))
    axes = drawing.figure.subplots()
    named = [("all chips", loads.sum())] if len(loads) > 1 else []
    named += [(f"chip {chip}", row) for chip, row in loads.iterrows()]
    for at, (name, row) in enumerate(named):
        left, whole = 0.0, float(row.sum()) or 1.0
        for origin in loads:
            part = float(row[origin]) / whole
            tip = drawing.tip(f"{name}, {names.origin(origin)}: {percent(part)}, {grouped(row[origin])} loads")
            axes.barh(at, part, left=left, height=0.78 if rows > 1 else 0.5, color=_colour(origin, colours),
                      edgecolor=colours.paper, linewidth=0.8, gid=tip, label=names.origin(origin) if at == 0 else None)
            if part > (0.17 if is_narrow() else 0.06):
                axes.text(left + part / 2, at, percent(part), ha="center", va="center", fontsize=8.5,
                          color=colours.on_pale if origin.startswith("remote") else colours.on_strong)
            left += part
    axes.set_yticks(range(rows), [name for name, _ in named])
    axes.set_ylim(rows - 0.5, -0.5)
    axes.set_xlim(0, 1)
    percent_axis(axes.xaxis)
    axes.spines[:].set_visible(False)
    label(axes, "Loads that missed in the L1, by who answered")
    legend_above(axes)
    return drawing


def responses(result: Result) -> Chart | None:
    loads = by_origin(result)
    if loads.empty or not loads.shape[1]:
        return None
    of, whole = loads.sum(), float(loads.to_numpy().sum())
    alt = "Shares of loads by origin: " + ", ".join(f"{names.origin(o)} {percent(of[o], whole)}" for o in loads) + "."
    note = f"{si(whole)} loads; {whole / result.cycles:.2f} per cycle over all chips." if result.cycles else ""
    return Chart("responses", "LLC responses by origin", alt, lambda colours: _draw_origins(loads, colours), note)


def quantile_bucket(loads: "pd.Series[int]", share: float) -> int:
    """The first bucket up to which `share` of the loads lie."""
    return int(np.searchsorted(loads.cumsum().to_numpy(), share * float(loads.sum())))


def _draw_latency(buckets: pd.DataFrame, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(2.6))
    axes = drawing.figure.subplots()
    whole, below = float(buckets.to_numpy().sum()), np.zeros(len(buckets))
    for origin in buckets:
        part = buckets[origin].to_numpy() / whole
        for at, (bucket, value) in enumerate(zip(buckets.index, part)):
            if value == 0:
                continue
            tip = drawing.tip(f"{names.origin(origin)}, {2**bucket:,} to {2**(bucket + 1) - 1:,} cycles: "
                              f"{percent(value)}, {grouped(value * whole)} loads")
            axes.bar(at, value, bottom=below[at], width=0.86, color=_colour(origin, colours), edgecolor=colours.paper,
                     linewidth=0.6, gid=tip)
        axes.bar(0, 0, color=_colour(origin, colours), label=names.origin(origin))
        below += part
    limits = [grouped(2**b) for b in [*buckets.index, buckets.index[-1] + 1]]
    step = -(-len(limits) // 7) if is_narrow() else 1
    axes.set_xticks((np.arange(len(limits)) - 0.5)[::step], limits[::step])
    axes.set_xlabel("latency of the L1 miss (cycles, doubling)")
    percent_axis(axes.yaxis)
    axes.locator_params(axis="y", nbins=5)
    axes.grid(axis="y")
    label(axes, "Share of the loads")
    legend_above(axes)
    return drawing


def latency(result: Result) -> Chart | None:
    buckets = result.latency.groupby(level="bucket").sum()
    buckets = buckets[[origin for origin in buckets if buckets[origin].sum() > 0]]
    used = buckets.sum(axis=1)
    used = used[used > 0]
    if used.empty:
        return None
    buckets = buckets.loc[used.index[0]:used.index[-1]]
    median, tail = (buckets.index[quantile_bucket(buckets.sum(axis=1), share)] for share in (0.5, 0.99))
    note = (f"Half of them took less than {grouped(2**(median + 1))} cycles, 99 % less than {grouped(2**(tail + 1))} "
            "(upper ends of the bars that hold these loads).")
    return Chart("latency", "Latency of L1 misses", f"Histogram of latencies by origin. {note}",
                 lambda colours: _draw_latency(buckets, colours), note)
