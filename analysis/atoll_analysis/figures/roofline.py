"""Roofline of a comparison: warp instructions per cycle by how many of them each byte of LLC, links and DRAM serves."""

import numpy as np
import pandas as pd
from matplotlib.lines import Line2D
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

from atoll_analysis.comparison import Comparison
from atoll_analysis.figures.chart import Chart, Drawing, label, legend_above, new_figure, shortened
from atoll_analysis.palette import Palette
from atoll_analysis.roofline import bounds, instructions_per_cycle
from atoll_analysis.units import fixed, percent

_MARKS = "osD^vPX*"
_RESOURCES = ("LLC", "links", "DRAM")


def _draw(runs: dict[str, pd.DataFrame], issued: dict[str, tuple[float, float]], colours: Palette) -> Drawing:
    drawing = Drawing(new_figure(3.6))
    axes = drawing.figure.subplots()
    axes.set_xscale("log")
    axes.set_yscale("log")
    intensities = [x for table in runs.values() for x in table["intensity"]]
    tops = sorted({most for _, most in issued.values()})
    # From below the lowest point to where the lowest roof meets the highest ceiling.
    least = min(float(table["most"].min()) for table in runs.values())
    x = np.array([0.5 * min(intensities), max(2 * max(intensities), 1.5 * tops[-1] / least)])
    colour = {name: colours.categories[at] for at, name in enumerate(_RESOURCES)}
    for name in _RESOURCES:
        for most in sorted({float(table.at[name, "most"]) for table in runs.values() if name in table.index}):
            end = min(x[1], tops[-1] / most)
            axes.plot([x[0], end], [x[0] * most, end * most], color=colour[name], linewidth=1.4,
                      gid=drawing.tip(f"{name}: at most {fixed(most, 0)} bytes per cycle"))
    for top in tops:
        axes.axhline(top, color=colours.ink, linewidth=1, gid=drawing.tip(f"at most {top:g} warp instructions per cycle"))
    for at, (run, table) in enumerate(runs.items()):
        for name, row in table.iterrows():
            tip = (f"{run}, {name}: {fixed(row['used'], 1)} of {fixed(row['most'], 0)} bytes per cycle "
                   f"({percent(row['share'])}), {row['intensity']:.3g} warp instructions per byte")
            axes.plot([row["intensity"]], [issued[run][0]], _MARKS[at % len(_MARKS)], color=colour[str(name)], markersize=7,
                      markeredgecolor=colours.paper, markeredgewidth=0.6, gid=drawing.tip(tip))
    axes.set_xlim(x[0], x[1])
    axes.set_ylim(0.4 * min(own for own, _ in issued.values()), 1.6 * tops[-1])
    axes.grid(which="major")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axis.set_minor_locator(NullLocator())
    axes.set_xlabel("warp instructions per byte")
    label(axes, "Warp instructions per cycle, all chips")
    named = [Line2D([], [], color=colour[n], linewidth=2) for n in _RESOURCES if any(n in t.index for t in runs.values())]
    names = [n for n in _RESOURCES if any(n in t.index for t in runs.values())]
    named += [Line2D([], [], marker=_MARKS[at % len(_MARKS)], color=colours.muted, linestyle="none") for at in range(len(runs))]
    legend_above(axes, named, [*names, *shortened(runs)])
    return drawing


def roofline(comparison: Comparison) -> Chart | None:
    """None if no run moved anything."""
    runs = {name: table for name, result in comparison.runs.items() if len(table := bounds(result))}
    issued = {name: instructions_per_cycle(comparison.runs[name]) for name in runs}
    if not runs or not all(own > 0 for own, _ in issued.values()):
        return None
    said = "; ".join(f"{run}: " + ", ".join(f"{name} {percent(row['share'])}" for name, row in table.iterrows())
                     for run, table in runs.items())
    return Chart("roofline", "Roofline", f"Share of the bandwidth that is used, mean of the run. {said}.",
                 lambda colours: _draw(runs, issued, colours),
                 "Lines: what all LLC slices, links and DRAM buses can move, and what all SMs can issue. A mark on its line "
                 "would be a run in which that resource was never idle; a mark far below all lines waits for latency, for an "
                 "uneven share between chips, or for phases in which another resource is full.")
