"""The run over simulated time: one panel per quantity, all on the same axis."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.transforms import blended_transform_factory

from atoll_analysis import capacity, extent, names, rates
from atoll_analysis.figures.chart import (WIDTH, Chart, Drawing, count_axis, is_narrow, label, legend_above, new_figure,
                                          percent_axis, settle)
from atoll_analysis.figures.stack import MOST_KERNELS, UNFINISHED
from atoll_analysis.palette import Palette
from atoll_analysis.result import Result
from atoll_analysis.units import fixed, grouped, percent

_MOST_SAMPLES = 200   # more cannot be told apart on a page, and make it heavy
_MOST_NARROW = 60     # in a narrow window
_FEWEST_SAMPLES = 3
_NARROWEST = 1500     # of the run: shorter kernels are not seen in the strip
_MOST_CHIPS = 8       # lines in colours of their own
_KERNEL_STRIP, _PANEL = 0.35, 1.05  # inches


@dataclass(frozen=True)
class Panel:
    title: str
    unit: str                            #: "%" for shares of 1
    lines: pd.DataFrame                  #: [sample x line]
    per_chip: bool                       #: a line per chip; otherwise named lines over all chips
    stacked: bool = False
    top: float | None = None             #: of the axis
    ranged: bool = False                 #: of the lines only the range and the mean, as there are too many to be told apart

    def text(self, value: float) -> str:
        return percent(value) if self.unit == "%" else fixed(value, 1 if value < 100 else 0)


def _panels(result: Result, counters: pd.DataFrame) -> list[Panel]:
    """Those that say something about this run."""
    sum_of = result.totals.sum()
    has: Callable[[str], bool] = lambda name: name in sum_of and sum_of[name] > 0

    def by_chip(title: str, unit: str, lines: pd.DataFrame, chips: range, having: str) -> Panel:
        """A line for each chip, or the range of those that can be busy: idle ones would lower it, and the mean."""
        if result.chips <= _MOST_CHIPS:
            return Panel(title, unit, lines, True)
        named = title if len(chips) == result.chips else f"{title}, chips with {having}"
        return Panel(named, unit, lines[list(chips)], True, ranged=True)

    sms, memory, every = capacity.chips_with_sms(result), capacity.chips_with_memory(result), range(result.chips)
    panels = []
    if has("warp.instructions"):
        panels.append(by_chip("Warp instructions", "per cycle", rates.per_cycle(counters, "warp.instructions"), sms, "SMs"))
    hits = {level: rates.share(counters, (f"{counter}.hits",), (f"{counter}.accesses",))
            for level, counter in (("L1", "l1"), ("LLC", "llc")) if has(f"{counter}.accesses")}
    if hits:
        panels.append(Panel("Hit rates, all chips", "%", pd.DataFrame(hits), False, top=1.0))
    if has("noc.response_bytes"):
        panels.append(by_chip("From LLC to SMs", "bytes per cycle", rates.per_cycle(counters, "noc.response_bytes"), sms, "SMs"))
    if has("dram.bus_busy"):
        busy = rates.per_cycle(counters, "dram.bus_busy") / capacity.dram_channels(result)
        panels.append(by_chip("DRAM: data buses busy", "%", busy, memory, "memory"))
    if has("link.bytes"):
        sent, most = rates.per_cycle(counters, "link.bytes"), capacity.links_of_chips(result)
        panels.append(by_chip("Links: sent", "bytes per cycle", sent, every, "links") if np.isnan(most).any() else
                      by_chip("Links: outgoing bandwidth used, mean of ports", "%", sent / most, every, "links"))
    if has("load.completed"):
        mean = rates.share(counters, ("load.latency_cycles",), ("load.completed",))
        panels.append(Panel("Load latency, mean of all chips", "cycles", pd.DataFrame({"mean": mean}), False))
    if has("llc.remote_lines"):
        held = pd.DataFrame({"local lines": rates.by_chip(counters, "llc.local_lines").sum(axis=1),
                             "lines of other chips": rates.by_chip(counters, "llc.remote_lines").sum(axis=1)})
        size = capacity.llc_bytes(result) / float(result.config["line_bytes"])
        looks = rates.looks(counters, float(result.config["control.sample_cycles"]))
        panels.append(Panel("LLC contents, of capacity", "%", held.div(looks, axis=0) / size, False, stacked=True, top=1.0))
    return panels


def _draw_lines(axes: Axes, panel: Panel, edges: npt.NDArray[np.float64], colours: Palette) -> None:
    values = panel.lines.to_numpy(dtype=float)
    if panel.stacked:
        below = np.zeros(len(values))
        for at, name in enumerate(panel.lines):
            above = below + np.nan_to_num(values[:, at])
            axes.fill_between(edges, np.append(below, below[-1:]), np.append(above, above[-1:]), step="post", linewidth=0,
                              color=colours.categories[at], alpha=0.75, label=name)
            below = above
    elif panel.ranged:
        low, high, mean = values.min(axis=1), values.max(axis=1), values.mean(axis=1)
        axes.fill_between(edges, np.append(low, low[-1:]), np.append(high, high[-1:]), step="post", linewidth=0,
                          color=colours.c0, alpha=0.25, label="lowest to highest chip")
        axes.step(edges, np.append(mean, mean[-1:]), where="post", color=colours.c0, label="mean")
    else:
        for at, name in enumerate(panel.lines):
            # A sample is a mean over a period: a step says that, a line between points would not.
            axes.step(edges, np.append(values[:, at], values[-1:, at]), where="post", color=colours.categories[at],
                      linewidth=1.1 if panel.per_chip else 1.4, label=f"chip {name}" if panel.per_chip else str(name))


def _draw_kernels(axes: Axes, result: Result, drawing: Drawing, colours: Palette) -> None:
    axes.set_ylim(0, 1)
    axes.set_yticks([])
    axes.spines[:].set_visible(False)
    axes.tick_params(bottom=False, labelbottom=False)
    label(axes, "Kernels")
    for at, kernel in result.kernels.iterrows():
        if kernel["launched"] is pd.NA or (kernel["launched"] == 0 and at != 0):
            continue
        begin = float(kernel["launched"])
        end = float(result.cycles if kernel["finished"] is pd.NA else kernel["finished"])
        if end <= begin or end - begin < result.cycles / _NARROWEST:
            continue
        name = names.kernel(str(kernel["name"]))
        cut = UNFINISHED if kernel["finished"] is pd.NA else ""
        tip = drawing.tip(f"kernel {at}: {name}\n{cut}{grouped(end - begin)} cycles, {grouped(kernel['ctas'])} CTAs")
        axes.add_patch(Rectangle((begin, 0.08), end - begin, 0.84, facecolor=colours.muted, linewidth=0.6,
                                 edgecolor=colours.paper, alpha=0.28 if int(at) % 2 else 0.45, gid=tip))
        room = int((end - begin) / max(result.cycles, 1) * 150 * axes.figure.get_figwidth() / WIDTH)  # characters that fit
        name = f"{at} {name}" if len(f"{at} {name}") <= room else str(at)
        if len(name) <= room:
            axes.text((begin + end) / 2, 0.47, name, ha="center", va="center", fontsize=8, clip_on=True)


def mark_kernels(axes: Axes, result: Result, colours: Palette) -> None:
    """A dotted line at each launch but the first, unless there are too many to be told apart."""
    starts = result.kernels["launched"].dropna().iloc[1:]
    if len(starts) <= MOST_KERNELS:
        for start in starts:
            if 0 < start < result.cycles:
                axes.axvline(float(start), color=colours.muted, linewidth=0.6, linestyle=(0, (1, 2)), zorder=0.5)


def _cursor(axes: Axes, top: Axes, panels: list[Panel], edges: npt.NDArray[np.float64], drawing: Drawing,
            colours: Palette) -> None:
    """An invisible column per sample across all panels, with all of its values as tooltip."""
    low, high = axes.get_position().y0, top.get_position().y1
    across = blended_transform_factory(axes.transData, axes.figure.transFigure)
    for at in range(len(edges) - 1):
        lines = [f"cycles {grouped(edges[at])} to {grouped(edges[at + 1])}"]
        for panel in panels:
            row = panel.lines.iloc[at]
            if panel.ranged:
                values = f"{panel.text(row.mean())} ({panel.text(row.min())} to {panel.text(row.max())})"
            else:
                values = (" / " if panel.per_chip else ", ").join(
                    ("" if panel.per_chip else f"{name} ") + panel.text(value) for name, value in row.items())
            lines.append(f"{panel.title.partition(':')[0].partition(',')[0]}: {values}")
        gid = drawing.tip("\n".join(lines), "cursor")
        axes.add_patch(Rectangle((edges[at], low), edges[at + 1] - edges[at], high - low, transform=across, clip_on=False,
                                 facecolor=colours.ink, linewidth=0, alpha=0.0, zorder=10, gid=gid))


def _draw(result: Result, colours: Palette) -> Drawing:
    counters = rates.coarsened(result.counters, _MOST_NARROW if is_narrow() else _MOST_SAMPLES)
    panels, edges = _panels(result, counters), rates.edges(counters)
    heights = [_KERNEL_STRIP] + [_PANEL] * len(panels)
    figure = new_figure(sum(heights) + 0.45 * len(heights))
    drawing = Drawing(figure)
    strip, *rest = figure.subplots(len(heights), 1, sharex=True, gridspec_kw={"height_ratios": heights})
    _draw_kernels(strip, result, drawing, colours)
    named = False
    for axes, panel in zip(rest, panels):
        _draw_lines(axes, panel, edges, colours)
        label(axes, panel.title, "" if panel.unit == "%" else panel.unit)
        axes.grid(axis="y")
        highest = np.nanmax(panel.lines.sum(axis=1) if panel.stacked else panel.lines.to_numpy(dtype=float))
        axes.set_ylim(0, panel.top * 1.03 if panel.top else (highest or 1) * 1.08)
        if panel.unit == "%":
            percent_axis(axes.yaxis)
        else:
            count_axis(axes.yaxis)
        axes.locator_params(axis="y", nbins=4)
        axes.tick_params(bottom=False)
        if panel.lines.shape[1] > 1 and not (panel.per_chip and named):
            legend_above(axes)
            named |= panel.per_chip
        mark_kernels(axes, result, colours)
    last = rest[-1]
    last.set_xlim(0, edges[-1])
    last.set_xlabel("simulated time (cycles)")
    count_axis(last.xaxis)
    settle(figure)  # the columns span the panels as they are placed
    _cursor(last, rest[0], panels, edges, drawing, colours)
    return drawing


def timeline(result: Result) -> Chart | None:
    """None if the run has too few samples for a line."""
    if result.counters.index.get_level_values("sample").nunique() < _FEWEST_SAMPLES:
        return None
    counters = rates.coarsened(result.counters, _MOST_SAMPLES)
    panels, edges = _panels(result, counters), rates.edges(counters)
    if not panels:
        return None
    means = "; ".join(f"{p.title}: up to {p.text(float(np.nanmax(p.lines.to_numpy(dtype=float))))}"
                      + ("" if p.unit == "%" else f" {p.unit}") for p in panels)
    step = grouped(np.median(np.diff(edges)))
    period = f"Each step is the mean of {step} cycles; dotted lines and the strip above: kernels."
    workload = f"{result.provenance['system']}: {names.workload(str(result.provenance['workload']))}"
    heading = [workload, *extent.marks(result), extent.cycles(result), f"digest {result.digest}"]
    return Chart("timeline", "The run over time", f"Time series with a panel for each of: {means}.",
                 lambda colours: _draw(result, colours), period, ", ".join(heading))
