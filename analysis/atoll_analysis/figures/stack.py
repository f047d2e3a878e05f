"""Where each chip's cycles went."""

import pandas as pd

from atoll_analysis.figures.chart import Chart, Drawing, label, new_figure, percent_axis
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import grouped, percent

_HATCHES = ("", "////", "....", "xxxx")


def _draw(shares: pd.DataFrame, cycles: pd.DataFrame, colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(1.2 + 0.32 * len(shares)))
    axes = drawing.figure.subplots()
    left = pd.Series(0.0, index=shares.index)
    for at, part in enumerate(shares):
        colour, hatch = colours.categories[at % 8], _HATCHES[at // 8 % 4]
        for row, chip in enumerate(shares.index):
            value = float(shares.at[chip, part])
            tip = drawing.tip(f"chip {chip}, {part}: {percent(value)}, {grouped(cycles.at[chip, part])} cycles")
            axes.barh(row, value, left=left[chip], height=0.76, color=colour, hatch=hatch, edgecolor=colours.paper,
                      linewidth=0.6, gid=tip, label=str(part).replace("_", " ") if row == 0 else None)
            left[chip] += value
    axes.set_yticks(range(len(shares)), [f"chip {chip}" for chip in shares.index])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    percent_axis(axes.xaxis)
    axes.spines[:].set_visible(False)
    axes.legend(loc="upper left", bbox_to_anchor=(0, -0.12), ncol=6, frameon=False)
    label(axes, "Share of the run")
    return drawing


def stack(result: Result) -> Chart | None:
    if result.stack is None or not result.stack.to_numpy().sum() > 0:
        return None
    cycles = result.stack[[c for c in result.stack if result.stack[c].sum() > 0]]
    shares = cycles.div(cycles.sum(axis=1), axis=0)
    means = (cycles.sum() / cycles.to_numpy().sum()).sort_values(ascending=False)
    alt = "Stacked bars per chip of what the run's cycles were spent on: " + ", ".join(
        f"{str(name).replace('_', ' ')} {percent(value)}" for name, value in means.items()) + "."
    return Chart("stack", "Where the cycles went", alt, lambda colours: _draw(shares, cycles, colours))
