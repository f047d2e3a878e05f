"""Speed-ups of a sweep: by workload and in the mean."""

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from atoll_analysis.figures.chart import (WIDTH, Chart, Drawing, folded, is_narrow, label, legend_above, legend_at, new_figure,
                                          shortened)
from atoll_analysis.means import NAMES
from atoll_analysis.palette import Palette
from atoll_analysis.sweeps import Sweep
from atoll_analysis.units import fixed

_MOST_VARIANTS = 8     # bars of more cannot be told apart
_BARS_PER_ROW = 84


def compared(sweep: Sweep) -> list[str]:
    """Variants with runs that are no baseline of themselves: the others are 1 by definition."""
    others = set(sweep.runs.loc[sweep.runs["variant"] != sweep.runs["baseline"], "variant"])
    return [v for v in sweep.variants if v in others]


def _reference(sweep: Sweep, variant: str, workload: str) -> float:
    """The paper's bar, if the experiment knows it."""
    found = sweep.experiment.get("reference", {}).get("speedup", {}).get(variant, {}).get(workload)
    return math.nan if found is None else float(found)


def _draw_bars(axes: Axes, sweep: Sweep, table: pd.DataFrame, top: float, drawing: Drawing, colours: Palette) -> None:
    width = 0.84 / table.shape[1]
    for at, variant in enumerate(table):
        for column, (workload, value) in enumerate(table[variant].items()):
            if value != value:
                continue
            paper = _reference(sweep, variant, str(workload))
            tip = f"{workload}, {variant}: {fixed(value)}" + (f"; paper {fixed(paper)}" if paper == paper else "")
            x = column - 0.42 + width * (at + 0.5)
            axes.bar(x, value, width=width * 0.94, color=colours.categories[at % 8], gid=drawing.tip(tip))
            if paper == paper:
                axes.plot([x], [paper], "D", markersize=3.2, color=colours.ink, markeredgecolor=colours.paper,
                          markeredgewidth=0.6, label="_paper")
    axes.axhline(1, color=colours.ink, linewidth=0.9)
    names = shortened(table.index)
    tilted = max(map(len, names)) * len(table) > 150 * axes.figure.get_figwidth() / WIDTH
    axes.set_xticks(range(len(table)), names, rotation=35 if tilted else 0, ha="right" if tilted else "center",
                    rotation_mode="anchor")
    axes.set_xlim(-0.6, len(table) - 0.4)
    axes.set_ylim(0, top)
    axes.grid(axis="y")


