"""Decisions of policies on the time line, with the model's predictions and what came of them."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from atoll_analysis.decisions import judged, options, reigns
from atoll_analysis.figures.chart import Chart, Drawing, count_axis, label, legend_above, new_figure, percent_axis
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import grouped, percent

_MARKS = "osD^vPX*"
_MOST_CHOICES = 12  # such as the ways of each chip: no rows for so many


def _draw_choices(axes: Axes, result: Result, choices: list[str], drawing: Drawing, colours: Palette) -> None:
    ruled = reigns(result)
    for at, choice in enumerate(result.decisions["choice"]):
        begin, end = ruled["begin"].iloc[at], ruled["end"].iloc[at]
        row = choices.index(choice)
        kernel = int(result.decisions["kernel"].iloc[at])
        gid = drawing.tip(f"cycle {grouped(begin)}, kernel {kernel}: {choice}\nrules for {grouped(end - begin)} cycles")
        axes.add_patch(Rectangle((begin, row + 0.12), max(end - begin, result.cycles / 800), 0.76, gid=gid, linewidth=0.5,
                                 edgecolor=colours.paper, facecolor=colours.categories[row % 8]))
    axes.set_ylim(len(choices), 0)
    axes.set_yticks(np.arange(len(choices)) + 0.5, choices)
    axes.spines["left"].set_visible(False)
    axes.grid(axis="y", alpha=0)
    label(axes, "Choice in force")


def _draw_bandwidth(axes: Axes, result: Result, choices: list[str], drawing: Drawing, colours: Palette) -> None:
    table, ruled = judged(result), reigns(result)
    for at, name in enumerate(options(result)):
        row = choices.index(name) if name in choices else len(choices) + at
        values = table[f"predicted.{name}"]
        for cycle, value, choice in zip(table["cycle"], values, table["choice"]):
            gid = drawing.tip(f"cycle {grouped(cycle)}: {name} predicted {grouped(value)} bytes per cycle"
                              + (", chosen" if choice == name else ""))
            axes.plot([cycle], [value], _MARKS[at % len(_MARKS)], color=colours.categories[row % 8], markersize=6.5,
                      fillstyle="full" if choice == name else "none", gid=gid)
        axes.plot([], [], _MARKS[at % len(_MARKS)], color=colours.categories[row % 8], markersize=6, linestyle="none",
                  label=name)
    for at, value in enumerate(table["bandwidth.measured"]):
        gid = drawing.tip(f"measured from LLC to SMs: {grouped(value)} bytes per cycle")
        axes.plot([ruled["begin"].iloc[at], ruled["end"].iloc[at]], [value] * 2, color=colours.ink, linewidth=2, gid=gid,
                  label="measured, LLC to SMs" if at == 0 else None)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    count_axis(axes.yaxis)
    label(axes, "Bandwidth in bytes per cycle: predicted for each option, filled if chosen")
    legend_above(axes)


def _draw_hits(axes: Axes, table: pd.DataFrame, ruled: pd.DataFrame, drawing: Drawing, colours: Palette) -> None:
    for at in range(len(table)):
        expected, measured = table["hit.predicted"].iloc[at], table["hit.measured"].iloc[at]
        gid = drawing.tip(f"LLC hit rate: predicted {percent(expected)}, measured {percent(measured)}")
        axes.plot([table["cycle"].iloc[at]], [expected], "o", color=colours.c0, markersize=6.5, gid=gid,
                  label="predicted for the choice" if at == 0 else None)
        axes.plot([ruled["begin"].iloc[at], ruled["end"].iloc[at]], [measured] * 2, color=colours.ink, linewidth=2, gid=gid,
                  label="measured while it ruled" if at == 0 else None)
    axes.set_ylim(0, 1.03)
    axes.grid(axis="y")
    percent_axis(axes.yaxis)
    label(axes, "LLC hit rate")
    legend_above(axes)


def _draw(result: Result, choices: list[str], colours: Palette) -> Drawing:
    table, ruled = judged(result), reigns(result)
    predicts, hits = bool(options(result)), "hit.predicted" in table
    heights = [0.24 * len(choices) + 0.1] + [1.7] * predicts + [1.2] * hits
    drawing = Drawing(new_figure(sum(heights) + 0.5 * len(heights) + 0.2))
    panels = np.atleast_1d(drawing.figure.subplots(len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}))
    _draw_choices(panels[0], result, choices, drawing, colours)
    if predicts:
        _draw_bandwidth(panels[1], result, choices, drawing, colours)
    if hits:
        _draw_hits(panels[-1], table, ruled, drawing, colours)
    for axes in panels:
        axes.set_xlim(0, result.cycles)
        for start in result.kernels["launched"].dropna().iloc[1:]:
            if 0 < start < result.cycles:
                axes.axvline(float(start), color=colours.muted, linewidth=0.6, linestyle=(0, (1, 2)), zorder=0.5)
    count_axis(panels[-1].xaxis)
    panels[-1].set_xlabel("simulated time (cycles)")
    return drawing


def decisions(result: Result) -> Chart | None:
    if result.decisions.empty:
        return None
    choices = list(dict.fromkeys(result.decisions["choice"]))
    if len(choices) > _MOST_CHOICES:
        return None
    counts = ", ".join(f"{choice} {n}" for choice, n in result.decisions["choice"].value_counts(sort=False).items())
    note = ""
    if options(result):
        note = ("The model predicts what the memory system could deliver; what is measured is what the SMs took. Measured "
                "values rest on samples, shared out in proportion where one spans two decisions.")
    return Chart("decisions", "Decisions", f"Time line of {len(result.decisions)} decisions: {counts}. {note}",
                 lambda colours: _draw(result, choices, colours), note)
