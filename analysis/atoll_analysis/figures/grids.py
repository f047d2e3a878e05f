"""Speed-ups of a sweep over two keys at once: heat maps."""

import math

import numpy as np
import pandas as pd
from matplotlib.patches import Rectangle

from atoll_analysis.axes import alike_points, compared, mean_grid, over_first, points
from atoll_analysis.config import text
from atoll_analysis.figures.axes import comparable, first, of_workloads, reference, timed, title
from atoll_analysis.figures.chart import Chart, Drawing, is_narrow, label, new_figure
from atoll_analysis.palette import Palette
from atoll_analysis.sweeps import Sweep
from atoll_analysis.units import fixed

_MOST_PANELS = 8
_STRONG = 1.0  # log2 of the speed-up that has the full colour
_FULL = 0.75   # opacity


def _draw(row_key: str, column_key: str, panels: dict[str, pd.DataFrame], over: str, colours: Palette) -> Drawing:
    across = 1 if is_narrow() else min(2, len(panels))
    down = -(-len(panels) // across)
    height = 0.34 * len(next(iter(panels.values())))
    drawing = Drawing(new_figure(down * (height + 0.85)))
    places = drawing.figure.subplots(down, across, squeeze=False).ravel()
    for axes in places[len(panels):]:
        axes.set_visible(False)
    for axes, (others, table) in zip(places, panels.items()):
        for (row, column), value in np.ndenumerate(table.to_numpy(dtype=float)):
            known = not math.isnan(value) and value > 0
            strength = _FULL * min(abs(math.log2(value)) / _STRONG, 1.0) if known else 0.0
            said = fixed(value) if known else "no run"
            tip = f"{others}, {row_key} = {text(table.index[row])}, {column_key} = {text(table.columns[column])}: {said}"
            axes.add_patch(Rectangle((column + 0.02, row + 0.03), 0.96, 0.94, linewidth=0, alpha=max(strength, 0.04),
                                     facecolor=colours.good if value >= 1 else colours.bad, gid=drawing.tip(tip)))
            axes.text(column + 0.5, row + 0.5, fixed(value) if known else "", ha="center", va="center", fontsize=8.5)
        axes.set_xlim(0, table.shape[1])
        axes.set_ylim(0, table.shape[0])  # values grow upwards, as on other figures
        axes.set_xticks(np.arange(table.shape[1]) + 0.5, [text(v) for v in table.columns])
        axes.set_yticks(np.arange(table.shape[0]) + 0.5, [text(v) for v in table.index])
        axes.set_xlabel(column_key)
        axes.set_ylabel(row_key)
        axes.spines[:].set_visible(False)
        label(axes, str(others) or f"Speed-up over {over}")
    return drawing


def _rows(sweep: Sweep, row: str, column: str) -> pd.DataFrame:
    """[workload, others x (value of `row`, value of `column`)] what is drawn."""
    if sweep.own_baselines:
        return alike_points(over_first(points(timed(sweep), sweep.axes, row, column, "seconds"), tuple(first(sweep, row, column))))
    return alike_points(compared(points(sweep.runs, sweep.axes, row, column, "speedup")))


def grids(sweep: Sweep) -> list[Chart]:
    """A figure for each two keys of numbers that vary independently, a panel for whatever else variants set; those that are 1
    everywhere, because they are the baseline, are left out."""
    charts = []
    for row, column in sweep.pairs:
        if not comparable(sweep, row, column):
            continue
        rows = _rows(sweep, row, column)
        table = mean_grid(rows)
        panels = {str(others): part.droplevel(0) for others, part in table.groupby(level=0, sort=False)}
        if not 1 <= len(panels) <= _MOST_PANELS:
            continue
        said = []
        for others, part in panels.items():
            best, worst = part.stack().idxmax(), part.stack().idxmin()
            said.append(f"{others or 'all'}: from {fixed(part.min().min())} at {text(worst[0])} and {text(worst[1])} to "
                        f"{fixed(part.max().max())} at {text(best[0])} and {text(best[1])}")
        name = f"{row}-and-{column}".replace(".", "-").replace("_", "-")
        over = reference(sweep, row, column)
        charts.append(Chart(f"by-{name}", title(sweep, row, column), f"Heat maps of mean speed-ups over {over} by {row} and {column}. "
                            f"{'; '.join(said)}.",
                            lambda colours, row=row, column=column, panels=panels, over=over:  # type: ignore[misc]
                            _draw(row, column, panels, over, colours),
                            f"{of_workloads(sweep, rows, 'map')}; full colour: twice or half the speed of {over}."))
    return charts