def _draw(sweep: Sweep, table: pd.DataFrame, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(1))
    per_row = max(1, int(_BARS_PER_ROW * drawing.figure.get_figwidth() / WIDTH) // table.shape[1])
    count = -(-len(table) // per_row)
    rows = np.array_split(np.arange(len(table)), count)
    drawing.figure.set_figheight(0.5 + 2.5 * count)
    panels = np.atleast_1d(drawing.figure.subplots(count, 1))
    papers = [_reference(sweep, v, str(w)) for v in table for w, value in table[v].items() if value == value]
    top = 1.08 * float(np.nanmax([1.0, *table.to_numpy().ravel(), *papers]))
    for axes, row in zip(panels, rows):
        _draw_bars(axes, sweep, table.iloc[row], top, drawing, colours)
    known = table.notna().any().to_numpy()  # of any workload: the first may lack a variant's run
    handles: list[Artist] = [Patch(facecolor=colours.categories[at % 8]) for at in np.flatnonzero(known)]
    names = [short for short, has in zip(shortened(table), known) if has]
    if any(line.get_label() == "_paper" for axes in panels for line in axes.lines):
        handles += panels[0].plot([], [], "D", markersize=3.2, color=colours.ink)
        names.append("paper")
    label(panels[0], "Speed-up over the baseline")
    legend_above(panels[0], handles, names)
    return drawing


def speedups(sweep: Sweep) -> Chart | None:
    """None with too many variants for bars, for which there is the table."""
    variants = compared(sweep)
    table = sweep.speedups()[variants].dropna(how="all")
    if table.empty or not 1 <= len(variants) <= _MOST_VARIANTS:
        return None
    best = table.stack()
    alt = (f"Bars of the speed-ups of {len(variants)} variants on {len(table)} workloads; the highest is "
           f"{fixed(best.max())} ({' with '.join(best.idxmax())}), the lowest {fixed(best.min())} "
           f"({' with '.join(best.idxmin())}).")
    source = sweep.experiment.get("reference", {}).get("source", "")
    ratio = "Time of the baseline over own time" if sweep.clock_note else "Cycles of the baseline over own cycles"
    return Chart("speedups", "Speed-ups", alt, lambda colours: _draw(sweep, table, colours),
                 f"{ratio}; 1 is the baseline." + (f" Paper: {source}." if source else ""))


@dataclass(frozen=True)
class Known:
    """Of how many workloads the means of a group are."""

    planned: int                    #: workloads of the group
    drawn: int                      #: of which any variant has a speed-up
    by_variant: "pd.Series[int]"    #: [variant] of which it has one

    def is_of_fewer(self, variant: str) -> bool:
        return int(self.by_variant[variant]) < self.drawn

    def text(self, variant: str) -> str:
        return f"{self.by_variant[variant]} of {self.planned}"


def _known(sweep: Sweep, variants: list[str], group: str) -> Known:
    groups = {w["name"]: w.get("group", "") for w in sweep.experiment.get("workloads", ())}
    workloads = [w for w in sweep.workloads if group in ("ALL", groups.get(w))]
    table = sweep.speedups().loc[workloads, variants].notna()
    return Known(len(workloads), int(table.any(axis=1).sum()), table.sum())


def _group_title(group: str, known: Known) -> str:
    of = f"{known.drawn} of {known.planned} workloads"
    if known.drawn == known.planned:
        return "All workloads" if group == "ALL" else group
    return of if group == "ALL" else f"{group}, {of}"


def _draw_means(table: pd.DataFrame, known: dict[str, Known], colours: Palette) -> Drawing:
    groups, variants = list(known), list(table.columns)
    rows = len(groups) if is_narrow() else 1
    drawing = Drawing(new_figure(rows * (0.9 + 0.36 * len(variants))))
    panels = np.atleast_1d(drawing.figure.subplots(rows, 1 if is_narrow() else len(groups), sharey=True))
    most = 1.06 * max(1.0, float(np.nanmax(table.to_numpy())))
    means = [(0.4 * at - 0.2, mean, text, colours.categories[(0, 5)[at]], (colours.on_strong, colours.on_pale)[at])
             for at, (mean, text) in enumerate(NAMES.items())]
    for axes, (group, of) in zip(panels, known.items()):
        for (shift, mean, text, colour, on_colour), (row, variant) in itertools.product(means, enumerate(variants)):
            value, fewer = float(table.loc[(group, mean), variant]), of.is_of_fewer(variant)
            if value != value:
                continue
            tip = f"{group}, {variant}: {text} {fixed(value)}" + (f", of {of.text(variant)} workloads" if fewer else "")
            axes.barh(row + shift, value, height=0.37, gid=drawing.tip(tip), **_look(colour, fewer, colours))
            inside = value > 0.25 * most  # at the left end, away from the line of the baseline
            axes.annotate(fixed(value) + (f" ({of.text(variant)})" if fewer else ""), (0 if inside else value, row + shift), (4, 0),
                          va="center", fontsize=8, textcoords="offset points",
                          color=on_colour if inside and not fewer else colours.ink,
                          bbox={"facecolor": colours.paper, "linewidth": 0, "pad": 0.6} if fewer else None)
        axes.axvline(1, color=colours.ink, linewidth=0.9)
        axes.set_yticks(range(len(variants)), [folded(v) for v in shortened(variants)])
        axes.set_xlim(0, most)
        axes.set_ylim(len(variants) - 0.45, -0.55)
        axes.grid(axis="x")
        label(axes, _group_title(group, of))
    handles = [(text, Patch(**_look(colour, False, colours))) for _, _, text, colour, _ in means]
    if _hatched(known):
        handles.append(("of fewer workloads", Patch(**_look(colours.muted, True, colours))))
    legend_at(panels[0], -0.32, "upper left", len(handles) if len(groups) < 3 else 1, [patch for _, patch in handles],
              [text for text, _ in handles])
    return drawing


def _look(colour: str, fewer: bool, colours: Palette) -> dict[str, Any]:
    """Of a bar; one of fewer workloads than others does not compare with them, and is hatched."""
    return {"facecolor": colours.paper, "edgecolor": colour, "hatch": "////", "linewidth": 0.8} if fewer else {"color": colour}


def _hatched(known: dict[str, Known]) -> bool:
    return any(of.is_of_fewer(str(variant)) for of in known.values() for variant, count in of.by_variant.items() if count)


def means(sweep: Sweep) -> Chart | None:
    table = sweep.means()[compared(sweep)].dropna(how="all", axis=1)
    if table.empty or table.shape[1] == 0:
        return None
    groups = sorted(dict.fromkeys(table.index.get_level_values("group")), key=lambda group: group != "ALL")
    known = {str(group): _known(sweep, list(table), str(group)) for group in groups}
    of_all, every = table.loc["ALL"], known["ALL"]
    everything = "; ".join(f"{v} {fixed(of_all.at['harmonic', v])} and {fixed(of_all.at['ipc_first', v])}"
                           + (f" (of {every.text(v)})" if every.is_of_fewer(v) else "") for v in table)
    rates = "instructions per second" if sweep.clock_note else "IPCs"
    fewer = " Hatched: of fewer workloads than others, with which it does not compare." if _hatched(known) else ""
    over = "all workloads" if every.drawn == every.planned else f"{every.drawn} of {every.planned} workloads"
    return Chart("means", "Mean speed-ups", f"Harmonic and IPC-first means over {over}: {everything}.",
                 lambda colours: _draw_means(table, known, colours),
                 f"Harmonic mean of the speed-ups: every workload weighs alike. IPC-first: harmonic mean of the {rates} over "
                 f"the baseline's; workloads of low IPC weigh most.{fewer}")
