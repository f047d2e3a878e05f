"""Where the cycles of several runs went, one bar under the other on one axis of cycles."""

import pandas as pd

from atoll_analysis.comparison import Comparison
from atoll_analysis.figures.chart import Chart, Drawing, count_axis, folded, is_narrow, label, legend_at, new_figure, shortened
from atoll_analysis.figures.stack import fill
from atoll_analysis.palette import Palette
from atoll_analysis.units import fixed, grouped, percent

_LEAST = 0.0005  # of the longest run: smaller parts are not seen


def _draw(comparison: Comparison, table: pd.DataFrame, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(0.42 * len(table.columns) + 1.1))
    axes = drawing.figure.subplots()
    for row, run in enumerate(table):
        left = 0.0
        for at, (part, value) in enumerate(table[run].items()):
            gid = drawing.tip(f"{run}, {part}: {grouped(value)} cycles, {percent(value, table[run].sum())} of the run")
            axes.barh(row, value, left=left, height=0.72, gid=gid, label=str(part) if row == 0 else None, **fill(at, colours))
            left += value
        axes.annotate(f"{fixed(comparison.speedups[run])} x", (left, row), (5, 0), textcoords="offset points", va="center",
                      fontweight="semibold")
    axes.set_yticks(range(len(table.columns)), [folded(run) for run in shortened(table)])
    axes.invert_yaxis()
    axes.set_xlim(0, (1.2 if is_narrow() else 1.06) * float(table.sum().max()))
    count_axis(axes.xaxis)
    axes.set_xlabel(f"cycles of {comparison.baseline}'s clock" if comparison.clock_note else "cycles")
    axes.spines[:].set_visible(False)
    label(axes, "Run time by what it was spent on, and speed-up")
    legend_at(axes, 0.3, "lower left", 8)
    return drawing


def stacks(comparison: Comparison) -> Chart:
    longest = float(comparison.cycles.sum().max())
    table = comparison.cycles[comparison.cycles.max(axis=1) >= _LEAST * longest]
    table = table.loc[table.max(axis=1).sort_values(ascending=False).index]
    alt = "; ".join(f"{run}: {grouped(table[run].sum())} cycles, most of them {table[run].idxmax()}" for run in table)
    return Chart("stacks", "Where the cycles went", alt, lambda colours: _draw(comparison, table, colours),
                 "Mean of the chips. Parts of less than 0.05 % of the longest run are left out.")
