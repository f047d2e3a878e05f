"""Decisions of policies on the time line, with the model's predictions and what came of them."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from atoll_analysis.decisions import judged, options, parts, reigns
from atoll_analysis.figures.chart import Chart, Drawing, count_axis, folded, label, legend_above, new_figure, percent_axis
from atoll_analysis.figures.timeline import mark_kernels
from atoll_analysis.palette import Palette
from atoll_analysis.policies import degree, policy_of
from atoll_analysis.result import Result
from atoll_analysis.units import grouped, percent

_MARKS = "osD^vPX*"
_MOST_CHOICES = 12  # such as the ways of each chip: no rows for so many
_MOST_TIPS = 200    # of decisions: a page of thousands of marks with texts would be slow


def _name(choice: str) -> str:
    """A choice that is the same for every chip is named once."""
    words = choice.split()
    return f"{words[0]}, every chip" if len(words) > 1 and len(set(words)) == 1 else choice


def _draw_choices(axes: Axes, result: Result, ruled: pd.DataFrame, choices: Sequence[str], drawing: Drawing,
                  colours: Palette) -> None:
    made, shortest = result.decisions, result.cycles / 800  # what can be seen
    for row, choice in enumerate(choices if len(made) > _MOST_TIPS else ()):
        own = ruled[made["choice"] == choice]
        spans = list(zip(own["begin"], (own["end"] - own["begin"]).clip(lower=shortest)))
        axes.broken_barh(spans, (row + 0.12, 0.76), facecolor=colours.categories[row % 8])
    for choice, kernel, begin, end in zip(made["choice"], made["kernel"], ruled["begin"], ruled["end"]):
        if len(made) > _MOST_TIPS:
            break
        row = choices.index(choice)
        gid = drawing.tip(f"cycle {grouped(begin)}, kernel {kernel}: {_name(choice)}\n"
                          f"rules for {grouped(end - begin)} cycles")
        axes.add_patch(Rectangle((begin, row + 0.12), max(end - begin, shortest), 0.76, gid=gid, linewidth=0.5,
                                 edgecolor=colours.paper, facecolor=colours.categories[row % 8]))
    axes.set_ylim(len(choices), 0)
    axes.set_yticks(np.arange(len(choices)) + 0.5, [folded(_name(choice)) for choice in choices])
    axes.spines["left"].set_visible(False)
    label(axes, "Choice in force")


def _draw_marks(axes: Axes, table: pd.DataFrame, column: str, texts: Sequence[str], filled: "pd.Series[bool]", mark: str,
                colour: str, drawing: Drawing) -> None:
    """A mark per decision with its text; a line if they are too many."""
    if len(table) <= _MOST_TIPS:
        for cycle, value, text, full in zip(table["cycle"], table[column], texts, filled):
            axes.plot([cycle], [value], mark, color=colour, markersize=6.5, fillstyle="full" if full else "none",
                      gid=drawing.tip(text), clip_on=False)
    else:
        axes.step(table["cycle"], table[column], where="post", color=colour, linewidth=1)


def _draw_measured(axes: Axes, ruled: pd.DataFrame, values: "pd.Series[float]", text: str, colours: Palette) -> None:
    """A line as long as each decision ruled; one path for all of them."""
    gaps = np.full(len(values), np.nan)
    axes.plot(np.column_stack([ruled["begin"], ruled["end"], gaps]).ravel(), np.column_stack([values, values, gaps]).ravel(),
              color=colours.ink, linewidth=2, label=text)


def _draw_bandwidth(axes: Axes, result: Result, table: pd.DataFrame, ruled: pd.DataFrame, choices: Sequence[str],
                    drawing: Drawing, colours: Palette) -> None:
    for at, name in enumerate(options(result)):
        row = choices.index(name) if name in choices else len(choices) + at
        mark, colour, column = _MARKS[at % len(_MARKS)], colours.categories[row % 8], f"predicted.{name}"
        texts = [f"cycle {grouped(cycle)}: {name} predicted {grouped(value)} GB/s{', chosen' if choice == name else ''}\n"
                 f"measured while {choice} ruled: {grouped(measured)} GB/s" for cycle, value, choice, measured in
                 zip(table["cycle"], table[column], table["choice"], table["bandwidth.measured"])]
        _draw_marks(axes, table, column, texts, table["choice"] == name, mark, colour, drawing)
        axes.plot([], [], mark, color=colour, markersize=6, linestyle="none", label=name)
    _draw_measured(axes, ruled, table["bandwidth.measured"], "measured, LLC to SMs", colours)
    axes.set_ylim(bottom=0)
    axes.grid(axis="y")
    count_axis(axes.yaxis)
    label(axes, "Bandwidth (GB/s)" + (", filled: chosen" if len(table) <= _MOST_TIPS else ""))
    legend_above(axes)


def _draw_hits(axes: Axes, table: pd.DataFrame, ruled: pd.DataFrame, drawing: Drawing, colours: Palette) -> None:
    texts = [f"LLC hit rate: predicted {percent(expected)}, measured {percent(measured)}"
             for expected, measured in zip(table["hit.predicted"], table["hit.measured"])]
    _draw_marks(axes, table, "hit.predicted", texts, table["choice"].notna(), "o", colours.c0, drawing)
    axes.plot([], [], "o", color=colours.c0, markersize=6, linestyle="none", label="predicted for the choice")
    _draw_measured(axes, ruled, table["hit.measured"], "measured while it ruled", colours)
    axes.set_ylim(0, 1.03)
    axes.grid(axis="y")
    percent_axis(axes.yaxis)
    label(axes, "LLC hit rate")
    legend_above(axes)


def _draw(result: Result, choices: Sequence[str], colours: Palette) -> Drawing:
    table, ruled = judged(result), reigns(result)
    # Where two policies decide, the panels are about the one whose model predicts.
    modelled = table["hit.predicted"].notna() if "hit.predicted" in table else pd.Series(False, index=table.index)
    heights = [0.24 * len(choices) + 0.1] + ([1.7, 1.2] if modelled.any() else [])
    drawing = Drawing(new_figure(sum(heights) + 0.5 * len(heights) + 0.2))
    panels = np.atleast_1d(drawing.figure.subplots(len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights}))
    _draw_choices(panels[0], result, ruled, choices, drawing, colours)
    if modelled.any():
        _draw_bandwidth(panels[1], result, table[modelled], ruled[modelled], choices, drawing, colours)
        _draw_hits(panels[2], table[modelled], ruled[modelled], drawing, colours)
    for axes in panels:
        axes.set_xlim(0, result.cycles)
        mark_kernels(axes, result, colours)
    count_axis(panels[-1].xaxis)
    panels[-1].set_xlabel("simulated time (cycles)")
    return drawing


def decisions(result: Result) -> Chart | None:
    """None without decisions, or with too many kinds of them."""
    made, predicted = result.decisions, list(options(result).values())
    if made.empty:
        return None
    policies = dict(zip(made["choice"], policy_of(result.config, made)))
    choices = sorted(policies, key=lambda choice: (policies[choice], degree(choice)))
    if len(choices) > _MOST_CHOICES:
        return None
    counts = ", ".join(f"{_name(choice)} {n}" for choice, n in made["choice"].value_counts(sort=False).items())
    note = ""
    if predicted:
        divided = parts(result)[made[predicted[0]].notna()].max()
        whole = "" if divided == 1 else f", of one of {divided} memory-side routers on average"
        note = (f"The model predicts what the memory system could deliver; what is measured is what the SMs took{whole}, "
                "headers included. Measured values rest on samples, shared out where one spans two decisions.")
    return Chart("decisions", "Decisions", f"Time line of {len(made)} decisions: {counts}. {note}",
                 lambda colours: _draw(result, choices, colours), note)
